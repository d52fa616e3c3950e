package dev.parley.engine.scheduling;

import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

/** Short pieces of work under a lock. */
public final class Guarded {
    private Guarded() {}

    /** Returns what {@code work} does under the lock. */
    public static <T> T by(Lock lock, Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }

    /** Changes something under the lock. */
    public static void change(Lock lock, Runnable change) {
        lock.lock();
        try {
            change.run();
        } finally {
            lock.unlock();
        }
    }
}
