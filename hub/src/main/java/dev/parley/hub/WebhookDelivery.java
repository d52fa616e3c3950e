package dev.parley.hub;

import dev.parley.client.WebhookRule;
import dev.parley.client.WebhookSender;
import dev.parley.dialect.Notification;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.engine.spi.WebhookTransport;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import java.util.function.Supplier;

/** The engine's webhooks, carried by the client's sender. */
final class WebhookDelivery implements WebhookTransport {
    private final WebhookRule rule;
    private final WebhookSender sender;
    private final Metrics metrics;

    WebhookDelivery(WebhookRule rule, WebhookSender sender, Metrics metrics) {
        this.rule = rule;
        this.sender = sender;
        this.metrics = metrics;
    }

    @Override
    public void check(PushConfig config) {
        rule.check(config);
    }

    @Override
    public Outcome deliver(Subscription webhook, LoggedEvent event, Supplier<Task> task) throws InterruptedException {
        Notification notification =
                Notification.of(webhook.dialect(), webhook.config(), webhook.taskName(), event, task);
        if (notification == null) {
            return new Outcome.Accepted(); // nothing that clients of this dialect are told
        }
        Outcome outcome = switch (sender.send(webhook.config(), event.sequence(), notification)) {
            case WebhookSender.Outcome.Accepted accepted -> new Outcome.Accepted();
            case WebhookSender.Outcome.Refused refused ->
                new Outcome.Failed("status " + refused.status(), refused.retryable(), refused.retryAfter());
            case WebhookSender.Outcome.Failed failed -> new Outcome.Failed(failed.reason(), failed.retryable(), null);
        };
        metrics.attempted(outcome);
        return outcome;
    }
}
