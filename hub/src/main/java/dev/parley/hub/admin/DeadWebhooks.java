package dev.parley.hub.admin;

import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Handlers for webhooks whose deliveries were given up, and for the secrets that sign deliveries. */
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
                "webhooks/redeliver",
                (given, by) -> redeliver(given),
                "webhooks/secret",
                (given, by) -> secret(given.group()));
    }

    private Object secret(String group) {
        var shown = new LinkedHashMap<String, Object>();
        shown.put("group", group);
        shown.put("secret", secrets.of(group));
        return shown;
    }

    private Object redeliver(AdminParameters given) {
        if (!webhooks.redeliver(given.text("taskId"), given.text("configId"))) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND, "No webhook of that task and id was given up");
        }
        return Map.of();
    }

    private static Map<String, @Nullable Object> shown(Subscription dead) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("taskId", dead.task().taskId());
        shown.put("configId", dead.config().id());
        shown.put("agent", dead.task().agent());
        shown.put("url", dead.config().url());
        shown.put("attempts", dead.attempts());
        shown.put("deadSince", Objects.toString(dead.deadSince()));
        shown.put("lastError", dead.lastError());
        return shown;
    }
}
