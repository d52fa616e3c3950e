package dev.parley.agents;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.testkit.LocalAgent;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(20)
final class CounterTest {
    private static final Counter.Pace AT_ONCE = duration -> {};

    @Test
    void everyStepIsToldWithTheProgressMade() throws InterruptedException {
        try (var counter = LocalAgent.of(Counter.agent(AT_ONCE))) {
            List<TaskEvent> events = counter.events(Part.text("4"));

            assertThat(events)
                    .filteredOn(event -> event instanceof TaskStatusUpdateEvent moved
                            && moved.status().state() == TaskState.WORKING)
                    .extracting(
                            event -> ((TaskStatusUpdateEvent) event).metadata().get("progress"))
                    .containsExactly(0, 25, 50, 75, 100);
            assertThat(events)
                    .filteredOn(TaskStatusUpdateEvent.class::isInstance)
                    .extracting(CounterTest::note)
                    .contains("Counting to 4", "3 of 4");
        }
    }

    @Test
    void theLastEventOfACountIsItsCompletionBehindTheArtifact() {
        try (var counter = LocalAgent.of(Counter.agent(AT_ONCE))) {
            Task task = counter.send(Part.text(" 10000 "));

            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(task.text()).isEqualTo("Counted to 10000.");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "10001", "-1", "1.5", "ten", "99999999999999999999"})
    void anythingButANumberInRangeIsRejectedWithWhatWasExpected(String text) {
        try (var counter = LocalAgent.of(Counter.agent(AT_ONCE))) {
            Task task = counter.send(Part.text(text));

            assertThat(task.state()).isEqualTo(TaskState.REJECTED);
            assertThat(requireNonNull(task.status().message()).text())
                    .isEqualTo("count to: \"" + text + "\" (expected: a whole number from 1 to 10000)");
        }
    }

    @Test
    void aCanceledCountStopsInTheMiddleOfAPause() throws Exception {
        var pausing = new CountDownLatch(1);
        var stopped = new CompletableFuture<Boolean>();
        Counter.Pace endless = duration -> {
            pausing.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException interrupted) {
                stopped.complete(true);
                throw interrupted;
            }
        };
        try (var counter = LocalAgent.of(Counter.agent(endless))) {
            Task begun = counter.begin("10");
            assertThat(pausing.await(10, TimeUnit.SECONDS)).isTrue();

            Task task = counter.cancel(begun);

            assertThat(task.state()).isEqualTo(TaskState.CANCELED);
            assertThat(stopped.get(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void aCountThatARestartInterruptedBeginsAgain() throws Exception {
        var log = new MemoryTaskLog();
        var pausing = new CountDownLatch(1);
        Counter.Pace endless = duration -> {
            pausing.countDown();
            new CountDownLatch(1).await();
        };
        Task begun;
        try (var before = LocalAgent.of(Counter.agent(endless), log)) {
            begun = before.begin("3");
            assertThat(pausing.await(10, TimeUnit.SECONDS)).isTrue();
        }

        var watched = new CountDownLatch(1);
        try (var after = LocalAgent.of(Counter.agent(duration -> watched.await()), log)) {
            Feed<LoggedEvent> rest = after.watch(begun);
            watched.countDown();

            assertThat(LocalAgent.drain(rest))
                    .filteredOn(TaskStatusUpdateEvent.class::isInstance)
                    .extracting(CounterTest::note)
                    .contains("1 of 3", "3 of 3");
            assertThat(after.get(begun).text()).isEqualTo("Counted to 3.");
        }
    }

    private static String note(TaskEvent event) {
        var message = ((TaskStatusUpdateEvent) event).status().message();
        return message == null ? "" : message.text();
    }
}
