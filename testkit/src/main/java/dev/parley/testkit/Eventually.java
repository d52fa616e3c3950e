package dev.parley.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Repeated checks, for tests that wait for a state that no event announces.
 *
 * <pre>{@code
 * Eventually.holds("the disk fails", () -> faults.hits() > 0);
 * Answer ready = Eventually.value("the hub is ready", () -> peer.get("/ready"), answer -> answer.status() == 200);
 * Eventually.asserted("both calls are recorded", () -> assertThat(audit.rows()).hasSize(2));
 * }</pre>
 *
 * <p>A check is made at once, then after pauses that grow from 1 ms to 20 ms, and a last time after the deadline. If that one fails,
 * too, or the thread is interrupted, an {@link AssertionError} names the awaited state and the last result; the thread stays
 * interrupted. Other exceptions of a check end the wait and reach the caller. Safe for any thread.
 */
public final class Eventually {
    /** Deadline of the methods without one; a busy machine needs a part of it. */
    public static final Duration DEADLINE = Duration.ofSeconds(60);

    private Eventually() {}

    /** A read of the current state; the compiler infers its exceptions. */
    @FunctionalInterface
    public interface Check<T, E extends Exception> {
        /** Returns the current state. */
        T get() throws E;
    }

    /** An assertion about the current state; the compiler infers its exceptions. */
    @FunctionalInterface
    public interface Assertion<E extends Exception> {
        /** Throws an {@link AssertionError} while the state is not the expected one. */
        void run() throws E;
    }

    /** Waits until the condition holds, for up to {@link #DEADLINE}. */
    public static <E extends Exception> void holds(String awaited, Check<Boolean, E> check) throws E {
        within(DEADLINE, awaited, check);
    }

    /** Waits until the condition holds, for up to {@code limit}. */
    public static <E extends Exception> void within(Duration limit, String awaited, Check<Boolean, E> check) throws E {
        repeat(limit, awaited, check, Boolean::booleanValue);
    }

    /** Waits for a value that {@code fits}, for up to {@link #DEADLINE}, and returns it. */
    public static <T, E extends Exception> T value(String awaited, Check<T, E> check, Predicate<T> fits) throws E {
        return repeat(DEADLINE, awaited, check, fits);
    }

    /** Repeats an assertion until it holds, for up to {@link #DEADLINE}. The cause of a failure is its last error. */
    public static <E extends Exception> void asserted(String awaited, Assertion<E> assertion) throws E {
        Check<Object, E> check = () -> {
            try {
                assertion.run();
                return true;
            } catch (AssertionError unequal) {
                return unequal;
            }
        };
        repeat(DEADLINE, awaited, check, Boolean.TRUE::equals);
    }

    private static <T, E extends Exception> T repeat(
            Duration limit, String awaited, Check<T, E> check, Predicate<T> fits) throws E {
        long end = System.nanoTime() + limit.toNanos();
        for (long pauseNanos = 1_000_000; ; pauseNanos = Math.min(2 * pauseNanos, 20_000_000)) {
            boolean isLast = System.nanoTime() - end >= 0;
            T value = check.get();
            if (fits.test(value)) {
                return value;
            }
            LockSupport.parkNanos(pauseNanos); // not at all if the thread is interrupted
            if (isLast || Thread.currentThread().isInterrupted()) {
                String problem = isLast ? "not within " + limit.toMillis() + " ms" : "interrupted";
                throw new AssertionError(
                        awaited + ": " + problem + ", last: " + value, value instanceof AssertionError e ? e : null);
            }
        }
    }
}
