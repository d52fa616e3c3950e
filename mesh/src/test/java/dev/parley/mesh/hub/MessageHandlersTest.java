package dev.parley.mesh.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Code of a hosted agent that handles messages by type. */
@Timeout(120)
final class MessageHandlersTest {
    @TempDir
    private Path directory;

    private final ConcurrentLinkedQueue<String> handled = new ConcurrentLinkedQueue<>();

    private static Agent agent(String name) {
        return Agent.named(name, "Answers").handle((request, reply) -> reply.complete(request.text()));
    }

    private HubBuilder builder(MeshSource source) {
        return Hub.builder().data(directory).port(0).extension(source).agents(agent("planner"), agent("other"));
    }

    private MeshSource source() {
        MeshSource source = new MeshSource();
        for (MessageType type : new MessageType[] {
            MessageType.TASK_RESULT, MessageType.STATUS_UPDATE, MessageType.ERROR, MessageType.FEEDBACK
        }) {
            source = source.handling(
                    "planner",
                    type,
                    (envelope, content, caller) -> handled.add(envelope.messageId() + " "
                            + switch (content) {
                                case MeshContent.Result result -> result.status() + " " + result.result();
                                case MeshContent.Status status -> status.progress();
                                case MeshContent.Failure failure -> failure.code();
                                case MeshContent.Notice notice -> notice.members();
                                default -> content;
                            }));
        }
        return source;
    }

    @Test
    @DisplayName(
            "M11, ONE35 results, progress, errors and notices reach the handler of their type, once each, and that of their agent")
    void handlers() throws Exception {
        try (Hub hub = builder(source()).start()) {
            var peer = new Peer(hub.url());
            for (int i = 0; i < 2; i++) {
                assertThat(peer.send(
                                        "r-1",
                                        "planner",
                                        "task_result",
                                        "{'taskId':'t','status':'completed','result':{'n':1}}")
                                .status())
                        .isEqualTo(200);
            }
            peer.send("s-1", "planner", "status_update", "{'taskId':'t','progress':40}");
            peer.send("e-1", "planner", "error", "{'code':'timeout','message':'late','retryable':true}");
            peer.send("f-1", "planner", "feedback", "{'rating':5}");
            peer.send("a-1", "planner", "task_acceptance", "{'taskId':'t'}");
            peer.send("o-1", "other", "task_result", "{'taskId':'t','status':'completed','result':1}");
            assertThat(peer.send("x-1", "planner", "status_update", "{'taskId':'t','progress':400}")
                            .status())
                    .isEqualTo(400);

            assertThat(handled)
                    .containsExactly(
                            "r-1 COMPLETED " + Map.of("n", 1), "s-1 40", "e-1 timeout", "f-1 " + Map.of("rating", 5));
        }
    }

    @Test
    @DisplayName("M11, ONE35 a handler refuses a message, or fails, and the sender may send it again")
    void refusals() throws Exception {
        MeshSource source = new MeshSource()
                .handling("planner", MessageType.TASK_RESULT, (envelope, content, caller) -> {
                    throw A2AException.of(A2AError.UNSUPPORTED_OPERATION, "no such task");
                })
                .handling("planner", MessageType.ERROR, (envelope, content, caller) -> {
                    if (handled.isEmpty()) {
                        handled.add(envelope.messageId());
                        throw new java.io.IOException("broken");
                    }
                });
        try (Hub hub = builder(source).start()) {
            var peer = new Peer(hub.url());

            Peer.Answer refused =
                    peer.send("r-1", "planner", "task_result", "{'taskId':'t','status':'completed','result':1}");
            String error = "{'code':'timeout','message':'late','retryable':true}";
            Peer.Answer failed = peer.send("e-1", "planner", "error", error);
            Peer.Answer again = peer.send("e-1", "planner", "error", error);

            assertThat(refused.content("code")).isEqualTo("task_rejected");
            assertThat(failed.status()).isEqualTo(500);
            assertThat(failed.content("code")).isEqualTo("internal_error");
            assertThat(failed.body()).doesNotContain("broken");
            assertThat(again.status()).isEqualTo(200);
        }
    }

    @Test
    void aTypeThatBeginsATaskHasNoHandler() {
        assertThatThrownBy(() ->
                        new MeshSource().handling("planner", MessageType.QUERY, (envelope, content, caller) -> {}))
                .hasMessageContaining("query")
                .hasMessageContaining("task_result");
    }
}
