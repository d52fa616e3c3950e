package dev.parley.activity.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.extension.HubParts;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Changes of tasks by the audit, whose numbers outlast the hub. */
final class AuditedMoves implements Moves {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Logger LOG = System.getLogger("dev.parley.activity");

    private final HubParts hub;
    private final AtomicBoolean isLogged = new AtomicBoolean();

    AuditedMoves(HubParts hub) {
        this.hub = hub;
    }

    @Override
    public Page after(@Nullable String group, @Nullable String taskId, long number, int limit) {
        return hub.database().scan(requireNonNullElse(group, ""), PATIENCE, () -> {
            var filter = new Filter(group, null, null, taskId, null, null);
            dev.parley.store.audit.AuditPage page = hub.audit().page(filter, number, limit);
            var moves = new ArrayList<Move>();
            page.rows().forEach(row -> moves.addAll(readable(row)));
            return new Page(moves, page.next(), page.isLast(), false);
        });
    }

    /**
     * The change of a row; none for one that cannot be read, as damage or a later version leaves it: the changes after it would else never
     * be read.
     */
    private List<Move> readable(AuditRow row) {
        try {
            return of(row);
        } catch (IllegalArgumentException | StoreException damaged) {
            if (StoreException.isTemporary(damaged)) {
                throw damaged;
            }
            if (isLogged.compareAndSet(false, true)) {
                LOG.log(Level.WARNING, "row " + row.number() + " of the audit is no change of a task", damaged);
            }
            return List.of();
        }
    }

    /** The change of a row; none for other rows, and for tasks that were removed. */
    private List<Move> of(AuditRow row) {
        AuditEntry entry = row.entry();
        if (!isOfTask(entry.action())) {
            return List.of();
        }
        return hub.tasks().find(entry.group(), entry.target()).stream()
                .map(head -> move(row, entry, head))
                .toList();
    }

    private static boolean isOfTask(String action) {
        return switch (action) {
            case "task.created", "task.moved", "task.canceled", "task.continued" -> true;
            default -> false;
        };
    }

    private static Move move(AuditRow row, AuditEntry entry, Head head) {
        Object before = entry.detail().get("before");
        String caller = entry.subject().isEmpty()
                ? entry.actor()
                : entry.subject().substring(entry.subject().indexOf('/') + 1);
        return new Move(
                head.key().scope(),
                new Change(
                        row.number(),
                        row.at(),
                        Change.Kind.TASK,
                        entry.target(),
                        head.key().agent(),
                        head.contextId(),
                        TaskState.valueOf(entry.outcome()),
                        before == null ? null : TaskState.valueOf(before.toString()),
                        caller,
                        entry.trace().isEmpty() ? null : entry.trace(),
                        entry.group(),
                        null,
                        null));
    }

    @Override
    public long newest() {
        return hub.audit().newest();
    }
}
