package dev.parley.protocol.support;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Bounded pool of platform threads for work that computes, or blocks in native code, for more than a millisecond. On a virtual
 * thread such work would hold a carrier, and with as many pieces of work as carriers nothing else would run.
 *
 * <p>Work belongs to a group. A group has at most a share of the threads, by default half, and starts none if it has as many as are free, so that a few
 * groups with much work leave threads to others; its other work waits in a bounded queue. The threads
 * take turns: fewer of them than there are processors run at the same time, the groups come in rotation, and work that has run
 * for longer than a time slice gives its turn to another at its next {@link #checkpoint}. Work that reaches no checkpoint loses
 * its turn after ten slices; it goes on beside the next one, so that the number of threads bounds that too.
 *
 * <p>Safe for any thread.
 */
public final class FairPool implements AutoCloseable {
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long OVERDUE_NANOS = 10 * SLICE_NANOS;

    /**
     * Work lets other threads of its processor run after this time. The system would let them wait for 3 ms and more, each time
     * that one of them wakes. A lower priority would do the same, but carriers that are created by a thread of low priority
     * keep it where the process has no right to raise it.
     */
    private static final long STINT_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

    private final int queueLimit;
    private final ThreadPoolExecutor workers;
    private final ScheduledThreadPoolExecutor clock;

    private final ReentrantLock lock = new ReentrantLock();
    private final FairQueue<Job<?>> arrived = new FairQueue<>();
    private final FairQueue<Job<?>> ready = new FairQueue<>();
    private final FairShare started;

    /** The jobs that have a turn, the one that has had it for longest first. */
    private final Set<Job<?>> running = new LinkedHashSet<>();

    private int freeTurns;
    private boolean timed;
    private boolean closed;

    /**
     * Makes a pool that leaves one processor to other threads.
     *
     * @param name of its threads
     * @param threads how many pieces of work are started at a time; at least 2
     * @param queueLimit how many pieces of work of one group wait at a time
     */
    public FairPool(String name, int threads, int queueLimit) {
        this(name, threads, threads / 2, queueLimit);
    }

    /** @param share how many pieces of work of one group are started at a time */
    public FairPool(String name, int threads, int share, int queueLimit) {
        this(name, threads, share, queueLimit, Math.max(1, Runtime.getRuntime().availableProcessors() - 1));
    }

    /** @param turns how many pieces of work run at the same time */
    FairPool(String name, int threads, int share, int queueLimit, int turns) {
        this.started = new FairShare(threads, 1, share);
        this.queueLimit = queueLimit;
        this.freeTurns = turns;
        this.workers = new ThreadPoolExecutor(
                threads,
                threads,
                30,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                work -> new Worker(work, name + "-worker"));
        workers.allowCoreThreadTimeOut(true);
        this.clock = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name(name + "-clock").factory());
        clock.setKeepAliveTime(30, TimeUnit.SECONDS);
        clock.allowCoreThreadTimeOut(true);
        clock.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /**
     * Does work on a thread of the pool and waits for it; at once if the calling thread is of this pool. Work that is to end
     * in time looks at {@link #checkpoint}, or at whether its thread is interrupted.
     *
     * @param patience how long the caller waits, for a thread and for the work together; the work is interrupted then
     * @throws RejectedExecutionException if the group has too much work waiting, or the work was not begun in time, or the
     *     pool is closed
     * @throws TimeoutException if the work was begun and took too long
     * @throws InterruptedException if the caller is interrupted; so is the work
     */
    public <T extends @Nullable Object> T call(String group, Duration patience, Supplier<T> work)
            throws InterruptedException, TimeoutException {
        if (isWorker()) {
            return work.get();
        }
        Job<T> job = new Job<>(this, group, work);
        submit(job);
        boolean done = false;
        try {
            T result = job.get(patience.toNanos(), TimeUnit.NANOSECONDS);
            done = true;
            return result;
        } catch (TimeoutException late) {
            if (!job.begun) {
                throw new RejectedExecutionException("not begun within " + patience, late);
            }
            throw late;
        } catch (CancellationException closing) {
            throw new RejectedExecutionException("the pool is closed", closing);
        } catch (ExecutionException failure) {
            switch (failure.getCause()) {
                case CancellationException closing ->
                    throw new RejectedExecutionException("the pool is closed", closing);
                case RuntimeException problem -> throw problem;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException("a supplier threw a checked exception", failure);
            }
        } finally {
            if (!done) {
                withdraw(job);
            }
        }
    }

    /** Whether the calling thread is doing work of this pool. */
    public boolean isWorker() {
        return Thread.currentThread() instanceof Worker worker && worker.isOf(this);
    }

    private void submit(Job<?> job) {
        lock.lock();
        try {
            if (closed) {
                throw new RejectedExecutionException("the pool is closed");
            }
            if (arrived.size(job.group) >= queueLimit) {
                throw new RejectedExecutionException(queueLimit + " pieces of work of the group wait already");
            }
            arrived.add(job.group, job);
            start();
        } finally {
            lock.unlock();
        }
    }

    private void withdraw(Job<?> job) {
        job.cancel(true);
        lock.lock();
        try {
            arrived.remove(job.group, job);
        } finally {
            lock.unlock();
        }
    }

    /** Starts work for which there is a thread. */
    private void start() {
        while (started.free() > 0 && !closed) {
            Job<?> next = arrived.poll(started::hasRoom);
            if (next == null) {
                return;
            }
            started.take(next.group);
            workers.execute(next);
        }
    }

    /** Gives turns that are free to work that waits for one. */
    private void grant() {
        while (freeTurns > 0) {
            Job<?> next = ready.poll();
            if (next == null) {
                return;
            }
            freeTurns--;
            running.add(next);
            next.sinceNanos = System.nanoTime();
            next.hasTurn = true;
            next.waits = false;
            LockSupport.unpark(next.thread);
        }
        if (!timed && !ready.isEmpty() && !running.isEmpty() && !closed) {
            timed = true;
            long due = running.iterator().next().sinceNanos + OVERDUE_NANOS - System.nanoTime();
            var unused = clock.schedule(this::revoke, Math.max(0, due), TimeUnit.NANOSECONDS);
        }
    }

    /** Takes the turn of work that has reached no checkpoint for too long, as long as other work waits for one. */
    private void revoke() {
        lock.lock();
        try {
            timed = false;
            long now = System.nanoTime();
            Iterator<Job<?>> oldest = running.iterator();
            while (!ready.isEmpty() && oldest.hasNext()) {
                Job<?> job = oldest.next();
                if (now - job.sinceNanos < OVERDUE_NANOS) {
                    break;
                }
                oldest.remove();
                job.hasTurn = false;
                freeTurns++;
            }
            grant();
        } finally {
            lock.unlock();
        }
    }

    private void yieldTurn(Job<?> job) {
        lock.lock();
        try {
            if (job.hasTurn) {
                job.hasTurn = false;
                running.remove(job);
                freeTurns++;
            }
            job.waits = true;
            ready.add(job.group, job);
            grant();
        } finally {
            lock.unlock();
        }
        // A turn may be taken again before this thread has woken. The work then goes on without one, as overdue work
        // does.
        while (job.waits && !Thread.currentThread().isInterrupted()) {
            LockSupport.park(this);
        }
    }

    private void ended(Job<?> job) {
        lock.lock();
        try {
            ready.remove(job.group, job);
            if (running.remove(job)) {
                freeTurns++;
            }
            started.giveBack(job.group);
            start();
            grant();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets other work have its turn, if work of this or another pool has run for longer than a time slice. Of no effect on
     * other threads.
     *
     * @return false if the work has been given up and should end
     */
    public static boolean checkpoint() {
        if (!(Thread.currentThread() instanceof Worker worker)) {
            return true;
        }
        Job<?> job = worker.job;
        if (job != null && !worker.isInterrupted()) {
            job.checkpoint();
        }
        return !worker.isInterrupted();
    }

    /** Ends all work. Idempotent. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            for (Job<?> waiting = arrived.poll(); waiting != null; waiting = arrived.poll()) {
                waiting.cancel(false);
            }
        } finally {
            lock.unlock();
        }
        for (Runnable unstarted : workers.shutdownNow()) {
            ((Job<?>) unstarted).cancel(false);
        }
        clock.shutdownNow();
    }

    /** A thread of a pool. */
    private static final class Worker extends Thread {
        private @Nullable Job<?> job;

        Worker(Runnable work, String name) {
            super(null, work, name, 0, false);
            setDaemon(true);
        }

        boolean isOf(FairPool pool) {
            return job != null && job.pool == pool;
        }
    }

    /** A piece of work. */
    private static final class Job<T extends @Nullable Object> extends FutureTask<T> {
        private final FairPool pool;
        private final String group;
        private volatile @Nullable Thread thread;
        private volatile boolean begun;
        private volatile boolean hasTurn;
        /** Until it is granted a turn. */
        private volatile boolean waits;

        private volatile long sinceNanos;

        // Only for the thread that works.
        private long stintNanos = System.nanoTime();

        Job(FairPool pool, String group, Supplier<T> work) {
            super(() -> begunBy((Worker) Thread.currentThread(), work));
            this.pool = pool;
            this.group = group;
        }

        private static <T extends @Nullable Object> T begunBy(Worker worker, Supplier<T> work) {
            Job<?> job = worker.job;
            if (job != null) {
                job.pool.yieldTurn(job); // it has none yet, so this waits for the first one
                job.begun = true;
            }
            if (worker.isInterrupted()) {
                throw new CancellationException();
            }
            return work.get();
        }

        @Override
        public void run() {
            Worker worker = (Worker) Thread.currentThread();
            thread = worker;
            worker.job = this;
            try {
                super.run();
            } finally {
                worker.job = null;
                pool.ended(this);
            }
        }

        @SuppressWarnings("ThreadPriorityCheck") // how long others wait, not correctness, depends on it
        void checkpoint() {
            long now = System.nanoTime();
            if (!hasTurn || now - sinceNanos >= SLICE_NANOS && !pool.ready.isEmpty()) {
                pool.yieldTurn(this);
            } else if (now - stintNanos >= STINT_NANOS) {
                Thread.yield();
                stintNanos = System.nanoTime();
            }
        }
    }
}
