package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Threads that send messages to the agent echo, each under its id until its task is acknowledged. */
final class Senders extends Repeated {
    private static final int SENT_AGAIN = 250;

    private final HubCalls hub;
    /** Ids of tasks by those of their messages. */
    private final Map<String, String> acknowledged = new ConcurrentHashMap<>();

    Senders(HubCalls hub, int threads) {
        this.hub = hub;
        begin(threads, () -> sendUntilAcknowledged(UUID.randomUUID().toString()));
    }

    /** Sends a message under its id until its task is acknowledged. */
    private void sendUntilAcknowledged(String messageId) {
        String task = add(hub.send(messageId)).sentTask();
        while (task == null && !Thread.currentThread().isInterrupted()) {
            pause();
            task = add(hub.send(messageId)).sentTask();
        }
        if (task != null) {
            acknowledged.put(messageId, task);
        }
    }

    /** Returns the ids of acknowledged tasks by those of their messages. */
    Map<String, String> acknowledged() {
        return Map.copyOf(acknowledged);
    }

    /** Returns the tasks that are acknowledged now, in turns: a hub has tasks in memory once they have been read. */
    Supplier<String> tasks() {
        List<String> tasks = List.copyOf(acknowledged.values());
        var turns = new AtomicInteger();
        return () -> tasks.get(turns.getAndIncrement() % tasks.size());
    }

    /** Waits for further acknowledgements. */
    void await(int more, Duration limit) {
        int all = acknowledged.size() + more;
        Eventually.within(limit, more + " acknowledgements", () -> acknowledged.size() >= all);
    }

    void await(int more) {
        await(more, Eventually.DEADLINE);
    }

    /** Returns the first refusal since a moment; null if there was none. */
    @Nullable
    Answer firstRefusal(long sinceNanos) {
        return since(sinceNanos)
                .filter(answer -> answer.status() == Answer.UNAVAILABLE)
                .min((one, other) -> Long.compare(one.endedNanos() - sinceNanos, other.endedNanos() - sinceNanos))
                .orElse(null);
    }

    /** Ends the senders, and checks that each acknowledged task is there, once, and found again by its message. */
    void verify() {
        close();
        verify(hub, acknowledged);
        assertThat(hub.tasks())
                .as("tasks of " + acknowledged.size() + " messages")
                .isEqualTo(acknowledged.size());
    }

    /** Checks that each task is there, and found again by its message. */
    static void verify(HubCalls hub, Map<String, String> acknowledged) {
        var missing = new ArrayList<String>();
        acknowledged.forEach((messageId, task) -> {
            Answer read = hub.task(task);
            if (read.status() != Answer.OK || !read.body().contains(messageId)) {
                missing.add(task + ": " + read);
            }
        });
        var elsewhere = new ArrayList<String>();
        for (String messageId :
                List.copyOf(acknowledged.keySet()).subList(0, Math.min(SENT_AGAIN, acknowledged.size()))) {
            Answer again = hub.send(messageId);
            if (!requireNonNull(acknowledged.get(messageId)).equals(again.sentTask())) {
                elsewhere.add(messageId + ": " + again);
            }
        }
        assertThat(missing)
                .as("missing of " + acknowledged.size() + " acknowledged tasks")
                .isEmpty();
        assertThat(elsewhere).as("messages that were sent again").isEmpty();
    }
}
