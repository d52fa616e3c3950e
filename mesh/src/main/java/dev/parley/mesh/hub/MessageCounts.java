package dev.parley.mesh.hub;

import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.ExtensionMetrics.Counter;
import dev.parley.extension.MetricLabel;
import dev.parley.mesh.MessageType;
import java.util.stream.Stream;

/** Counts the messages of each agent by type. Safe for any thread. */
final class MessageCounts {
    private static final int MOST_AGENTS = 250;

    private final Counter messages;

    MessageCounts(ExtensionMetrics metrics) {
        this.messages = metrics.counter(
                "one_messages",
                "Messages of the ONE mesh.",
                MetricLabel.upTo(MOST_AGENTS, "agent"),
                MetricLabel.oneOf("direction", "in", "out"),
                MetricLabel.oneOf(
                        "type",
                        Stream.of(MessageType.values()).map(MessageType::word).toArray(String[]::new)));
    }

    void received(String agent, MessageType type) {
        messages.add(1, agent, "in", type.word());
    }

    void sent(String agent, MessageType type) {
        messages.add(1, agent, "out", type.word());
    }
}
