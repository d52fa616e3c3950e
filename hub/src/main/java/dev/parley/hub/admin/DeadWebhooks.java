package dev.parley.hub.admin;

import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.extension.Handlers;
import dev.parley.hub.admin.WebhookOperation.DeadView;
import dev.parley.hub.admin.WebhookOperation.Redeliver;
import dev.parley.hub.admin.WebhookOperation.SecretView;
import dev.parley.hub.admin.WebhookOperation.WaitingView;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;

/** Handlers for webhooks whose deliveries fail or were given up, and for the secrets that sign deliveries. */
final class DeadWebhooks {
    private static final int LIMIT = 1_000;

    private final Webhooks webhooks;
    private final WebhookSecrets secrets;

    DeadWebhooks(Webhooks webhooks, WebhookSecrets secrets) {
        this.webhooks = webhooks;
        this.secrets = secrets;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(
                        WebhookOperation.DEAD,
                        (list, by) -> webhooks.dead(LIMIT).stream()
                                .map(DeadWebhooks::shown)
                                .toList())
                .call(
                        WebhookOperation.WAITING,
                        (list, by) -> webhooks.waiting(LIMIT).stream()
                                .map(DeadWebhooks::waiting)
                                .toList())
                .call(WebhookOperation.REDELIVER, (given, by) -> redeliver(given))
                .call(WebhookOperation.SECRET, (given, by) -> new SecretView(given.group(), secrets.of(given.group())));
    }

    private Operation.Empty redeliver(Redeliver given) {
        if (!webhooks.redeliver(given.taskId(), given.configId())) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND, "No webhook of that task and id was given up");
        }
        return new Operation.Empty();
    }

    private static DeadView shown(Subscription dead) {
        return new DeadView(
                dead.task().taskId(),
                String.valueOf(dead.config().id()),
                dead.task().agent(),
                dead.config().url(),
                dead.attempts(),
                dead.deadSince(),
                dead.lastError());
    }

    private static WaitingView waiting(Subscription failed) {
        return new WaitingView(
                failed.task().taskId(),
                String.valueOf(failed.config().id()),
                failed.task().agent(),
                failed.config().url(),
                failed.attempts(),
                failed.nextAttempt(),
                failed.lastError());
    }
}
