package dev.parley.knowledge.journal;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.changes.ChangeLog;
import dev.parley.knowledge.changes.Numbered;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.GraphStore;
import dev.parley.knowledge.store.GraphView;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.SqlStatementStore;
import dev.parley.protocol.CallContext;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Changes of a group's graph, filtered by what a reader may see. */
public final class ChangeHistory implements ChangeLog {
    private static final int CHANGES_AT_ONCE = 1_000;

    /** Limit of changes listed with a task. */
    private static final int MAX_SHOWN = 1_000;

    private static final Logger LOG = System.getLogger("dev.parley.knowledge");

    private final SqlStatementStore tables;
    private final GraphStore statements;
    private final ChangeStore journal;

    public ChangeHistory(SqlStatementStore tables, GraphStore statements, ChangeStore journal) {
        this.tables = tables;
        this.statements = statements;
        this.journal = journal;
    }

    @Override
    public StatementPage<Change> changes(View view, @Nullable String after, int limit) {
        var seen = (GraphView) view;
        long from = after == null ? 0 : seen.space().changeNumber(after);
        var found = new ArrayList<Change>();
        int size = limit + 1;
        List<Numbered> numbered;
        do {
            numbered = changes(seen, from, size);
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
        return new StatementPage<>(kept, more && limit > 0 ? kept.getLast().changeId() : null);
    }

    private List<Numbered> changes(GraphView view, long after, int limit) {
        return view.ask((session, space) -> journal.changes().after(session, space, after, limit));
    }

    /** Returns the ids of visible changes that the caller made for a task; those of all members if the task is shared. */
    public List<String> ofTask(String taskId, CallContext caller, ReadFilter readFilter) {
        GroupCache space = tables.space(caller.scope().group());
        if (space.isEmpty()) {
            return List.of();
        }
        String owner = caller.isSharing() ? null : caller.caller();
        // Uses the connections of task readers, so that GetTask does not wait for queries.
        List<Long> numbers =
                tables.database().read(session -> journal.changes().ofTask(session, space, taskId, owner, MAX_SHOWN));
        boolean all = numbers.isEmpty() || readFilter.rules().isEmpty() && readFilter.otherwise();
        return (all ? numbers : seen(numbers, caller, readFilter))
                .stream().map(space::changeId).toList();
    }

    /** Returns the numbers of visible changes; none if the statements by which they are judged cannot be read. */
    private List<Long> seen(List<Long> numbers, CallContext caller, ReadFilter readFilter) {
        try {
            return statements.lookUp(
                    caller.scope().group(),
                    readFilter,
                    view -> numbers.stream()
                            .filter(number ->
                                    changes(view, number - 1, 1).stream().anyMatch(one -> view.seen(one) != null))
                            .toList());
        } catch (KnowledgeStoreException away) {
            LOG.log(Level.WARNING, "A task is shown without the changes of its graph", away);
            return List.of();
        }
    }
}
