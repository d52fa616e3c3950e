package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.store.audit.AuditPosition;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The changes of tasks that have places, in order. Safe for any thread. */
interface Moves {
    /**
     * A change, and the scope of its task.
     *
     * @param place after it; the beginning for a change that has none
     */
    record Move(Scope scope, Change change, AuditPosition place) {
        Move(Scope scope, Change change) {
            this(scope, change, AuditPosition.BEGINNING);
        }
    }

    /**
     * Changes after a place.
     *
     * @param next place after which the next page begins
     * @param isLast whether there was none after it
     * @param hasGap whether changes after the place are no longer there
     */
    record Page(List<Move> moves, AuditPosition next, boolean isLast, boolean hasGap) {}

    /**
     * Returns changes after a place; there may be none, and more after them.
     *
     * @param group null for all groups
     * @param taskId null for all tasks
     */
    Page after(@Nullable String group, @Nullable String taskId, AuditPosition place, int limit);

    /** The place after the newest change. */
    AuditPosition newest();

    /**
     * Number of the entries from a place to the newest one; negative if it is a place of other data.
     *
     * @param newest place after the newest change, now
     */
    default long behind(AuditPosition place, AuditPosition newest) {
        return newest.numbers().getLast() - place.numbers().getLast();
    }
}
