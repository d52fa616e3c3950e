package dev.parley.server;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Each group's share of the processors, while calls of several groups come.
 *
 * <p>Virtual threads run in the order in which they became ready, and none is interrupted for another: so the calls of a
 * group would wait behind all those of another that makes many. Here only a few calls of one group are under way at a time,
 * and the others wait outside, in their order; then the line before the processors is short for everybody. A call that is
 * under way for long waits for an agent or the disk rather than for a processor, and counts no more.
 *
 * <p>Those outside come in together, once all of those before them are done, and it is the clock that lets them in: a virtual
 * thread that is woken by another one goes before all that have been woken from outside, such as by bytes of another client.
 *
 * <p>Where all calls are of one group, nobody waits. Safe for any thread.
 */
final class Shares {
    private static final long TOGETHER_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_KEPT = 10_000;

    private final ScheduledExecutorService clock;
    private final int atOnce;
    private final long atWorkNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Share> shares = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Share> eldest) {
            return size() > MOST_KEPT;
        }
    };
    private volatile @Nullable Share last;
    private volatile long changedNanos = System.nanoTime() - TOGETHER_NANOS;

    /**
     * Makes them with what was found best by measuring: more calls at once have the others wait longer, and fewer leave a
     * processor idle while the next ones are let in.
     */
    Shares(ScheduledExecutorService clock) {
        this(clock, 4 * Runtime.getRuntime().availableProcessors(), Duration.ofMillis(1));
    }

    /**
     * Makes them.
     *
     * @param clock lets calls in; when it has been shut down, nobody waits
     * @param atOnce how many calls of a group are under way at a time
     * @param atWork for how long a call counts
     */
    Shares(ScheduledExecutorService clock, int atOnce, Duration atWork) {
        this.clock = clock;
        this.atOnce = atOnce;
        this.atWorkNanos = atWork.toNanos();
    }

    /**
     * Waits until a call of a group may go on, or until the thread is interrupted.
     *
     * @return to be run when the call has been answered; on any thread, and more than once does no harm
     */
    Runnable enter(String group) {
        var now = System.nanoTime();
        var share = last;
        if (share == null || !share.group.equals(group)) {
            var alone = share == null;
            share = share(group);
            last = share;
            if (alone) {
                return () -> {};
            }
            changedNanos = now;
        } else if (now - changedNanos > TOGETHER_NANOS) {
            return () -> {};
        }
        return share.enter(now);
    }

    private Share share(String group) {
        lock.lock();
        try {
            return shares.computeIfAbsent(group, Share::new);
        } finally {
            lock.unlock();
        }
    }

    /** Of one group. */
    private final class Share {
        private final String group;
        private final ReentrantLock lock = new ReentrantLock();
        private final Queue<Call> underWay = new ArrayDeque<>();
        private final Queue<Call> outside = new ArrayDeque<>();
        private int free = atOnce;
        private boolean timed;

        Share(String group) {
            this.group = group;
        }

        Runnable enter(long now) {
            var call = new Call();
            lock.lock();
            try {
                outside.add(call);
                if (outside.size() == 1) {
                    letIn(now);
                }
            } finally {
                lock.unlock();
            }
            while (!call.in && !call.thread.isInterrupted()) {
                LockSupport.park(this);
            }
            return () -> leave(call);
        }

        private void leave(Call call) {
            lock.lock();
            try {
                if (!call.in) {
                    outside.remove(call);
                } else if (call.counts) {
                    call.counts = false;
                    free++;
                }
                if (free == atOnce && !outside.isEmpty()) {
                    soon(0);
                }
            } finally {
                lock.unlock();
            }
        }

        private void soon(long nanos) {
            try {
                var unused = clock.schedule(this::look, nanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException stopped) {
                for (var call = outside.poll(); call != null; call = outside.poll()) {
                    call.comeIn(System.nanoTime());
                }
            }
        }

        private void look() {
            lock.lock();
            try {
                timed = false;
                letIn(System.nanoTime());
            } finally {
                lock.unlock();
            }
        }

        private boolean isOver(Call call, long now) {
            return !call.counts || now - call.sinceNanos >= atWorkNanos;
        }

        private void letIn(long now) {
            for (var oldest = underWay.peek(); oldest != null && isOver(oldest, now); oldest = underWay.peek()) {
                underWay.remove();
                if (oldest.counts) {
                    oldest.counts = false;
                    free++;
                }
            }
            while (free > 0 && !outside.isEmpty()) {
                var next = outside.remove();
                free--;
                underWay.add(next);
                next.comeIn(now);
            }
            if (!outside.isEmpty() && !timed) {
                timed = true;
                soon(underWay.element().sinceNanos + atWorkNanos - now);
            }
        }
    }

    /** Guarded by the lock of its share. */
    private static final class Call {
        private final Thread thread = Thread.currentThread();
        private volatile boolean in;
        private boolean counts;
        private long sinceNanos;

        void comeIn(long now) {
            sinceNanos = now;
            counts = true;
            in = true;
            LockSupport.unpark(thread);
        }
    }
}
