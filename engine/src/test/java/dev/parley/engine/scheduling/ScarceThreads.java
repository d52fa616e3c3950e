package dev.parley.engine.scheduling;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.locks.ReentrantLock;

/** The threads of the platform, of which some do not start. */
public final class ScarceThreads implements Threads {
    private final Collection<String> failing = new LinkedBlockingQueue<>();
    private final List<Thread> started = new CopyOnWriteArrayList<>();

    /** Has so many threads of a name fail to start from now on. */
    public void fail(String name, int count) {
        for (int i = 0; i < count; i++) {
            failing.add(name);
        }
    }

    /** Number of threads that are yet to fail. */
    public int failing() {
        return failing.size();
    }

    /** The threads that have been started. */
    public List<Thread> started() {
        return started;
    }

    @Override
    public void start(String name, Runnable work) {
        if (failing.remove(name)) {
            throw new OutOfMemoryError("unable to create a thread, says a test");
        }
        started.add(Thread.ofVirtual().name(name).start(work));
    }

    @Override
    public ScheduledExecutorService timer(String name) {
        return PLATFORM.timer(name);
    }

    @Override
    public ReentrantLock lock() {
        return PLATFORM.lock();
    }

    @Override
    public long nanoTime() {
        return PLATFORM.nanoTime();
    }

    @Override
    public String id(Instant now) {
        return PLATFORM.id(now);
    }

    @Override
    public double random() {
        return PLATFORM.random();
    }
}
