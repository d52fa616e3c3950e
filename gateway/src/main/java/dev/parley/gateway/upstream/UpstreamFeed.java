package dev.parley.gateway.upstream;

import dev.parley.gateway.upstream.UpstreamSettings.Timeouts;
import dev.parley.protocol.Feed;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Stream of a replica with its total time limit, which holds a place of the replica until its end. */
final class UpstreamFeed<E> implements Feed<E> {
    private final Replicas replicas;
    private final Replica replica;
    private final Feed<E> feed;
    private final Timeouts timeouts;
    private final long begun;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private boolean hasBegun;

    UpstreamFeed(Replicas replicas, Replica replica, Feed<E> feed, long begun, Timeouts timeouts) {
        this.replicas = replicas;
        this.replica = replica;
        this.feed = feed;
        this.timeouts = timeouts;
        this.begun = begun;
        replicas.opened();
    }

    @Override
    public @Nullable List<E> next(Duration patience) throws InterruptedException {
        Duration left = timeouts.total().minusNanos(replicas.time() - begun);
        if (!left.isPositive()) {
            throw end(Failure.passed("total", timeouts.total()));
        }
        List<E> next;
        try {
            next = feed.next(left.compareTo(patience) < 0 ? left : patience);
        } catch (RuntimeException problem) {
            throw end(Failure.ofStream(problem, timeouts));
        }
        if (next == null) {
            close();
        } else if (!next.isEmpty()) {
            if (!hasBegun) {
                hasBegun = true;
                replicas.firstEvent(begun);
            }
            replicas.events(next.size());
        }
        return next;
    }

    private RuntimeException end(Failure failure) {
        boolean wasOpen = open.get();
        close();
        return wasOpen ? replicas.broken(replica, failure) : failure.answer();
    }

    @Override
    public @Nullable String position() {
        return feed.position();
    }

    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            replicas.ended(replica);
        }
        feed.close();
    }
}
