package dev.parley.knowledge.hub;

import static dev.parley.protocol.json.Codecs.STRUCT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TIME;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.extension.PersonalRead;
import dev.parley.knowledge.Alignment;
import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.InstalledExtensions;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.json.WordCodecs;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Operations of the administration on the knowledge graphs of groups: rules, shapes, updates that wait for a review, and the data of
 * principals. Their requests, their answers, and a row for each.
 */
final class GraphOperation {
    private GraphOperation() {}

    @AdminCall.Named("knowledge/rules")
    record ShowRules(String group) implements AdminCall<Alignment> {}

    @AdminCall.Named("knowledge/rules/set")
    record SetRules(Alignment rules, String group) implements AdminCall<Alignment> {}

    @AdminCall.Named("knowledge/shapes")
    record ShowShapes(String group) implements AdminCall<ShapesView> {}

    @AdminCall.Named("knowledge/shapes/set")
    record SetShapes(String turtle, String group) implements AdminCall<ShapesView> {}

    /** Reviews of a list: those that wait, or also those that were decided. */
    enum Listed {
        PENDING,
        ALL
    }

    @AdminCall.Named("knowledge/reviews/list")
    record ListReviews(Listed state, String group) implements AdminCall<List<Review>> {}

    @AdminCall.Named("knowledge/reviews/approve")
    record ApproveUpdate(String id, @Nullable String remark, String group) implements AdminCall<UpdateResult> {}

    @AdminCall.Named("knowledge/reviews/reject")
    record RejectUpdate(String id, @Nullable String remark, String group) implements AdminCall<Operation.Empty> {}

    @AdminCall.Named("privacy/statements")
    record ListStatements(
            String principal, String group, @Nullable String after)
            implements AdminCall<StatementPage<Statement>>, PersonalRead {}

    @AdminCall.Named("privacy/reviews")
    record ListReviewed(
            String principal, String group, @Nullable String after)
            implements AdminCall<StatementPage<Review>>, PersonalRead {}

    @AdminCall.Named("privacy/questions")
    record ListQuestions(
            String principal, String group, @Nullable String after)
            implements AdminCall<StatementPage<LoggedQuery>>, PersonalRead {}

    /** The SHACL shapes of a group, in Turtle. */
    record ShapesView(String turtle) {}

    /** The document of the rules, which {@link Alignment} defines. */
    private static final Codec<Alignment> RULES =
            Codecs.via(STRUCT, json -> Alignment.read(new String(Json.write(json), UTF_8)), GraphOperation::members);

    @SuppressWarnings("unchecked") // a JSON object
    private static Map<String, @Nullable Object> members(Alignment rules) {
        return Json.read(rules.json().getBytes(UTF_8), Map.class);
    }

    /** Any word but {@code all} means those that wait. */
    private static final Codec<Listed> LISTED =
            WordCodecs.reading(Codecs.words(Listed.class), word -> word.equals("all") ? Listed.ALL : Listed.PENDING);

    private static final Codec<ShapesView> SHAPES = ObjectCodec.<ShapesView>of()
            .required("turtle", TEXT, ShapesView::turtle)
            .as(v -> new ShapesView(v.next()));

    private static final Codec<Review> REVIEW = ObjectCodec.<Review>of()
            .required("id", TEXT, Review::id)
            .required("state", Codecs.enumeration("", Review.State.class), Review::state)
            .required("madeAt", TIME, Review::madeAt)
            .required("caller", TEXT, Review::caller)
            .required("reason", TEXT, Review::reason)
            .required("update", InstalledExtensions.codec(Update.class), Review::update)
            .optional("decidedAt", TIME, Review::decidedAt)
            .optional("decidedBy", TEXT, Review::decidedBy)
            .optional("remark", TEXT, Review::remark)
            .as(GraphOperation::review);

    private static Review review(ObjectCodec.Values v) {
        String id = v.next();
        Review.State state = v.next();
        var madeAt = v.<Instant>next();
        String caller = v.next();
        String reason = v.next();
        return new Review(id, state, madeAt, caller, v.next(), reason, v.next(), v.next(), v.next());
    }

    /** Without its number and its caller, whom the request names. */
    private static final Codec<LoggedQuery> QUESTION = ObjectCodec.<LoggedQuery>of()
            .required("at", TIME, LoggedQuery::at)
            .required("operation", TEXT, LoggedQuery::operation)
            .required("outcome", TEXT, LoggedQuery::outcome)
            .required("detail", STRUCT, LoggedQuery::detail)
            .as(v -> new LoggedQuery(0, v.next(), "", v.next(), v.next(), v.next()));

    static final ExtensionMethod<ShowRules, Alignment> RULES_OF = AdminRow.of(
            ShowRules.class,
            "GET /knowledge/rules",
            "Show the rules of a group",
            ofGraph(ObjectCodec.<ShowRules>of(), ShowRules::group).as(v -> new ShowRules(v.next())),
            RULES);

    static final ExtensionMethod<SetRules, Alignment> SET_RULES = AdminRow.of(
            SetRules.class,
            "POST /knowledge/rules",
            "Set the rules of a group",
            ofGraph(
                            ObjectCodec.<SetRules>of()
                                    .required("rules", RULES, SetRules::rules)
                                    .argument("FILE", "The rules.")
                                    .asBody(),
                            SetRules::group)
                    .as(v -> new SetRules(v.next(), v.next())),
            RULES);

    static final ExtensionMethod<ShowShapes, ShapesView> SHAPES_OF = AdminRow.of(
            ShowShapes.class,
            "GET /knowledge/shapes",
            "Show the SHACL shapes of a group",
            ofGraph(ObjectCodec.<ShowShapes>of(), ShowShapes::group).as(v -> new ShowShapes(v.next())),
            SHAPES);

    static final ExtensionMethod<SetShapes, ShapesView> SET_SHAPES = AdminRow.of(
            SetShapes.class,
            "POST /knowledge/shapes",
            "Set the SHACL shapes of a group",
            ofGraph(
                            ObjectCodec.<SetShapes>of()
                                    .required("turtle", TEXT, SetShapes::turtle)
                                    .help("FILE", "SHACL in Turtle, empty for none."),
                            SetShapes::group)
                    .as(v -> new SetShapes(v.next(), v.next())),
            SHAPES);

    static final ExtensionMethod<ListReviews, List<Review>> REVIEWS = AdminRow.of(
            ListReviews.class,
            "GET /knowledge/reviews",
            "List them",
            ofGraph(
                            ObjectCodec.<ListReviews>of()
                                    .optional("state", LISTED, Listed.PENDING, ListReviews::state)
                                    .help("STATE", "all: also those that were decided."),
                            ListReviews::group)
                    .as(v -> new ListReviews(v.next(), v.next())),
            ObjectCodec.list("reviews", REVIEW));

    static final ExtensionMethod<ApproveUpdate, UpdateResult> APPROVE = AdminRow.of(
            ApproveUpdate.class,
            "POST /knowledge/reviews/{id}/approve",
            "Apply an update",
            ofReview(ApproveUpdate::id, ApproveUpdate::remark, ApproveUpdate::group)
                    .as(v -> new ApproveUpdate(v.next(), v.next(), v.next())),
            InstalledExtensions.codec(UpdateResult.class));

    static final ExtensionMethod<RejectUpdate, Operation.Empty> REJECT = AdminRow.of(
            RejectUpdate.class,
            "POST /knowledge/reviews/{id}/reject",
            "Discard an update",
            ofReview(RejectUpdate::id, RejectUpdate::remark, RejectUpdate::group)
                    .as(v -> new RejectUpdate(v.next(), v.next(), v.next())),
            ObjectCodec.<Operation.Empty>of().as(v -> new Operation.Empty()));

    static final ExtensionMethod<ListStatements, StatementPage<Statement>> STATEMENTS = AdminRow.of(
            ListStatements.class,
            "GET /privacy/statements",
            "List the statements of a principal",
            ofPrincipal(ListStatements::principal, ListStatements::group, ListStatements::after)
                    .as(v -> new ListStatements(v.next(), v.next(), v.next())),
            page("statements", InstalledExtensions.codec(Statement.class)));

    static final ExtensionMethod<ListReviewed, StatementPage<Review>> REVIEWED = AdminRow.of(
            ListReviewed.class,
            "GET /privacy/reviews",
            "List the reviewed and waiting updates of a principal",
            ofPrincipal(ListReviewed::principal, ListReviewed::group, ListReviewed::after)
                    .as(v -> new ListReviewed(v.next(), v.next(), v.next())),
            page("reviews", REVIEW));

    static final ExtensionMethod<ListQuestions, StatementPage<LoggedQuery>> QUESTIONS = AdminRow.of(
            ListQuestions.class,
            "GET /privacy/questions",
            "List the queries of a principal",
            ofPrincipal(ListQuestions::principal, ListQuestions::group, ListQuestions::after)
                    .as(v -> new ListQuestions(v.next(), v.next(), v.next())),
            page("questions", QUESTION));

    static final List<ExtensionMethod<?, ?>> ROWS = List.of(
            RULES_OF, SET_RULES, SHAPES_OF, SET_SHAPES, REVIEWS, APPROVE, REJECT, STATEMENTS, REVIEWED, QUESTIONS);

    private static <T> ObjectCodec<StatementPage<T>> page(String name, Codec<T> item) {
        return ObjectCodec.<StatementPage<T>>of()
                .required(name, Codecs.list(item), StatementPage::items)
                .optional("next", TEXT, StatementPage::next)
                .as(v -> new StatementPage<>(v.next(), v.next()));
    }

    private static <T> ObjectCodec.Builder<T> ofGraph(ObjectCodec.Builder<T> shape, Function<T, String> group) {
        return shape.optional("group", TEXT, AdminCall.DEFAULT_GROUP, group)
                .help("GROUP", "Group of the graph. Default: the group default.")
                .inQuery();
    }

    private static <T> ObjectCodec.Builder<T> ofReview(
            Function<T, String> id, Function<T, @Nullable String> remark, Function<T, String> group) {
        return ofGraph(
                ObjectCodec.<T>of()
                        .required("id", TEXT, id)
                        .argument("REVIEW-ID", "The number under which it waits.")
                        .optional("remark", TEXT, remark)
                        .help("TEXT", "Remark for the history.")
                        .inQuery(),
                group);
    }

    private static <T> ObjectCodec.Builder<T> ofPrincipal(
            Function<T, String> principal, Function<T, String> group, Function<T, @Nullable String> after) {
        return ObjectCodec.<T>of()
                .required("principal", TEXT, principal)
                .help("NAME", "The principal, as its keys or tokens name it.")
                .flag("--subject")
                .optional("group", TEXT, AdminCall.DEFAULT_GROUP, group)
                .help("GROUP", "Its group; default: default.")
                .optional("after", TEXT, after)
                .help("ID", "After this position, which is next of another answer.");
    }
}
