package dev.parley.engine;

import dev.parley.engine.scheduling.Threads;
import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Threads of which one runs at a time, on the thread of the test, in an order that a seed decides; and a time that passes only
 * when the seed, or a lack of work, says so.
 *
 * <p>They are virtual threads with a scheduler of our own, so code under test blocks as it always does: on locks, conditions
 * and futures. A thread can also lose its turn wherever it takes or gives back a lock of the engine, and wherever the
 * simulated log and handlers say so, but not between two plain reads or writes of memory.
 */
public final class SimulatedThreads implements InstantSource {
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Method NEW_VIRTUAL_THREAD = newVirtualThread();

    /** The threads of one process; when it crashes, none of them runs again. */
    public final class Machine implements Threads, Executor {
        private boolean alive = true;
        private boolean paused;
        /** What waits for the end of a pause. */
        private final List<Step> frozen = new ArrayList<>();

        @Override
        public void execute(Runnable continuation) {
            if (alive) {
                (paused ? frozen : runnable).add(new Step(this, continuation));
            }
        }

        @Override
        public void start(String name, Runnable work) {
            thread(this, name, work).start();
        }

        @Override
        public ScheduledExecutorService timer(String name) {
            return new Timer(this, name);
        }

        @Override
        public ReentrantLock lock() {
            return new Lock();
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public String id(Instant at) {
            long high = at.toEpochMilli() << 16 | 0x7000 | ids++ & 0xfff;
            return new UUID(high, ids | 0x8000_0000_0000_0000L).toString();
        }

        @Override
        public double random() {
            return random.nextDouble();
        }

        public boolean isAlive() {
            return alive;
        }

        /** Ends all threads where they stand, with all timers. */
        public void kill() {
            alive = false;
            frozen.clear();
            writerBusy = false;
            runnable.removeIf(step -> step.process == this);
            timers.removeIf(entry -> entry.process == this);
        }

        /** Lets no thread run, while time passes. */
        public void pause() {
            paused = true;
            runnable.stream().filter(step -> step.process == this).forEach(frozen::add);
            runnable.removeIf(step -> step.process == this);
        }

        /** Ends a pause. */
        public void resume() {
            paused = false;
            runnable.addAll(frozen);
            frozen.clear();
        }

        /** Has an engine take its threads and timers from here. */
        public Engine.Builder run(Engine.Builder engine) {
            return engine.threads(this);
        }
    }

    private record Step(Machine process, Runnable continuation) {}

    private final Random random;
    private final List<Step> runnable = new ArrayList<>();
    private final PriorityQueue<Alarm<?>> timers = new PriorityQueue<>();
    private final double switching;
    private long now;
    private long ids;
    private long alarms;
    private long trace = 1;
    private boolean writerBusy;

    public SimulatedThreads(Random random) {
        this.random = random;
        this.switching = random.nextInt(4) * 0.1;
    }

    private static Method newVirtualThread() {
        try {
            Method method = Class.forName("java.lang.ThreadBuilders")
                    .getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
            method.setAccessible(true);
            return method;
        } catch (ReflectiveOperationException unknown) {
            throw new IllegalStateException("needs --add-opens java.base/java.lang=ALL-UNNAMED", unknown);
        }
    }

    private static Thread thread(Machine process, String name, Runnable work) {
        try {
            return (Thread) NEW_VIRTUAL_THREAD.invoke(null, process, name, 0, work);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    @Override
    public Instant instant() {
        return START.plusNanos(now);
    }

    /** A process with no threads yet. */
    public Machine process() {
        return new Machine();
    }

    /** The time that has passed, in nanoseconds. */
    public long now() {
        return now;
    }

    /** A number that differs if anything ran in another order. */
    public long trace() {
        return trace;
    }

    /** Says that the log's writer tells of a commit: nothing may make it wait. */
    void writerIsBusy(boolean busy) {
        writerBusy = busy;
    }

    /** Lets another thread run, now and then. */
    @SuppressWarnings("ThreadPriorityCheck") // here it decides the order, and nothing depends on it
    public void mayYield() {
        if (Thread.currentThread().isVirtual() && random.nextDouble() < switching) {
            Thread.yield();
        }
    }

    /** Blocks the calling thread for so long. */
    public void sleep(Machine process, Duration time) throws InterruptedException {
        long end = now + time.toNanos();
        Thread sleeper = Thread.currentThread();
        timers.add(new Alarm<>(process, null, end, 0, () -> {
            LockSupport.unpark(sleeper);
            return null;
        }));
        while (now < end) {
            LockSupport.park(this);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    /** Blocks the calling thread until another one has made {@code done} true and has unparked it, for {@code patience} at most. */
    public boolean await(Machine process, java.util.function.BooleanSupplier done, Duration patience) {
        long end = now + patience.toNanos();
        Thread waiter = Thread.currentThread();
        var alarm = new Alarm<>(process, null, end, 0, () -> {
            LockSupport.unpark(waiter);
            return null;
        });
        timers.add(alarm);
        while (!done.getAsBoolean() && now < end) {
            LockSupport.park(this);
        }
        timers.remove(alarm);
        return done.getAsBoolean();
    }

    /** Runs until nothing is left to do before {@code end}, or {@code done} says so. */
    public void run(Duration end, java.util.function.BooleanSupplier done) {
        long last = end.toNanos();
        while (!done.getAsBoolean()) {
            Alarm<?> next = timers.peek();
            boolean mayPass = next != null && next.at <= last;
            if (runnable.isEmpty() && !mayPass) {
                Simulation.require(Invariant.WRITER, !writerBusy, "the log's writer is not blocked");
                return;
            }
            if (runnable.isEmpty() || mayPass && !writerBusy && random.nextInt(200) == 0) {
                Simulation.require(Invariant.WRITER, !writerBusy, "the log's writer does not wait for time to pass");
                pass(next);
                continue;
            }
            int chosen = random.nextInt(runnable.size());
            Step step = runnable.remove(chosen);
            trace = trace * 31 + chosen + runnable.size() * 7L + now;
            step.continuation.run();
        }
    }

    private void pass(@Nullable Alarm<?> next) {
        if (next != null) {
            timers.remove(next);
            now = Math.max(now, next.at);
            next.ring();
        }
    }

    private final class Lock extends ReentrantLock {
        private static final long serialVersionUID = 1L;

        @Override
        public void lock() {
            mayYield();
            super.lock();
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            mayYield();
            super.lockInterruptibly();
        }

        @Override
        public void unlock() {
            super.unlock();
            mayYield();
        }
    }

    /** Something that is due at a time: on the thread of its timer, or at once if it has none. */
    private final class Alarm<T> extends FutureTask<T> implements ScheduledFuture<T> {
        private final Machine process;
        private final @Nullable Timer timer;
        private final long period;
        private final long number = alarms++;
        private long at;

        Alarm(Machine process, @Nullable Timer timer, long at, long period, Callable<T> action) {
            super(action);
            this.process = process;
            this.timer = timer;
            this.at = at;
            this.period = period;
        }

        void ring() {
            if (timer == null) {
                run();
            } else {
                timer.due(this);
            }
        }

        @Override
        public void run() {
            if (period == 0) {
                super.run();
            } else if (super.runAndReset() && process.isAlive() && timer != null && !timer.closed) {
                at = now + period;
                timers.add(this);
            }
        }

        @Override
        public boolean cancel(boolean mayInterrupt) {
            timers.remove(this);
            return super.cancel(false);
        }

        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(at - now, TimeUnit.NANOSECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            return Comparator.<Alarm<?>>comparingLong(alarm -> alarm.at)
                    .thenComparingLong(alarm -> alarm.number)
                    .compare(this, (Alarm<?>) other);
        }
    }

    /** A timer whose actions run one by one. */
    private final class Timer extends AbstractExecutorService implements ScheduledExecutorService {
        private final Machine process;
        private final String name;
        private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
        private boolean busy;
        private boolean closed;

        Timer(Machine process, String name) {
            this.process = process;
            this.name = name;
        }

        void due(Runnable action) {
            queue.add(action);
            if (!busy) {
                busy = true;
                process.start(name, () -> {
                    for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
                        next.run();
                    }
                    busy = false;
                });
            }
        }

        private <T> Alarm<T> schedule(Callable<T> action, long nanos, long period) {
            var alarm = new Alarm<>(process, this, now + Math.max(0, nanos), period, action);
            if (!closed) {
                timers.add(alarm);
            }
            return alarm;
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable action, long delay, TimeUnit unit) {
            return schedule(callable(action), unit.toNanos(delay), 0);
        }

        private static Callable<@Nullable Object> callable(Runnable action) {
            return () -> {
                action.run();
                return null;
            };
        }

        @Override
        public <V> ScheduledFuture<V> schedule(Callable<V> action, long delay, TimeUnit unit) {
            return schedule(action, unit.toNanos(delay), 0);
        }

        @Override
        public ScheduledFuture<?> scheduleAtFixedRate(Runnable action, long first, long period, TimeUnit unit) {
            return schedule(callable(action), unit.toNanos(first), unit.toNanos(period));
        }

        @Override
        public ScheduledFuture<?> scheduleWithFixedDelay(Runnable action, long first, long delay, TimeUnit unit) {
            return schedule(callable(action), unit.toNanos(first), unit.toNanos(delay));
        }

        @Override
        public void execute(Runnable action) {
            due(action);
        }

        @Override
        public void shutdown() {
            closed = true;
        }

        @Override
        public List<Runnable> shutdownNow() {
            closed = true;
            queue.clear();
            timers.removeIf(alarm -> alarm.timer == this);
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return closed;
        }

        @Override
        public boolean isTerminated() {
            return closed && !busy;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return isTerminated();
        }
    }

    /** Chooses one of some. */
    public <T> T any(Collection<T> some) {
        int chosen = random.nextInt(some.size());
        for (T one : some) {
            if (chosen-- == 0) {
                return one;
            }
        }
        throw new IllegalArgumentException("nothing to choose from");
    }
}
