package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNullElse;

import dev.parley.dialect.Json;
import dev.parley.dialect.WireAnswer;
import dev.parley.knowledge.Alignment;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.Review;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import dev.parley.trust.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * For operators: rules and shapes of a group's knowledge graph, and updates of it that wait for a review.
 *
 * <p>{@code GET /rules} and {@code GET /shapes} show them, {@code POST} sets them. {@code GET /reviews} lists what waits, {@code
 * POST /reviews/{id}/approve} and {@code …/reject} decide. All take a {@code group}.
 */
final class KnowledgePages implements AdminPages {
    private static final int LIMIT = 1_000;

    private final SharedGraph shared;

    KnowledgePages(SharedGraph shared) {
        this.shared = shared;
    }

    @Override
    public WireAnswer answer(AdminRequest request, CallContext operator) {
        CallContext by = operator.among(requireNonNullElse(request.parameter("group"), Principal.DEFAULT_GROUP));
        if (request.steps() == 1) {
            return switch (request.step(0)) {
                case "rules" -> rules(request, by);
                case "shapes" -> shapes(request, by);
                case "reviews" -> reviews(request, by);
                default -> throw request.nothingHere();
            };
        }
        if (request.steps() != 3 || !request.step(0).equals("reviews")) {
            throw request.nothingHere();
        }
        boolean approve = request.oneOf(2, "approve", "reject");
        request.requirePost();
        String remark = request.parameter("remark");
        if (approve) {
            return json(Json.write(shared.get().approve(request.step(1), remark, by)));
        }
        shared.get().reject(request.step(1), remark, by);
        return AdminRequest.json(Map.of());
    }

    private WireAnswer rules(AdminRequest request, CallContext by) {
        Graph graph = shared.get();
        if (request.isPost()) {
            try {
                graph.rules(Alignment.read(request.body()), by);
            } catch (InvalidField wrong) {
                throw A2AException.invalidParams(wrong.field(), wrong.problem());
            }
        }
        return json(graph.rules(by.scope().group()).json().getBytes(UTF_8));
    }

    private WireAnswer shapes(AdminRequest request, CallContext by) {
        Graph graph = shared.get();
        if (request.isPost()) {
            graph.shapes(request.text("turtle"), by);
        }
        return AdminRequest.json(Map.of("turtle", graph.shapesText(by.scope().group())));
    }

    private WireAnswer reviews(AdminRequest request, CallContext by) {
        request.requireGet();
        Review.State state = "all".equals(request.parameter("state")) ? null : Review.State.PENDING;
        List<Map<String, @Nullable Object>> reviews =
                shared.get().reviews(by.scope().group(), state, null, LIMIT).items().stream()
                        .map(KnowledgePages::shown)
                        .toList();
        return AdminRequest.json(Map.of("reviews", reviews));
    }

    private static WireAnswer json(byte[] body) {
        return new WireAnswer.Whole(200, Map.of("Content-Type", "application/json"), body);
    }

    static Map<String, @Nullable Object> shown(Review review) {
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
}
