package dev.parley.knowledge.store;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A view of statements together with the records that the hub keeps of their graph. */
public interface GraphView extends View {
    /** The group of the graph. */
    GroupCache space();

    ReadFilter readFilter();

    /** A view of the same moment with another read filter. */
    GraphView seenBy(ReadFilter reader);

    /** Asks the hub's own tables about the group. */
    <T> T ask(Asking<T> question);

    /** The statements of a source, including those that other sources have repeated since. */
    StatementPage<Fact> saidBy(String source, @Nullable String after, int limit);

    /** Returns the visible part of a change; null if it is hidden. */
    default @Nullable Numbered seen(Numbered change) {
        Instant since = readFilter().confirmedSince();
        boolean isYoung = since == null || !change.change().timestamp().isBefore(since);
        return isYoung
                ? change.seenBy(statement ->
                        isSeen(statement, change.types(id -> types(List.of(id)).getOrDefault(id, Set.of()))))
                : null;
    }

    private boolean isSeen(Statement statement, Function<String, Set<String>> types) {
        Double least = readFilter().certainty();
        Double certainty = statement.certainty();
        return (least == null || least <= 0 || certainty != null && certainty >= least)
                && readFilter().sees(statement, types);
    }
}
