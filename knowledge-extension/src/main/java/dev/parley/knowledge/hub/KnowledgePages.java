package dev.parley.knowledge.hub;

import static dev.parley.extension.AnswerSchema.ANY;
import static dev.parley.extension.AnswerSchema.NOTHING;
import static dev.parley.extension.AnswerSchema.TEXT;
import static dev.parley.extension.AnswerSchema.TIME;
import static dev.parley.extension.AnswerSchema.list;
import static dev.parley.extension.AnswerSchema.object;
import static dev.parley.protocol.extension.RestParameter.member;
import static dev.parley.protocol.extension.RestParameter.path;
import static dev.parley.protocol.extension.RestParameter.query;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.extension.AdminRow;
import dev.parley.knowledge.Alignment;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Page;
import dev.parley.knowledge.model.Review;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Operations of the administration: rules and shapes of a group's knowledge graph, updates of it that wait for a review, and the
 * data of a principal in it.
 */
final class KnowledgePages {
    private static final int MOST = 1_000;

    private final Supplier<Graph> shared;

    KnowledgePages(Supplier<Graph> shared) {
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
                "knowledge/reviews/reject", this::reject,
                "privacy/statements", (given, by) -> statements(given),
                "privacy/reviews", (given, by) -> reviewsOf(given),
                "privacy/questions", (given, by) -> questions(given));
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
                shared.get().reviews(given.group(), state, null, MOST).items().stream()
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

    private Object statements(AdminParameters given) {
        Page<Statement> page =
                shared.get().saidBy(given.group(), given.text("principal"), given.textOrNull("after"), MOST);
        return page("statements", page.items(), page.next());
    }

    private Object reviewsOf(AdminParameters given) {
        Page<Review> page =
                shared.get().reviewsOf(given.group(), given.text("principal"), given.textOrNull("after"), MOST);
        return page("reviews", page.items().stream().map(KnowledgePages::shown).toList(), page.next());
    }

    private Object questions(AdminParameters given) {
        List<LoggedQuery> entries =
                shared.get().queriesOf(given.group(), given.text("principal"), number(given.textOrNull("after")), MOST);
        return page(
                "questions",
                entries.stream()
                        .map(one -> Map.of(
                                "at",
                                one.at().toString(),
                                "operation",
                                one.operation(),
                                "outcome",
                                one.outcome(),
                                "detail",
                                one.detail()))
                        .toList(),
                entries.size() < MOST ? null : Long.toString(entries.getLast().number()));
    }

    private static long number(@Nullable String after) {
        try {
            return after == null ? 0 : Long.parseLong(after);
        } catch (NumberFormatException wrong) {
            throw A2AException.invalidParams("after", after + " (expected: a number)");
        }
    }

    private static Map<String, Object> page(String name, List<?> items, @Nullable String next) {
        return next == null ? Map.of(name, items) : Map.of(name, items, "next", next);
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

    /** Rows of the operations. */
    static List<ExtensionMethod<?, ?>> rows() {
        var rows = new ArrayList<ExtensionMethod<?, ?>>();
        RestParameter group = query("group", Type.TEXT, "GROUP", "Group of the graph. Default: the group default.");
        Map<String, Object> shapes = object("turtle", TEXT);
        rows.add(AdminRow.of("knowledge/rules", "GET /knowledge/rules", "Show the rules of a group", ANY, group));
        rows.add(AdminRow.of(
                "knowledge/rules/set",
                "POST /knowledge/rules",
                "Set the rules of a group",
                ANY,
                RestParameter.body("rules", "FILE", "The rules."),
                group));
        rows.add(AdminRow.of(
                "knowledge/shapes", "GET /knowledge/shapes", "Show the SHACL shapes of a group", shapes, group));
        rows.add(AdminRow.of(
                "knowledge/shapes/set",
                "POST /knowledge/shapes",
                "Set the SHACL shapes of a group",
                shapes,
                member("turtle", Type.TEXT, "FILE", "SHACL in Turtle, empty for none.")
                        .asRequired(),
                group));
        rows.add(AdminRow.of(
                "knowledge/reviews/list",
                "GET /knowledge/reviews",
                "List them",
                object("reviews", list(review())),
                query("state", Type.TEXT, "STATE", "all: also those that were decided."),
                group));
        RestParameter id = path("id", "REVIEW-ID", "The number under which it waits.");
        RestParameter remark = query("remark", Type.TEXT, "TEXT", "Remark for the history.");
        rows.add(AdminRow.of(
                "knowledge/reviews/approve",
                "POST /knowledge/reviews/{id}/approve",
                "Apply an update",
                ANY,
                id,
                remark,
                group));
        rows.add(AdminRow.of(
                "knowledge/reviews/reject",
                "POST /knowledge/reviews/{id}/reject",
                "Discard an update",
                NOTHING,
                id,
                remark,
                group));
        personal(rows, "statements", "List the statements of a principal", ANY);
        personal(rows, "reviews", "List the reviewed and waiting updates of a principal", review());
        personal(
                rows,
                "questions",
                "List the queries of a principal",
                object("at", TIME, "operation outcome", TEXT, "detail", ANY));
        return rows;
    }

    private static void personal(
            List<ExtensionMethod<?, ?>> rows, String what, String summary, Map<String, Object> item) {
        rows.add(AdminRow.of(
                "privacy/" + what,
                "GET /privacy/" + what,
                summary,
                object(what, list(item), "next?", TEXT),
                query("principal", Type.TEXT, "NAME", "The principal, as its keys or tokens name it.")
                        .flag("--subject")
                        .asRequired(),
                query("group", Type.TEXT, "GROUP", "Its group; default: default."),
                query("after", Type.TEXT, "ID", "Behind this position, which is next of another answer.")));
    }

    private static Map<String, Object> review() {
        return object(
                "id state",
                TEXT,
                "madeAt",
                TIME,
                "caller reason?",
                TEXT,
                "update",
                ANY,
                "decidedAt?",
                TIME,
                "decidedBy? remark?",
                TEXT);
    }
}
