package dev.parley.knowledge.hub;

import dev.parley.extension.Handlers;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.hub.GraphOperation.ListQuestions;
import dev.parley.knowledge.hub.GraphOperation.ListReviews;
import dev.parley.knowledge.hub.GraphOperation.Listed;
import dev.parley.knowledge.hub.GraphOperation.ShapesView;
import dev.parley.knowledge.model.LoggedQuery;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Handlers of the {@linkplain GraphOperation operations of the administration} on knowledge graphs. */
final class KnowledgePages {
    private static final int MOST = 1_000;

    private final Supplier<Graph> shared;

    KnowledgePages(Supplier<Graph> shared) {
        this.shared = shared;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(GraphOperation.RULES_OF, (given, by) -> graph().rules(given.group()))
                .call(GraphOperation.SET_RULES, (given, by) -> {
                    graph().rules(given.rules(), by.among(given.group()));
                    return graph().rules(given.group());
                })
                .call(GraphOperation.SHAPES_OF, (given, by) -> shapes(given.group()))
                .call(GraphOperation.SET_SHAPES, (given, by) -> {
                    graph().shapes(given.turtle(), by.among(given.group()));
                    return shapes(given.group());
                })
                .call(GraphOperation.REVIEWS, (given, by) -> reviews(given))
                .call(
                        GraphOperation.APPROVE,
                        (given, by) -> graph().approve(given.id(), given.remark(), by.among(given.group())))
                .call(GraphOperation.REJECT, (given, by) -> {
                    graph().reject(given.id(), given.remark(), by.among(given.group()));
                    return new Operation.Empty();
                })
                .call(
                        GraphOperation.STATEMENTS,
                        (given, by) -> graph().saidBy(given.group(), given.principal(), given.after(), MOST))
                .call(
                        GraphOperation.REVIEWED,
                        (given, by) -> graph().reviewsOf(given.group(), given.principal(), given.after(), MOST))
                .call(GraphOperation.QUESTIONS, (given, by) -> questions(given));
    }

    private Graph graph() {
        return shared.get();
    }

    private ShapesView shapes(String group) {
        return new ShapesView(graph().shapesText(group));
    }

    private List<Review> reviews(ListReviews given) {
        Review.State state = given.state() == Listed.ALL ? null : Review.State.PENDING;
        return graph().reviews(given.group(), state, null, MOST).items();
    }

    private StatementPage<LoggedQuery> questions(ListQuestions given) {
        List<LoggedQuery> entries = graph().queriesOf(given.group(), given.principal(), number(given.after()), MOST);
        return new StatementPage<>(
                entries,
                entries.size() < MOST ? null : Long.toString(entries.getLast().number()));
    }

    private static long number(@Nullable String after) {
        try {
            return after == null ? 0 : Long.parseLong(after);
        } catch (NumberFormatException wrong) {
            throw A2AException.invalidParams("after", after + " (expected: a number)");
        }
    }
}
