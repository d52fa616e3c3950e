package dev.parley.hub.admin;

import static dev.parley.extension.AnswerSchema.answer;
import static dev.parley.hub.admin.AdminOperations.DEAD_WEBHOOK;
import static dev.parley.hub.admin.AdminOperations.WAITING_WEBHOOK;
import static dev.parley.hub.admin.AdminOperations.WEBHOOK_SECRET;

import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.Map;

/** Handlers for webhooks whose deliveries fail or were given up, and for the secrets that sign deliveries. */
final class DeadWebhooks {
    private static final int LIMIT = 1_000;

    private final Webhooks webhooks;
    private final WebhookSecrets secrets;

    DeadWebhooks(Webhooks webhooks, WebhookSecrets secrets) {
        this.webhooks = webhooks;
        this.secrets = secrets;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "webhooks/dead",
                (given, by) -> Map.of(
                        "webhooks",
                        webhooks.dead(LIMIT).stream().map(DeadWebhooks::shown).toList()),
                "webhooks/waiting",
                (given, by) -> Map.of(
                        "webhooks",
                        webhooks.waiting(LIMIT).stream()
                                .map(DeadWebhooks::waiting)
                                .toList()),
                "webhooks/redeliver",
                (given, by) -> redeliver(given),
                "webhooks/secret",
                (given, by) -> answer(WEBHOOK_SECRET, given.group(), secrets.of(given.group())));
    }

    private Object redeliver(AdminParameters given) {
        if (!webhooks.redeliver(given.text("taskId"), given.text("configId"))) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND, "No webhook of that task and id was given up");
        }
        return Map.of();
    }

    private static Map<String, Object> shown(Subscription dead) {
        return answer(
                DEAD_WEBHOOK,
                dead.task().taskId(),
                dead.config().id(),
                dead.task().agent(),
                dead.config().url(),
                dead.attempts(),
                dead.deadSince(),
                dead.lastError());
    }

    private static Map<String, Object> waiting(Subscription failed) {
        return answer(
                WAITING_WEBHOOK,
                failed.task().taskId(),
                failed.config().id(),
                failed.task().agent(),
                failed.config().url(),
                failed.attempts(),
                failed.nextAttempt(),
                failed.lastError());
    }
}
