package dev.parley.server.limits;

import dev.parley.protocol.support.FairQueue;
import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Fair scheduler of requests by group, while calls of several groups come.
 *
 * <p>Virtual threads run in the order in which they became ready, and none is interrupted for another: the calls of a group
 * would wait for all those of another that makes many. Here the calls of a group come in rounds of a few. Those of the
 * next round wait, in their order, until all of this round have been answered or wait for something else than a processor,
 * and then until the clock lets them in. The clock is a thread of the platform: until it runs, the processor looks at what
 * has come from outside, such as bytes of another group's clients. Virtual threads that wake each other would run on
 * without that. It is rounds, not calls at a time, that matter: a call that is answered at once never runs beside others.
 *
 * <p>A group that works for less than half of the time does not wait for the clock. Where all calls are of one group, no call
 * waits. Safe for any thread. See docs/adr/0011.
 */
public final class FairScheduler {
    private static final long TOGETHER_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_KEPT = 10_000;
    /** Factor of the time limit for calls that work all the time. */
    private static final int MOST_AT_WORK = 1000;
    /** After as many times that time a round is looked at of which no call has ended. */
    private static final int PATIENCE = 5;

    private static final Duration AT_WORK = Duration.ofNanos(100_000);

    private final ScheduledExecutorService clock;
    private final boolean always;
    private final int atOnce;
    private final long atWorkNanos;
    private final int processors;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Share> shares = new LruMap<>(MOST_KEPT);
    private volatile @Nullable Share last;
    private volatile long changedNanos = System.nanoTime() - TOGETHER_NANOS;

    /**
     * Creates the shares with measured defaults: with longer rounds other groups wait longer, with shorter ones a processor is
     * idle more often between two rounds.
     */
    public FairScheduler(ScheduledExecutorService clock) {
        this(clock, Runtime.getRuntime().availableProcessors(), 4, AT_WORK);
    }

    /**
     * Creates the shares.
     *
     * @param clock lets calls in; when it has been shut down, no call waits
     * @param each calls of a round for each processor
     * @param atWork time after which a call with a waiting thread does not count
     */
    public FairScheduler(ScheduledExecutorService clock, int processors, int each, Duration atWork) {
        this(clock, processors, each, atWork, false);
    }

    private FairScheduler(ScheduledExecutorService clock, int processors, int each, Duration atWork, boolean always) {
        this.always = always;
        this.clock = clock;
        this.processors = processors;
        this.atOnce = each * processors;
        this.atWorkNanos = atWork.toNanos();
    }

    /** Returns shares in rounds of {@code atOnce}; groups take turns, also while calls of one group come only. */
    public static FairScheduler always(ScheduledExecutorService clock, int atOnce) {
        return always(clock, atOnce, AT_WORK);
    }

    static FairScheduler always(ScheduledExecutorService clock, int atOnce, Duration atWork) {
        return new FairScheduler(clock, atOnce, 1, atWork, true);
    }

    /**
     * A share that was given before the caller was known.
     *
     * @param group of the call
     * @param end to be run when the call has been answered; on any thread, and more than once does no harm
     */
    public record Early(String group, Runnable end) {}

    /**
     * Waits until a call of a group may go on, or until the thread is interrupted.
     *
     * @return to be run when the call has been answered; on any thread, and more than once does no harm
     */
    public Runnable enter(String group) {
        var now = System.nanoTime();
        var share = always ? share("") : called(group, now);
        return share == null ? () -> {} : share.enter(group, now);
    }

    /**
     * Waits like {@link #enter}, for a group that is likely to call.
     *
     * @return null if calls of one group come only, or none; nothing has happened then
     */
    public @Nullable Early enterEarly(String group) {
        var now = System.nanoTime();
        return areShared(now) ? new Early(group, share(group).enter(group, now)) : null;
    }

    /** A call comes for which {@link #enterEarly} has waited. */
    public void called(String group) {
        var unused = called(group, System.nanoTime());
    }

    /** Returns how many calls of a group wait. */
    public int waiting(String group) {
        return share(group).waiting();
    }

    private boolean areShared(long now) {
        return now - changedNanos <= TOGETHER_NANOS;
    }

    /** Notes a call of a group, and returns its share; null if calls of one group come only. */
    private @Nullable Share called(String group, long now) {
        var share = last;
        if (share != null && share.group.equals(group)) {
            return areShared(now) ? share : null;
        }
        var own = share == null;
        share = share(group);
        last = share;
        if (own) {
            return null;
        }
        changedNanos = now;
        return share;
    }

    private Share share(String group) {
        lock.lock();
        try {
            return shares.computeIfAbsent(group, Share::new);
        } finally {
            lock.unlock();
        }
    }

    /** Calls of one group. */
    private final class Share {
        private final String group;
        private final ReentrantLock lock = new ReentrantLock();
        private final List<Call> underWay = new ArrayList<>();
        private final FairQueue<Call> outside = new FairQueue<>();
        private int left = atOnce;
        private long roundNanos = System.nanoTime();
        private long workNanos;
        private boolean turning;
        private boolean due;

        Share(String group) {
            this.group = group;
        }

        int waiting() {
            return outside.size(group);
        }

        Runnable enter(String caller, long now) {
            var call = new Call();
            lock.lock();
            try {
                if (outside.isEmpty() && (left > 0 || isIdle(now))) {
                    letIn(call, now);
                } else {
                    outside.add(caller, call);
                    next();
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
                    call.over = true; // the queue, which may be long, drops it when its turn comes
                } else if (underWay.remove(call)) {
                    workNanos += Math.min(System.nanoTime() - call.sinceNanos, atWorkNanos);
                    next();
                }
            } finally {
                lock.unlock();
            }
        }

        /** Begins a round if the group has left the processors to others for as long as it worked. */
        private boolean isIdle(long now) {
            forgetWaiting(now);
            if (!underWay.isEmpty() || now - roundNanos < 2 * workNanos / processors) {
                return false;
            }
            begin(now);
            return true;
        }

        private void begin(long now) {
            left = atOnce - underWay.size();
            roundNanos = now;
            workNanos = 0;
        }

        /** Has the clock begin the next round: at once if all calls of this one are over, else soon. */
        private void next() {
            if (outside.isEmpty()) {
                return;
            }
            forgetWaiting(System.nanoTime());
            if (underWay.isEmpty() && !turning) {
                turning = true;
                soon(0);
            } else if (!turning && !due) {
                due = true;
                soon(PATIENCE * atWorkNanos);
            }
        }

        private void soon(long nanos) {
            try {
                var unused = clock.schedule(() -> look(nanos > 0), nanos, TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException stopped) {
                for (var call = outside.poll(); call != null; call = outside.poll()) {
                    call.comeIn(System.nanoTime());
                }
            }
        }

        private void look(boolean wasDue) {
            lock.lock();
            try {
                if (wasDue) {
                    due = false;
                } else {
                    turning = false;
                }
                var now = System.nanoTime();
                forgetWaiting(now);
                begin(now);
                for (var call = nextOutside(); call != null; call = nextOutside()) {
                    if (!call.over) {
                        letIn(call, now);
                    }
                }
                if (!outside.isEmpty() && !due) {
                    due = true;
                    soon(PATIENCE * atWorkNanos);
                }
            } finally {
                lock.unlock();
            }
        }

        private @Nullable Call nextOutside() {
            return left > 0 ? outside.poll() : null;
        }

        private void letIn(Call call, long now) {
            left--;
            underWay.add(call);
            call.comeIn(now);
        }

        private void forgetWaiting(long now) {
            underWay.removeIf(call -> {
                boolean over = call.waits(now, atWorkNanos);
                if (over) {
                    workNanos += atWorkNanos;
                }
                return over;
            });
        }
    }

    /** Guarded by the lock of its share. */
    private static final class Call {
        private final Thread thread = Thread.currentThread();
        private volatile boolean in;
        private boolean over;
        private long sinceNanos;

        void comeIn(long now) {
            sinceNanos = now;
            in = true;
            LockSupport.unpark(thread);
        }

        /** Whether it waits for something else than a processor, which a thread that is ready to run does not. */
        boolean waits(long now, long atWorkNanos) {
            long nanos = now - sinceNanos;
            return nanos >= MOST_AT_WORK * atWorkNanos
                    || nanos >= atWorkNanos && thread.getState() != Thread.State.RUNNABLE;
        }
    }
}
