package dev.parley.knowledge;

import dev.parley.knowledge.RecentChanges.Numbered;
import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.spi.Floors;
import dev.parley.knowledge.spi.Page;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.CallContext;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Changes of a group's graph, filtered by what a reader may see. */
final class ChangeHistory implements ChangeLog {
    private static final int CHANGES_AT_ONCE = 1_000;

    /** Limit of changes listed with a task. */
    private static final int MAX_SHOWN = 1_000;

    private final SqlStatementStore statements;
    private final Journal journal;

    ChangeHistory(SqlStatementStore statements, Journal journal) {
        this.statements = statements;
        this.journal = journal;
    }

    @Override
    public Page<Change> changes(View view, @Nullable String after, int limit) {
        var seen = (SqlView) view;
        return SqlView.reading(() -> {
            long from = after == null ? 0 : seen.space.changeNumber(after);
            var found = new ArrayList<Change>();
            int size = limit + 1;
            List<Numbered> numbered;
            do {
                numbered = journal.changes(seen.session, seen.space, from, size);
                for (Numbered one : numbered) {
                    from = one.number();
                    Numbered shown = seen.seen(one);
                    if (shown != null) {
                        found.add(shown.change());
                    }
                }
                size = CHANGES_AT_ONCE;
            } while (found.size() <= limit && !numbered.isEmpty());
            boolean more = found.size() > limit;
            List<Change> kept = more ? found.subList(0, limit) : found;
            return new Page<>(kept, more && limit > 0 ? kept.getLast().changeId() : null);
        });
    }

    /** Returns the ids of visible changes that the caller made for a task; those of all members if the task is shared. */
    List<String> ofTask(String taskId, CallContext caller, Floors floors) {
        Space space = statements.space(caller.scope().group());
        if (space.isEmpty()) {
            return List.of();
        }
        String owner = caller.isSharing() ? null : caller.caller();
        // Uses the connections of task readers, so that GetTask does not wait for queries.
        return statements.database().read(session -> {
            var ids = new ArrayList<String>();
            var view = new SqlView(session, space, statements.terms(), statements.sql(), floors);
            for (long number : journal.ofTask(session, space, taskId, owner, MAX_SHOWN)) {
                boolean all = floors.rules().isEmpty() && floors.otherwise();
                if (all
                        || journal.changes(session, space, number - 1, 1).stream()
                                .anyMatch(one -> view.seen(one) != null)) {
                    ids.add(space.changeId(number));
                }
            }
            return ids;
        });
    }
}
