package dev.parley.activity.hub;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.protocol.CallContext.Scope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The numbered changes of tasks, in order. Safe for any thread. */
interface Moves {
    /** A change of a task, and the scope of the task. */
    record Move(Scope scope, Change change) {}

    /**
     * Changes after a number.
     *
     * @param next number after which the next page begins
     * @param isLast whether there was none after it
     * @param hasGap whether changes after the number are no longer there
     */
    record Page(List<Move> moves, long next, boolean isLast, boolean hasGap) {}

    /**
     * Returns changes after a number; there may be none, and more after them.
     *
     * @param group null for all groups
     * @param taskId null for all tasks
     */
    Page after(@Nullable String group, @Nullable String taskId, long number, int limit);

    /** Number of the newest change; 0 if there is none. */
    long newest();
}
