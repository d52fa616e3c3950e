package dev.parley.activity.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.testkit.Eventually;
import java.lang.Thread.State;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Searches that callers with the same question share. */
@Timeout(30)
class SharedAnswersTest {
    private final SharedAnswers<String, Integer> answers = new SharedAnswers<>();
    private final AtomicInteger searches = new AtomicInteger();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch gate = new CountDownLatch(1);

    /** Answers with the number of the search; the first one ends when the gate is opened. */
    private int search() {
        int number = searches.incrementAndGet();
        if (number == 1) {
            begun.countDown();
            try {
                gate.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", stopped);
            }
        }
        return number;
    }

    private static Thread waiting(Runnable call) {
        Thread caller = Thread.ofVirtual().start(call);
        Eventually.value(
                "the caller waits", caller::getState, EnumSet.of(State.WAITING, State.TIMED_WAITING)::contains);
        return caller;
    }

    private static void join(List<Thread> callers) throws InterruptedException {
        for (Thread caller : callers) {
            caller.join();
        }
    }

    @Test
    void callsThatComeDuringASearchShareTheNextOne() throws InterruptedException {
        Queue<Integer> received = new ConcurrentLinkedQueue<>();
        Thread first = Thread.ofVirtual().start(() -> answers.of("tasks", this::search));
        begun.await();
        var callers = new ArrayList<Thread>();
        for (int i = 0; i < 50; i++) {
            callers.add(waiting(() -> received.add(answers.of("tasks", this::search))));
        }

        assertThat(answers.of("other tasks", () -> 7)).isEqualTo(7);
        gate.countDown();
        first.join();
        join(callers);

        assertThat(received).hasSize(50).containsOnly(2);
        assertThat(answers.of("tasks", this::search)).as("nothing is kept").isEqualTo(3);
    }

    @Test
    void aFailureIsThatOfTheCallsThatWaitedForItOnly() throws InterruptedException {
        Supplier<Integer> failing = () -> {
            searches.incrementAndGet();
            throw new IllegalArgumentException("planted");
        };
        Thread first = Thread.ofVirtual().start(() -> answers.of("tasks", this::search));
        begun.await();
        var failures = new ConcurrentLinkedQueue<Throwable>();
        var callers = new ArrayList<Thread>();
        for (int i = 0; i < 3; i++) {
            callers.add(waiting(() -> {
                try {
                    answers.of("tasks", failing);
                } catch (IllegalArgumentException planted) {
                    failures.add(planted);
                }
            }));
        }

        gate.countDown();
        first.join();
        join(callers);

        assertThat(failures).hasSize(3);
        assertThat(searches).hasValue(2);
        assertThat(answers.of("tasks", this::search)).isEqualTo(3);
        assertThatThrownBy(() -> answers.of("tasks", failing)).hasMessage("planted");
    }

    @Test
    void anotherCallerSearchesIfTheFirstOfThoseThatWaitGoesAway() throws InterruptedException {
        Queue<Integer> received = new ConcurrentLinkedQueue<>();
        Thread first = Thread.ofVirtual().start(() -> answers.of("tasks", this::search));
        begun.await();
        Thread gone = waiting(() -> {
            try {
                received.add(answers.of("tasks", this::search));
            } catch (RuntimeException interrupted) {
                received.add(0);
            }
        });
        Thread other = waiting(() -> received.add(answers.of("tasks", this::search)));

        gone.interrupt();
        gone.join();
        gate.countDown();
        first.join();
        other.join();

        assertThat(received).containsExactly(0, 2);
    }
}
