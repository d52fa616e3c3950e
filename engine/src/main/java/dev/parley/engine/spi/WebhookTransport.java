package dev.parley.engine.spi;

import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.retry.Backoff;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Carries one event to one webhook. Safe for any thread. */
public interface WebhookTransport {
    /** Outcome of a delivery. */
    sealed interface Outcome {
        /** The webhook has it. */
        record Accepted() implements Outcome {}

        /**
         * The webhook does not have it, as far as is known.
         *
         * @param reason for people; no secrets
         * @param retryable false if offering it again cannot help
         * @param retryAfter pause that the webhook asked for; null for none
         * @param pauses of the notification, in the place of those of the engine; null for those
         */
        record Failed(
                String reason,
                boolean retryable,
                @Nullable Duration retryAfter,
                @Nullable Backoff pauses) implements Outcome {
            public Failed(String reason, boolean retryable, @Nullable Duration retryAfter) {
                this(reason, retryable, retryAfter, null);
            }
        }
    }

    /**
     * Refuses a webhook that must not be called. Blocks, with a bound.
     *
     * @param group of the caller, whose share of look-ups it uses
     * @throws A2AException INVALID_PARAMS with the problem
     */
    void check(String group, PushConfig config);

    /** Whether the webhooks of an owner's tasks in one context get their events in one order, if they have the same address. */
    default boolean ordersContexts(String dialect) {
        return false;
    }

    /**
     * Offers an event once. Blocks, with a bound; never throws for what the webhook does.
     *
     * @param task returns the task as it stands after the event
     */
    Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) throws InterruptedException;
}
