package dev.parley.engine.scheduling;

import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.engine.spi.PushStore.Recorded;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Records of deliveries. One whose webhook another engine is changing is repeated before anything else is sent in its queue, so the event
 * is not sent again. Safe for any thread.
 */
public final class DeliveryRecords {
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

    private record Left(Subscription subscription, int attempts) {}

    private final PushStore store;
    private final Threads threads;
    private final ConcurrentHashMap<Queue, Left> left = new ConcurrentHashMap<>();

    public DeliveryRecords(PushStore store, Threads threads) {
        this.store = store;
        this.threads = threads;
    }

    /** Records how far a webhook of a queue is; if that has to be {@linkplain #repeat repeated}, nothing else may be sent before. */
    public Recorded record(Queue queue, Subscription subscription) {
        Recorded recorded = store.advance(subscription);
        if (recorded == Recorded.BUSY) {
            left.merge(queue, new Left(subscription, 1), (before, now) -> new Left(subscription, before.attempts + 1));
        } else {
            left.remove(queue);
        }
        return recorded;
    }

    /** Repeats the record of a queue that was left, if any; returns the pause until the next attempt, or null for none. */
    public @Nullable Duration repeat(Queue queue) {
        Left record = left.get(queue);
        return record != null && record(queue, record.subscription) == Recorded.BUSY ? pause(queue) : null;
    }

    /** Returns the pause before the next attempt to write the pending record. */
    public Duration pause(Queue queue) {
        Left record = left.get(queue);
        return PAUSES.after(record == null ? 1 : record.attempts, null, threads.random());
    }

    /** Drops the pending record of a queue that another engine has claimed. */
    public void drop(Queue queue) {
        left.remove(queue);
    }
}
