package dev.parley.engine;

import dev.parley.engine.scheduling.TimeLimits;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The turns of an engine that run, and the stop that waits for them. Safe for any thread. */
final class Runs {
    /** Time that a stop waits for interrupted handlers. */
    private static final Duration INTERRUPTED = Duration.ofSeconds(1);

    private final Set<HandlerRun> running = ConcurrentHashMap.newKeySet();
    private final AtomicLong numbers = new AtomicLong();
    private final TimeLimits limits;
    private final ReentrantLock lock;
    private final Condition changed;
    private volatile boolean open = true;
    private volatile boolean stopped;

    Runs(TimeLimits limits, ReentrantLock lock) {
        this.limits = limits;
        this.lock = lock;
        this.changed = lock.newCondition();
    }

    /** True until the engine closes. */
    boolean isOpen() {
        return open;
    }

    /** True once waits are refused. */
    boolean isStopped() {
        return stopped;
    }

    /** Registers a turn before it runs; false if it must not run, because the engine closes. */
    boolean began(HandlerRun turn) {
        turn.numbered(numbers.incrementAndGet());
        running.add(turn);
        if (open) { // read after adding: either this sees the close, or the close sees the turn
            return true;
        }
        running.remove(turn);
        wake();
        return false;
    }

    /** Removes a turn after its end. */
    void ended(HandlerRun turn) {
        running.remove(turn);
        if (!open) {
            wake();
        }
    }

    /**
     * Lets no further turn begin, and ends those that run: at once, or after {@code grace} by an interrupt.
     *
     * @param wake wakes all threads that wait for tasks, which then see {@link #isStopped}
     */
    void stop(Duration grace, Runnable stopping, Runnable wake) {
        open = false;
        stopping.run();
        await(grace);
        inOrder().forEach(HandlerRun::interrupt);
        await(INTERRUPTED);
        refuseWaits(wake);
    }

    /**
     * Lets no further turn begin, interrupts those that run, and waits for none: nothing that they emit can be written.
     *
     * @param wake as for {@link #stop}
     */
    void halt(Runnable stopping, Runnable wake) {
        open = false;
        inOrder().forEach(HandlerRun::interrupt); // before they wake, to end as interrupted, not as failed
        refuseWaits(wake);
        stopping.run();
    }

    private void refuseWaits(Runnable wake) {
        stopped = true; // written before waking, so that no thread begins to wait
        wake();
        wake.run();
        inOrder().forEach(turn -> turn.live().wake());
    }

    /** The turns that run, in the order in which they began. */
    private List<HandlerRun> inOrder() {
        return running.stream()
                .sorted(Comparator.comparingLong(HandlerRun::number))
                .toList();
    }

    private void await(Duration grace) {
        TimeLimits.Limit limit = limits.in(grace, this::wake);
        lock.lock();
        try {
            while (!running.isEmpty() && !limit.isReached()) {
                changed.await();
            }
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
            limit.drop();
        }
    }

    /** Waits for so long, or until waits are refused. */
    void pause(Duration time) {
        TimeLimits.Limit limit = limits.in(time, this::wake);
        lock.lock();
        try {
            while (!stopped && !limit.isReached()) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
            limit.drop();
        }
    }

    private void wake() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
