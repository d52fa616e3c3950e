package dev.parley.engine.spi;

import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.support.Sha256;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Webhooks and the position of each in the events of its task. Writes are on disk when the method returns. Safe for any thread.
 *
 * <p>Several engines may have a store. Then one of them at a time sends the events of a {@linkplain Queue queue}: the one that has
 * {@linkplain #claim claimed} it. The methods for claims do nothing in a store that one engine has.
 */
public interface PushStore {
    /** A sequence of deliveries. */
    sealed interface Queue {
        /** The events of one webhook. */
        record Single(TaskKey task, String configId) implements Queue {
            @Override
            public String group() {
                return task.scope().group();
            }

            @Override
            public String id() {
                return Sha256.hex("webhook\n" + task.taskId() + "\n" + configId);
            }

            @Override
            public String toString() {
                return "webhook " + configId + " of task " + task.taskId();
            }
        }

        /** The events of the webhooks of a channel. */
        record Channel(String group, String name) implements Queue {
            @Override
            public String id() {
                return Sha256.hex("channel\n" + group + "\n" + name);
            }

            @Override
            public String toString() {
                return "webhooks of channel " + name;
            }
        }

        String group();

        /** A text of 64 digits that no other queue has. */
        String id();
    }

    /** Result of a claim of a queue. */
    enum ClaimResult {
        /** This engine sends. */
        GRANTED,
        /** Another engine sends. It looks for events once more before it gives up its claim. */
        TAKEN,
        /** Unknown, since another engine claims the queue, or gives it up, at the moment. Nothing has changed. */
        BUSY
    }

    /** Result of the record of a delivery. */
    enum Recorded {
        DONE,
        /** The webhook has been deleted or registered anew, or this engine does not have the claim of its queue. */
        REFUSED,
        /** Nothing has changed, since another engine is changing the webhook at the moment. */
        BUSY
    }

    /**
     * A webhook of a task with its delivery state.
     *
     * @param dialect of its notifications
     * @param taskName what its owner calls the task; null if by its id
     * @param delivered sequence number of the last event that it accepted, or of the last one before its registration
     * @param attempts how often the next event was offered in vain
     * @param nextAttempt not before then; null means at once
     * @param deadSince when deliveries were given up; null while they go on
     * @param lastError what went wrong last; null if nothing has
     * @param channel common to the webhooks that get their events in one order; null for a webhook with an order of its own
     * @param generation a number that no other registration has, under the same id or not
     */
    record Subscription(
            TaskKey task,
            PushConfig config,
            String dialect,
            @Nullable String taskName,
            long delivered,
            int attempts,
            @Nullable Instant nextAttempt,
            @Nullable Instant deadSince,
            @Nullable String lastError,
            @Nullable String channel,
            long generation) {
        /** Returns a webhook for all events after {@code after}. */
        public static Subscription of(
                TaskKey task, PushConfig config, String dialect, @Nullable String taskName, long after) {
            long generation = ThreadLocalRandom.current().nextLong();
            return new Subscription(task, config, dialect, taskName, after, 0, null, null, null, null, generation);
        }

        /** Returns the queue in which its events are sent. */
        public Queue queue() {
            return channel == null
                    ? new Queue.Single(task, Objects.requireNonNull(config.id()))
                    : new Queue.Channel(task.scope().group(), channel);
        }

        /** Returns this webhook in a channel. */
        public Subscription in(@Nullable String channel) {
            return new Subscription(
                    task,
                    config,
                    dialect,
                    taskName,
                    delivered,
                    attempts,
                    nextAttempt,
                    deadSince,
                    lastError,
                    channel,
                    generation);
        }

        /** Returns this webhook after the delivery of all events up to {@code sequence}. */
        public Subscription delivered(long sequence) {
            return new Subscription(
                    task, config, dialect, taskName, sequence, 0, null, null, null, channel, generation);
        }

        /** Returns this webhook after another failed attempt. */
        public Subscription failed(
                int attempts, @Nullable Instant nextAttempt, @Nullable Instant deadSince, String error) {
            return new Subscription(
                    task,
                    config,
                    dialect,
                    taskName,
                    delivered,
                    attempts,
                    nextAttempt,
                    deadSince,
                    error,
                    channel,
                    generation);
        }
    }

    /**
     * Adds a webhook, or replaces the one with the same task and config id.
     *
     * @param cause the call that registers it, for an audit in the same transaction
     */
    void save(Subscription subscription, Cause cause);

    /**
     * Records how far a webhook is, unless it has been deleted or registered anew meanwhile, or this engine does not have the claim of its
     * queue. Does not wait for other engines.
     */
    Recorded advance(Subscription subscription);

    /**
     * Takes a webhook up again that was given up, on behalf of an operator. Needs no claim.
     *
     * @return whether it is still there
     * @throws dev.parley.protocol.A2AException UNAVAILABLE if another engine is changing it at the moment
     */
    default boolean revive(Subscription dead) {
        return advance(dead.delivered(dead.delivered())) == Recorded.DONE;
    }

    /** Claims a queue for this engine, which has to look for its events after that. */
    default ClaimResult claim(Queue queue) {
        return ClaimResult.GRANTED;
    }

    /**
     * Gives up the claim of a queue in which no event was found.
     *
     * @return false if this engine has to claim it again, and to look once more: another engine may have found events in it
     */
    default boolean release(Queue queue) {
        return true;
    }

    /** Gives up claims of queues that may have events, to be {@linkplain #releaseEnded released} by other engines. */
    default void abandon(Collection<Queue> queues) {}

    /**
     * Releases queues of engines that have ended or {@linkplain #abandon abandoned} them.
     *
     * @return whether all {@link #pending()} webhooks are to be looked at: this call has released some, or an engine has ended
     */
    default boolean releaseEnded() {
        return false;
    }

    /** Returns those of some queues that this engine has claimed in which other engines may have found events. */
    default Set<Queue> marked(Set<Queue> claimed) {
        return Set.of();
    }

    /** False if this engine has to assume that its claims are not valid any more. Costs nothing. */
    default boolean maySend() {
        return true;
    }

    /** Returns one webhook, or empty if there is none. */
    Optional<Subscription> find(TaskKey task, String configId);

    /** Returns the webhooks of a task in the order in which they were made. */
    List<Subscription> of(TaskKey task);

    /**
     * Removes a webhook.
     *
     * @param cause the call that deletes it, for an audit in the same transaction
     * @return whether there was one
     */
    boolean delete(TaskKey task, String configId, Cause cause);

    /** Returns the webhooks with undelivered events that are not given up. */
    List<Subscription> pending();

    /** Returns the webhooks of a channel with undelivered events that are not given up. */
    List<Subscription> pending(String channel);

    /** Returns the webhooks that were given up, newest first. */
    List<Subscription> dead(int limit);
}
