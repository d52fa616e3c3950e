package dev.parley.store.audit;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.TaskState;
import dev.parley.store.spi.StoreException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The number of each task state in a row: its number in the specification's proto. Rows outlive releases. */
public final class States {
    private static final Map<TaskState, Integer> CODES = Map.of(
            TaskState.UNSPECIFIED, 0,
            TaskState.SUBMITTED, 1,
            TaskState.WORKING, 2,
            TaskState.COMPLETED, 3,
            TaskState.FAILED, 4,
            TaskState.CANCELED, 5,
            TaskState.INPUT_REQUIRED, 6,
            TaskState.REJECTED, 7,
            TaskState.AUTH_REQUIRED, 8);

    private States() {}

    public static int code(TaskState state) {
        return requireNonNull(CODES.get(state));
    }

    /** @throws StoreException for a number of no state */
    public static TaskState state(int code) {
        TaskState state = find(code);
        if (state == null) {
            throw new StoreException("a task has state " + code + " (expected: 0 to 8)");
        }
        return state;
    }

    /**
     * The state of a row that is shown among others: unspecified for the number of no state, as damage or a later version leaves it, so that one
     * row does not make the others unreadable.
     */
    public static TaskState shown(int code) {
        return requireNonNullElse(find(code), TaskState.UNSPECIFIED);
    }

    private static @Nullable TaskState find(int code) {
        for (TaskState state : TaskState.values()) {
            if (code(state) == code) {
                return state;
            }
        }
        return null;
    }
}
