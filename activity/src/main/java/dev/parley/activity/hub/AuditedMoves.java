package dev.parley.activity.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.engine.spi.TaskLog.Head;
import dev.parley.extension.HubParts;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditNews;
import dev.parley.store.audit.AuditPosition;
import dev.parley.store.audit.AuditRow;
import dev.parley.store.audit.Filter;
import dev.parley.store.spi.AuditNumbers;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** Changes of tasks by the audit, whose places outlast the hub, and are those of all hubs that share the database. */
final class AuditedMoves implements Moves {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Logger LOG = System.getLogger("dev.parley.activity");

    private final HubParts hub;
    private final AtomicBoolean isLogged = new AtomicBoolean();

    AuditedMoves(HubParts hub) {
        this.hub = hub;
    }

    @Override
    public Page after(@Nullable String group, @Nullable String taskId, AuditPosition place, int limit) {
        return hub.database().scan(requireNonNullElse(group, ""), PATIENCE, () -> {
            var filter = new Filter(group, null, null, taskId, null, null);
            AuditNews news = hub.audit().since(filter, place, limit);
            var moves = new ArrayList<Move>();
            for (int i = 0; i < news.rows().size(); i++) {
                moves.addAll(readable(news.rows().get(i), news.places().get(i)));
            }
            return new Page(moves, news.next(), news.isLast(), false);
        });
    }

    /**
     * The change of a row; none for one that cannot be read, as damage or a later version leaves it: the changes after it would else never
     * be read.
     */
    private List<Move> readable(AuditRow row, AuditPosition place) {
        try {
            return of(row, place);
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
    private List<Move> of(AuditRow row, AuditPosition place) {
        AuditEntry entry = row.entry();
        if (!isOfTask(entry.action())) {
            return List.of();
        }
        return hub.tasks().find(entry.group(), entry.target()).stream()
                .map(head -> move(row, place, head))
                .toList();
    }

    private static boolean isOfTask(String action) {
        return switch (action) {
            case "task.created", "task.moved", "task.canceled", "task.continued" -> true;
            default -> false;
        };
    }

    private static Move move(AuditRow row, AuditPosition place, Head head) {
        AuditEntry entry = row.entry();
        Object before = entry.detail().get("before");
        String caller = entry.subject().isEmpty()
                ? entry.actor()
                : entry.subject().substring(entry.subject().indexOf('/') + 1);
        return new Move(
                head.key().scope(),
                new Change(
                        row.number(),
                        null,
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
                        null),
                place);
    }

    @Override
    public AuditPosition newest() {
        return hub.audit().now();
    }

    @Override
    public long behind(AuditPosition place, AuditPosition newest) {
        boolean isOfOneChain = newest.numbers().size() == 1
                && place.numbers().size() == 1
                && AuditNumbers.chain(newest.numbers().getFirst())
                        == AuditNumbers.chain(place.numbers().getFirst());
        return isOfOneChain ? Moves.super.behind(place, newest) : hub.audit().behind(place);
    }
}
