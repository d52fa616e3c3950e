package dev.parley.store;

import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.engine.spi.TaskLog.Segment;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.testkit.SegmentWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** Segments of one event, written to a log. */
final class Segments {
    private Segments() {}

    /** Writes event number {@code sequence} of a task, which leaves it in {@code state}, and waits until it is on disk. */
    static void write(TaskLog log, TaskKey key, long sequence, TaskState state, Instant at, MessageKey... messages) {
        submit(log, key, sequence, state, at, messages).join();
    }

    /** Writes event number {@code sequence} of a task, which leaves it in {@code state}. */
    static CompletableFuture<Segment> submit(
            TaskLog log, TaskKey key, long sequence, TaskState state, Instant at, MessageKey... messages) {
        return submit(log, key, sequence, state, at, key.scope().owner(), messages);
    }

    /** Writes event number {@code sequence} of a task for {@code caller}. */
    static CompletableFuture<Segment> submit(
            TaskLog log,
            TaskKey key,
            long sequence,
            TaskState state,
            Instant at,
            String caller,
            MessageKey... messages) {
        TaskStatus status = TaskStatus.of(state, at);
        TaskEvent event = sequence == 1
                ? new Task(
                        key.taskId(), "context", status, List.of(), List.of(Message.user(Part.text("hello"))), Map.of())
                : new TaskStatusUpdateEvent(key.taskId(), "context", status, Map.of());
        var segment = new Segment(
                new Head(key, "context", state, at, sequence),
                List.of(new LoggedEvent(sequence, event)),
                List.of(messages),
                null,
                new Cause(caller, "192.0.2.1", null, CallChain.NONE));
        return SegmentWriter.submit(log, segment);
    }
}
