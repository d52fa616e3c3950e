package dev.parley.cli.postgresql;

import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Threads that call again and again until they are closed, and the answers. */
class Repeated implements AutoCloseable {
    private static final Duration LAST_ANSWER = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Queue<Answer> answers = new ConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean stopped;

    /** Begins to call from some threads, each 20 times a second at most. */
    static Repeated calls(int threads, Supplier<Answer> call) {
        var repeated = new Repeated();
        repeated.begin(threads, () -> {
            repeated.add(call.get());
            repeated.pause();
        });
        return repeated;
    }

    final void begin(int count, Runnable turn) {
        for (int i = 0; i < count; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                while (!stopped) {
                    turn.run();
                }
            }));
        }
    }

    final Answer add(Answer answer) {
        answers.add(answer);
        return answer;
    }

    final void pause() {
        LockSupport.parkNanos(PAUSE.toNanos());
    }

    /** Returns the answers to calls that had begun or had not ended at a moment of {@link System#nanoTime()}. */
    final Stream<Answer> since(long nanos) {
        return answers.stream().filter(answer -> answer.endedNanos() - nanos > 0);
    }

    /** Returns the answer that had been waited for the longest. */
    final Answer slowest(long sinceNanos) {
        return since(sinceNanos)
                .max((one, other) -> one.duration().compareTo(other.duration()))
                .orElseThrow(() -> new AssertionError("no answer"));
    }

    /** Ends the calls after the ones that are under way. */
    @Override
    public void close() {
        stopped = true;
        for (Thread thread : threads) {
            Eventually.within(LAST_ANSWER, "the last answer", () -> !thread.isAlive());
        }
    }
}
