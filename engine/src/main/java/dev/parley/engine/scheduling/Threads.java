package dev.parley.engine.scheduling;

import dev.parley.protocol.support.Ids;
import java.time.Instant;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Source of the engine's threads, timers, locks, elapsed time, ids and random numbers. A simulation replaces it, so that one seed decides the order
 * of everything that happens.
 */
public interface Threads {
    /** The threads and the time of the platform. */
    Threads PLATFORM = new Threads() {
        @Override
        public void start(String name, Runnable work) {
            Thread.ofVirtual().name(name).start(work);
        }

        @Override
        public ScheduledExecutorService timer(String name) {
            var timer = new ScheduledThreadPoolExecutor(
                    1, Thread.ofPlatform().daemon().name(name).factory());
            timer.setRemoveOnCancelPolicy(true);
            // Timers set while the engine closes are dropped: their tasks go on after the next start.
            timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
            return timer;
        }

        @Override
        public ReentrantLock lock() {
            return new ReentrantLock();
        }

        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public String id(Instant now) {
            return Ids.next(now);
        }

        @Override
        public double random() {
            return ThreadLocalRandom.current().nextDouble();
        }
    };

    /** Runs {@code work} on a thread of its own, which may block. */
    void start(String name, Runnable work);

    /** Returns a timer with a thread of its own. */
    ScheduledExecutorService timer(String name);

    ReentrantLock lock();

    /** Elapsed time, as {@link System#nanoTime}. */
    long nanoTime();

    /** An id that is given to nothing else. */
    String id(Instant now);

    /** A random number, at least 0 and less than 1. */
    double random();
}
