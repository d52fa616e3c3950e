package dev.parley.server;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A stream whose events a test hands out, and which tells whether it was closed. Its frames show the sequence only. */
final class ScriptedEvents implements Feed<LoggedEvent> {
    private static final TaskEvent MOVED =
            new TaskStatusUpdateEvent("t1", "c1", TaskStatus.of(TaskState.WORKING, Instant.EPOCH), Map.of());

    private sealed interface Step {}

    private record Show(List<LoggedEvent> events) implements Step {}

    private record Break(RuntimeException problem) implements Step {}

    private record End() implements Step {}

    private final BlockingQueue<Step> steps = new LinkedBlockingQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Hands out events with these numbers, all at once. */
    ScriptedEvents show(long... sequences) {
        var events = new ArrayList<LoggedEvent>();
        for (var sequence : sequences) {
            events.add(new LoggedEvent(sequence, MOVED));
        }
        steps.add(new Show(events));
        return this;
    }

    ScriptedEvents breakWith(RuntimeException problem) {
        steps.add(new Break(problem));
        return this;
    }

    ScriptedEvents end() {
        steps.add(new End());
        return this;
    }

    boolean isClosedWithin(Duration patience) throws InterruptedException {
        return closed.await(patience.toNanos(), TimeUnit.NANOSECONDS);
    }

    WireAnswer.Events answer() {
        return answer(event -> ("id: " + event.sequence() + "\n\n").getBytes(StandardCharsets.UTF_8));
    }

    WireAnswer.Events answer(Function<LoggedEvent, byte[]> frame) {
        return new WireAnswer.Events(
                Map.of("A2A-Version", "1.0"),
                this.as(frame),
                problem -> ("data: " + problem.error() + "\n\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public @Nullable List<LoggedEvent> next(Duration patience) throws InterruptedException {
        var step = steps.poll(patience.toNanos(), TimeUnit.NANOSECONDS);
        return switch (step) {
            case null -> List.of();
            case Show show -> show.events();
            case Break broken -> throw broken.problem();
            case End end -> null;
        };
    }

    @Override
    public void close() {
        closed.countDown();
        steps.add(new End());
    }
}
