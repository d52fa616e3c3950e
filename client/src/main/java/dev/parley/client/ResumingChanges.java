package dev.parley.client;

import dev.parley.protocol.Feed;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A subscription that goes on behind the last change seen, and before the first behind where it began. One that is cut
 * while it shows what there was begins anew, because the rest of a snapshot cannot be determined.
 */
final class ResumingChanges extends ResumingFeed<Change> {
    /** Subscribes in one attempt. */
    interface Subscribing {
        Feed<Change> open(Subscribe subscription) throws Trouble, InterruptedException;
    }

    private static final String SNAPSHOT = "snapshot";

    private final Subscribe subscription;
    private final Subscribing subscribing;
    private final @Nullable String begin;
    private @Nullable String after;

    ResumingChanges(
            ClientSettings settings,
            HttpWire wire,
            Subscribe subscription,
            Subscribing subscribing,
            Feed<Change> first) {
        super(settings, wire, first);
        this.subscription = subscription;
        this.subscribing = subscribing;
        this.begin = first.position();
        this.after = Boolean.TRUE.equals(subscription.metadata().get(SNAPSHOT)) ? null : begin;
    }

    @Override
    public @Nullable String position() {
        return begin;
    }

    @Override
    String name() {
        return "the subscription";
    }

    @Override
    List<Change> shown(List<Change> news) {
        Change last = news.getLast();
        if (last.metadata().get(SNAPSHOT) == null) {
            after = last.changeId();
        }
        return news;
    }

    @Override
    boolean isDone(boolean orderly) {
        return false;
    }

    @Override
    Opening<Change> again(RuntimeException cause) {
        Subscribe from = subscription;
        if (after != null) {
            var metadata = new LinkedHashMap<String, @Nullable Object>(subscription.metadata());
            metadata.put("afterChangeId", after);
            metadata.remove(SNAPSHOT);
            from = subscription.with(metadata);
        }
        Subscribe next = from;
        return () -> subscribing.open(next);
    }
}
