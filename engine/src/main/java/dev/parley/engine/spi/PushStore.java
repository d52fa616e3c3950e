package dev.parley.engine.spi;

import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.PushConfig;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Webhooks and the position of each in the events of its task. Writes are on disk when the method returns. Safe for any thread.
 */
public interface PushStore {
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
     * Records how far a webhook is, unless it has been deleted or registered anew meanwhile.
     *
     * @return whether it is still there
     */
    boolean advance(Subscription subscription);

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
