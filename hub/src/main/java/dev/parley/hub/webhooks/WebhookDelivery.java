package dev.parley.hub.webhooks;

import dev.parley.client.spi.Traces;
import dev.parley.client.webhooks.WebhookHeaders;
import dev.parley.client.webhooks.WebhookSender;
import dev.parley.dialect.Notifications;
import dev.parley.dialect.spi.Notification;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.extension.HubObserver;
import dev.parley.hub.observation.Metrics;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The engine's webhooks, carried by the client's sender, in the trace under which their task was begun.
 *
 * @param causes returns the principal that began a task, and its trace
 * @param permission decides whether anything is sent
 * @param numbers whether notifications in A2A 1.0 show the numbers of events: a preview of A2A 1.1
 */
public record WebhookDelivery(
        AddressRule rule,
        WebhookSender sender,
        WebhookSecrets secrets,
        Function<TaskKey, Optional<Cause>> causes,
        Permission permission,
        Finish finished,
        Observation observation,
        boolean numbers)
        implements WebhookTransport {
    /** Receivers of the outcome of each attempt. */
    public record Observation(Metrics metrics, List<HubObserver> observers, Traces traces) {}

    /**
     * Decides whether notifications are sent.
     *
     * @param enabled whether the owner of a task is enabled
     * @param obstacle why this hub sends nothing at present; empty if it does
     */
    public record Permission(Predicate<Scope> enabled, Supplier<Optional<String>> obstacle) {}

    /** Last change of a notification of a task in a dialect. */
    @FunctionalInterface
    public interface Finish {
        Notification apply(TaskKey task, String dialect, Notification notification);
    }

    @Override
    public void check(String group, PushConfig config) {
        rule.check(group, config.url());
        WebhookHeaders.check(config);
    }

    @Override
    public boolean ordersContexts(String dialect) {
        return Notifications.orderContexts(dialect);
    }

    @Override
    public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) throws InterruptedException {
        Notification notification;
        try {
            LoggedEvent shown =
                    numbers && webhook.dialect().equals(CallContext.V1) ? Notifications.numbered(event) : event;
            notification = Notifications.of(webhook.dialect(), webhook.config(), webhook.taskName(), shown, task);
        } catch (IllegalArgumentException unknown) { // a damaged row; a later attempt would not know it either
            return new Outcome.Failed(String.valueOf(unknown.getMessage()), false, null);
        }
        if (notification == null) {
            return new Outcome.Accepted(); // clients of this dialect get no notification of it
        }
        TaskKey key = webhook.task();
        long begun = System.nanoTime();
        if (!permission.enabled().test(key.scope())) {
            return new Outcome.Failed("the owner of the task is disabled", false, null);
        }
        Optional<Cause> cause = causes.apply(key);
        Span span =
                observation.traces().begin(SpanKind.CLIENT, "webhook " + key.agent(), key.agent(), context(key, cause));
        Traces.noteTask(span, null, key.taskId());
        try {
            String trace = Traces.traceparent(span, null);
            Notification last = finished.apply(key, webhook.dialect(), notification);
            Notification first = last.first();
            Outcome outcome = new Outcome.Accepted();
            if (first != null) { // with an id of its own for the receiver
                Notification finishedFirst = finished.apply(key, webhook.dialect(), first);
                outcome = offer(webhook, -event.sequence(), finishedFirst.inTrace(trace));
            }
            if (outcome instanceof Outcome.Accepted) {
                outcome = offer(webhook, event.sequence(), last.inTrace(trace));
            }
            outcome = retried(outcome, last.retries(), webhook.attempts() + 1);
            observation.metrics().attempted(key.agent(), webhook.dialect(), outcome, System.nanoTime() - begun);
            boolean accepted = outcome instanceof Outcome.Accepted;
            String caller = cause.map(Cause::caller).orElse("");
            observation.observers().forEach(one -> one.offered(key, caller, accepted));
            if (outcome instanceof Outcome.Failed) {
                span.setStatus(StatusCode.ERROR);
            }
            return outcome;
        } finally {
            span.end();
        }
    }

    /** The outcome with the further attempts of a notification. */
    private static Outcome retried(Outcome outcome, Notification.@Nullable Retries retries, int failures) {
        if (retries == null || !(outcome instanceof Outcome.Failed failed) || !failed.retryable()) {
            return outcome;
        }
        return new Outcome.Failed(failed.reason(), failures <= retries.most(), failed.retryAfter(), retries.pauses());
    }

    private static CallContext context(TaskKey key, Optional<Cause> cause) {
        @Nullable String traceparent = cause.map(Cause::traceparent).orElse(null);
        return CallContext.of(key.scope().owner(), key.scope()).withTraceparent(traceparent);
    }

    private Outcome offer(Subscription webhook, long number, Notification notification) throws InterruptedException {
        Optional<String> obstacle = permission.obstacle().get();
        if (obstacle.isPresent()) { // perhaps only now, after a pause of the program
            return new Outcome.Failed(obstacle.get(), true, null);
        }
        String group = webhook.task().scope().group();
        return switch (sender.send(group, webhook.config(), number, notification, secrets.signer(group))) {
            case WebhookSender.Outcome.Accepted accepted -> new Outcome.Accepted();
            case WebhookSender.Outcome.Refused refused ->
                new Outcome.Failed("status " + refused.status(), refused.retryable(), refused.retryAfter());
            case WebhookSender.Outcome.Failed failed -> new Outcome.Failed(failed.reason(), failed.retryable(), null);
        };
    }
}
