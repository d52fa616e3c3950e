package dev.parley.testkit;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Submits one segment to a log. */
public final class SegmentWriter implements TaskLog.Writer {
    /** Origin of all changes of tasks in contract tests. */
    static final Cause CAUSE = new Cause(
            "carol",
            "192.0.2.1",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            new CallChain(List.of("https://one.example", "https://two.example")));

    private final Segment segment;
    private final CompletableFuture<Segment> done = new CompletableFuture<>();

    private SegmentWriter(Segment segment) {
        this.segment = segment;
    }

    /** Submits a segment. The result completes when the log has written it or could not write it. */
    public static CompletableFuture<Segment> submit(TaskLog log, Segment segment) {
        var writer = new SegmentWriter(segment);
        log.submit(writer);
        return writer.done;
    }

    /** A segment of events of a task, the first of them with the number {@code first}. */
    static Segment segment(TaskKey key, long first, List<TaskEvent> events, Instant now, Subscription... webhooks) {
        TaskState state = TaskState.WORKING;
        var logged = new ArrayList<LoggedEvent>();
        for (TaskEvent event : events) {
            logged.add(new LoggedEvent(first + logged.size(), event));
            if (event instanceof TaskStatusUpdateEvent moved) {
                state = moved.status().state();
            }
        }
        var head = new Head(key, "context", state, now, first + events.size() - 1);
        return new Segment(head, logged, List.of(), null, CAUSE, List.of(webhooks));
    }

    @Override
    public Segment take() {
        return segment;
    }

    @Override
    public void written(Segment written) {
        done.complete(written);
    }

    @Override
    public void failed(Segment lost, Exception cause) {
        done.completeExceptionally(cause);
    }
}
