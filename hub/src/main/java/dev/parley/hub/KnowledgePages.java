package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.knowledge.Alignment;
import dev.parley.knowledge.Review;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Handlers for rules and shapes of a group's knowledge graph, and for updates of it that wait for a review. */
final class KnowledgePages {
    private static final int LIMIT = 1_000;

    private final SharedGraph shared;

    KnowledgePages(SharedGraph shared) {
        this.shared = shared;
    }

    Map<String, AdminHandler> handlers() {
        return Map.of(
                "knowledge/rules", (given, by) -> rules(given),
                "knowledge/rules/set", this::setRules,
                "knowledge/shapes", (given, by) -> shapes(given),
                "knowledge/shapes/set", this::setShapes,
                "knowledge/reviews/list", (given, by) -> reviews(given),
                "knowledge/reviews/approve", this::approve,
                "knowledge/reviews/reject", this::reject);
    }

    private Object rules(AdminParameters given) {
        return Json.read(shared.get().rules(given.group()).json().getBytes(UTF_8), Map.class);
    }

    private static Alignment rules(@Nullable Object json) {
        return Alignment.read(new String(Json.write(json), UTF_8));
    }

    private Object setRules(AdminParameters given, CallContext by) {
        try {
            shared.get().rules(rules(given.values().get("rules")), by.among(given.group()));
        } catch (InvalidField wrong) {
            throw A2AException.invalidParams(wrong.field(), wrong.problem());
        }
        return rules(given);
    }

    private Object shapes(AdminParameters given) {
        return Map.of("turtle", shared.get().shapesText(given.group()));
    }

    private Object setShapes(AdminParameters given, CallContext by) {
        shared.get().shapes(given.text("turtle"), by.among(given.group()));
        return shapes(given);
    }

    private Object reviews(AdminParameters given) {
        Review.State state = "all".equals(given.textOrNull("state")) ? null : Review.State.PENDING;
        return Map.of(
                "reviews",
                shared.get().reviews(given.group(), state, null, LIMIT).items().stream()
                        .map(KnowledgePages::shown)
                        .toList());
    }

    private Object approve(AdminParameters given, CallContext by) {
        return shared.get().approve(given.text("id"), given.textOrNull("remark"), by.among(given.group()));
    }

    private Object reject(AdminParameters given, CallContext by) {
        shared.get().reject(given.text("id"), given.textOrNull("remark"), by.among(given.group()));
        return Map.of();
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
