package dev.parley.gateway.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ReadEventsTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);

    private static Task task(TaskState state) {
        return new Task("t", "c", new TaskStatus(state, null, Instant.EPOCH), List.of(), List.of(), Map.of());
    }

    private ReadEvents events(Supplier<Task> read, Duration limit) throws InterruptedException {
        var events = new ReadEvents(task(TaskState.WORKING), read, limit);
        assertThat(events.next(LONG)).hasSize(1);
        return events;
    }

    private Task silent() {
        begun.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException stopped) {
            interrupted.countDown();
            Thread.currentThread().interrupt();
        }
        throw A2AException.of(A2AError.INTERNAL);
    }

    @Test
    void closingGivesUpAReadUnderWayAndItsReader() throws Exception {
        ReadEvents events = events(this::silent, LONG);
        var reader = new FutureTask<@Nullable List<LoggedEvent>>(() -> events.next(LONG));
        Thread.ofVirtual().start(reader);
        begun.await();

        events.close();

        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(reader.get(20, TimeUnit.SECONDS)).isNull();
        assertThat(events.next(LONG)).isNull();
    }

    @Test
    void aReaderWaitsNoLongerThanItsPatienceForASlowAgent() throws Exception {
        try (ReadEvents events = events(this::silent, LONG)) {
            List<LoggedEvent> next = events.next(Duration.ofMillis(300));
            while (begun.getCount() > 0) {
                next = events.next(Duration.ofMillis(300));
            }
            assertThat(next).isEmpty();
            assertThat(events.next(Duration.ofMillis(1))).isEmpty();
        }
    }

    @Test
    void theLimitEndsAReadUnderWay() throws Exception {
        ReadEvents events = events(this::silent, Duration.ofSeconds(1));

        assertThatThrownBy(() -> {
                    while (events.next(LONG) != null) {
                        // nothing comes
                    }
                })
                .hasMessageContaining("total timeout of the gateway (PT1S)");

        assertThat(interrupted.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void passingFailuresAreReadAgainAndNoneIsRepeatedForEver() throws Exception {
        var reads = new AtomicInteger();
        try (ReadEvents events = events(
                () -> {
                    if (reads.incrementAndGet() == 1) {
                        throw A2AException.unavailable("later", Duration.ofSeconds(1));
                    }
                    return task(TaskState.COMPLETED);
                },
                LONG)) {
            assertThat(events.next(LONG)).hasSize(1);
            assertThat(events.next(LONG)).isNull();
        }
        try (ReadEvents gone = events(
                () -> {
                    throw A2AException.taskNotFound("t");
                },
                LONG)) {
            assertThatThrownBy(() -> gone.next(LONG)).isInstanceOf(A2AException.class);
        }
    }
}
