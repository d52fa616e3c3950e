package dev.parley.engine.scheduling;

import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.PushStore.ClaimResult;
import dev.parley.engine.spi.PushStore.Queue;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.protocol.retry.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * Claims of queues of webhooks by this engine, where several engines have their store: one of them at a time sends the events of a queue.
 * Safe for any thread.
 *
 * <p>An engine that may have events for a queue claims it. It sends until it finds none, and gives up the claim, or keeps the claim until
 * its next attempt to send. If another engine has the claim, that one looks once more before it gives it up, so each announced event is
 * found.
 */
public final class QueueClaims {
    private static final Logger LOG = System.getLogger("dev.parley.webhooks");

    /** Pauses of a claim that another engine delays: most of them for a commit, some until a paused one is ended. */
    private static final Backoff PAUSES = new Backoff(Duration.ofMillis(20), Duration.ofSeconds(1));

    private final PushStore store;
    private final Threads threads;
    private final Set<Queue> claimed = ConcurrentHashMap.newKeySet();
    /** Number of successive claims of a queue without a decision. */
    private final ConcurrentHashMap<Queue, Integer> undecided = new ConcurrentHashMap<>();

    // Of the thread that takes over; there is one at a time.
    private boolean isLookDue;
    private boolean hasFailed;

    public QueueClaims(PushStore store, Threads threads) {
        this.store = store;
        this.threads = threads;
    }

    /** Claims a queue. What this engine sends to it has to be read after that. */
    public ClaimResult claim(Queue queue) {
        ClaimResult claim = store.claim(queue);
        switch (claim) {
            case GRANTED -> {
                claimed.add(queue);
                undecided.remove(queue);
            }
            case TAKEN -> {
                claimed.remove(queue);
                undecided.remove(queue);
            }
            case BUSY -> {}
        }
        return claim;
    }

    /** Returns the pause until the next attempt to claim a queue. */
    public Duration pause(Queue queue) {
        return PAUSES.after(undecided.merge(queue, 1, Integer::sum), null, threads.random());
    }

    /** Gives up the claim of a queue in which no event was found; false if it is to be claimed again. */
    public boolean release(Queue queue) {
        boolean isReleased = store.release(queue);
        if (isReleased) {
            claimed.remove(queue);
        }
        return isReleased;
    }

    /** Leaves a queue to other engines, if this one has claimed it. */
    public void abandon(Queue queue) {
        if (claimed.remove(queue)) {
            abandon(List.of(queue));
        }
    }

    /**
     * Leaves the queues to other engines that this one has claimed for a later attempt.
     *
     * @param sending those that are sent at the moment: another engine must not send to them yet
     */
    public void abandonAllBut(Collection<Queue> sending) {
        var waiting = new ArrayList<Queue>();
        for (Queue queue : List.copyOf(claimed)) {
            if (!sending.contains(queue) && claimed.remove(queue)) {
                waiting.add(queue);
            }
        }
        if (!waiting.isEmpty()) {
            abandon(waiting);
        }
    }

    private void abandon(List<Queue> queues) {
        try {
            store.abandon(queues);
        } catch (RuntimeException closed) {
            LOG.log(Level.DEBUG, "queues of webhooks are left to other engines once this one has ended", closed);
        }
    }

    /**
     * Looks at the webhooks that another engine may have left because it has ended; those left out by a failure are looked at the next
     * time. Called by one thread at a time.
     */
    public void takeOver(Consumer<Subscription> look) {
        try {
            isLookDue |= store.releaseEnded();
            if (isLookDue) {
                store.pending().forEach(look);
            }
            isLookDue = false;
        } catch (RuntimeException | Error failure) {
            isLookDue = true; // some may be released all the same
            failed(failure);
        }
    }

    /** Returns those of some queues that this engine has claimed and of which other engines have news. Called after {@link #takeOver}. */
    public Set<Queue> marked(Collection<Queue> queues) {
        try {
            Set<Queue> own = queues.stream().filter(claimed::contains).collect(Collectors.toSet());
            Set<Queue> marked = own.isEmpty() ? Set.of() : store.marked(own);
            hasFailed &= isLookDue;
            return marked;
        } catch (RuntimeException | Error failure) { // the next look finds the marks
            failed(failure);
            return Set.of();
        }
    }

    private void failed(Throwable failure) {
        if (!hasFailed) {
            LOG.log(Level.WARNING, "webhooks of other engines cannot be looked at; it is tried each second", failure);
        }
        hasFailed = true;
    }
}
