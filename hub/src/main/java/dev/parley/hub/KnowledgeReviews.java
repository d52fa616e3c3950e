package dev.parley.hub;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.WireRequest;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.Review;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.KnowledgeOperation.UpdateResult;
import dev.parley.server.RequestHandler;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * For operators: updates of the knowledge graph that wait for somebody to look at them.
 *
 * <p>{@code GET /reviews} lists them, {@code POST /reviews/{id}/approve} and {@code …/reject} decide.
 */
final class KnowledgeReviews implements RequestHandler {
    private static final int LIMIT = 1_000;
    private static final Pattern DECIDE = Pattern.compile("/reviews/([^/]+)/(approve|reject)");

    private final SharedGraph shared;

    KnowledgeReviews(SharedGraph shared) {
        this.shared = shared;
    }

    @Override
    public WireAnswer answer(WireRequest request) {
        CallContext operator = CallContext.anonymous();
        Graph graph = shared.get();
        if (request.path().equals("/reviews")) {
            requireMethod(request, "GET");
            Review.State state = "all".equals(parameter(request, "state")) ? null : Review.State.PENDING;
            List<Map<String, @Nullable Object>> reviews =
                    graph.reviews(operator.scope().group(), state, null, LIMIT).items().stream()
                            .map(KnowledgeReviews::shown)
                            .toList();
            return json(Map.of("reviews", reviews));
        }
        Matcher decide = DECIDE.matcher(request.path());
        if (!decide.matches()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "No such path");
        }
        requireMethod(request, "POST");
        String type = request.header("Content-Type");
        if (type == null || !type.startsWith("application/json")) {
            // A web page can send other types to any address without being allowed to; this one it cannot.
            throw A2AException.of(
                    A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Type: " + type + " (expected: application/json)");
        }
        String remark = parameter(request, "remark");
        if (decide.group(2).equals("reject")) {
            graph.reject(decide.group(1), remark, operator);
            return json(Map.of());
        }
        UpdateResult result = graph.approve(decide.group(1), remark, operator);
        return new WireAnswer.Whole(200, Map.of("Content-Type", "application/json"), Json.write(result));
    }

    private static Map<String, @Nullable Object> shown(Review review) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("id", review.id());
        shown.put("state", review.state().name());
        shown.put("madeAt", review.madeAt().toString());
        shown.put("caller", review.caller());
        shown.put("reason", review.reason());
        shown.put("update", Json.read(Json.write(review.update()), Map.class));
        if (review.decidedAt() != null) {
            shown.put("decidedAt", review.decidedAt().toString());
            shown.put("decidedBy", review.decidedBy());
        }
        if (review.remark() != null) {
            shown.put("remark", review.remark());
        }
        return shown;
    }

    private static @Nullable String parameter(WireRequest request, String name) {
        List<String> given = request.query().get(name);
        return given == null || given.isEmpty() ? null : given.getFirst();
    }

    private static void requireMethod(WireRequest request, String method) {
        if (!request.method().equals(method)) {
            throw A2AException.of(A2AError.METHOD_NOT_ALLOWED);
        }
    }

    private static WireAnswer json(Map<String, ?> members) {
        return new WireAnswer.Whole(200, Map.of("Content-Type", "application/json"), Json.write(members));
    }
}
