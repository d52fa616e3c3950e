package dev.parley.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.engine.Webhooks;
import dev.parley.engine.spi.PushStore.Subscription;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.RequestHandler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * For operators: webhooks whose deliveries were given up, and taking one up again.
 *
 * <p>{@code GET /dead} lists them, {@code POST /{task}/{config}/redeliver} offers again what was not accepted.
 */
final class DeadWebhooks implements RequestHandler {
    private static final int LIMIT = 1_000;
    private static final Pattern REDELIVER = Pattern.compile("/([^/]+)/([^/]+)/redeliver");

    private final Webhooks webhooks;

    DeadWebhooks(Webhooks webhooks) {
        this.webhooks = webhooks;
    }

    @Override
    public WireAnswer answer(WireRequest request) {
        if (request.path().equals("/dead")) {
            requireMethod(request, "GET");
            return json(webhooks.dead(LIMIT).stream().map(DeadWebhooks::shown).toList());
        }
        Matcher redeliver = REDELIVER.matcher(request.path());
        if (!redeliver.matches()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "No such path");
        }
        requireMethod(request, "POST");
        String type = request.header("Content-Type");
        if (type == null || !type.startsWith("application/json")) {
            // A web page can send other types to any address without being allowed to; this one it cannot.
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Type: " + type + " (expected: application/json)");
        }
        if (!webhooks.redeliver(redeliver.group(1), redeliver.group(2))) {
            throw A2AException.of(A2AError.TASK_NOT_FOUND, "No webhook of that task and id was given up");
        }
        return json(Map.of());
    }

    private static void requireMethod(WireRequest request, String method) {
        if (!request.method().equals(method)) {
            throw A2AException.of(A2AError.METHOD_NOT_ALLOWED, request.method() + " (expected: " + method + ")");
        }
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

    private static WireAnswer json(Object value) {
        Object body = value instanceof List<?> list ? Map.of("webhooks", list) : value;
        return new WireAnswer.Whole(200, Map.of("Content-Type", "application/json"), Json.write(body));
    }
}
