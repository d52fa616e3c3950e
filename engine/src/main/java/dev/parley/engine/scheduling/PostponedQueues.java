package dev.parley.engine.scheduling;

import dev.parley.engine.spi.PushStore.Queue;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Queues of webhooks that wait for their next attempt, each for the earliest one that was set. Safe for any thread. */
public final class PostponedQueues {
    private final ScheduledExecutorService timer;
    private final Threads threads;
    private final BiConsumer<Queue, String> attempt;
    private final ConcurrentHashMap<Queue, Wait> waits = new ConcurrentHashMap<>();

    /** @param attempt begins an attempt, given the queue and its receiver; does not block */
    public PostponedQueues(ScheduledExecutorService timer, Threads threads, BiConsumer<Queue, String> attempt) {
        this.timer = timer;
        this.threads = threads;
        this.attempt = attempt;
    }

    private final class Wait implements Runnable {
        private final Queue queue;
        private final String receiver;
        private final long end;
        /** Null while it is being set. */
        private @Nullable Future<?> alarm;

        Wait(Queue queue, String receiver, long end) {
            this.queue = queue;
            this.receiver = receiver;
            this.end = end;
        }

        @Override
        public void run() {
            if (waits.remove(queue, this)) {
                attempt.accept(queue, receiver);
            }
        }

        void cancel() {
            if (alarm != null) {
                alarm.cancel(false);
            }
        }
    }

    /** Sets an attempt, unless an earlier one is set, which then sees whether it has to wait again. */
    public void add(Queue queue, String receiver, Duration pause) {
        Duration whole = pause.plusMillis(1); // an attempt must not begin a fraction of a millisecond too early
        var next = new Wait(queue, receiver, threads.nanoTime() + whole.toNanos());
        var unused = waits.compute(queue, (key, before) -> {
            if (before != null && before.end - next.end <= 0) {
                return before;
            }
            if (before != null) {
                before.cancel();
            }
            next.alarm = timer.schedule(next, whole.toMillis(), TimeUnit.MILLISECONDS);
            return next;
        });
    }

    /** Begins the attempt of a queue at once, if the queue waits. */
    public void hasten(Queue queue) {
        Wait wait = waits.get(queue);
        if (wait != null) {
            wait.cancel();
            wait.run();
        }
    }

    /** Has a queue without events wait no more. */
    public void remove(Queue queue) {
        Wait wait = waits.remove(queue);
        if (wait != null) {
            wait.cancel();
        }
    }

    /** The queues that wait, as a view. */
    public Set<Queue> queues() {
        return waits.keySet();
    }
}
