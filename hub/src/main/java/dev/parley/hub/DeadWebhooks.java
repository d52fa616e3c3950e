package dev.parley.hub;

import dev.parley.dialect.WireAnswer;
import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * For operators: webhooks whose deliveries were given up, taking one up again, and the secrets that sign deliveries.
 *
 * <p>{@code GET /dead} lists webhooks, {@code POST /{task}/{config}/redeliver} offers again what was not accepted, {@code POST
 * /secret} returns the secret of a group.
 */
final class DeadWebhooks implements AdminPages {
    private static final int LIMIT = 1_000;

    private final Webhooks webhooks;
    private final WebhookSecrets secrets;

    DeadWebhooks(Webhooks webhooks, WebhookSecrets secrets) {
        this.webhooks = webhooks;
        this.secrets = secrets;
    }

    @Override
    public WireAnswer answer(AdminRequest request, CallContext operator) {
        if (request.steps() == 1 && request.step(0).equals("dead")) {
            request.requireGet();
            return AdminRequest.json(Map.of(
                    "webhooks",
                    webhooks.dead(LIMIT).stream().map(DeadWebhooks::shown).toList()));
        }
        if (request.steps() == 1 && request.step(0).equals("secret")) {
            request.requirePost(); // a page of another site can send a GET
            String group = request.text("group");
            return AdminRequest.json(Map.of("group", group, "secret", secrets.of(group)));
        }
        if (request.steps() != 3 || !request.step(2).equals("redeliver")) {
            throw request.nothingHere();
        }
        request.requirePost();
        if (!webhooks.redeliver(request.step(0), request.step(1))) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND, "No webhook of that task and id was given up");
        }
        return AdminRequest.json(Map.of());
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
