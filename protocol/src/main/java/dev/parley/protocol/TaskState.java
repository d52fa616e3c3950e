package dev.parley.protocol;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * State of a task.
 *
 * <p>Source: A2A specification 1.0, section 4.1.3 "TaskState".
 */
public enum TaskState {
    /** Unknown, except that the task has not ended. Before 1.0 it was called {@code unknown}. */
    UNSPECIFIED,
    /** Accepted, not begun. */
    SUBMITTED,
    /** An agent is busy with it. */
    WORKING,
    /** Done. */
    COMPLETED,
    /** Ended without success. */
    FAILED,
    /** Ended by a cancellation. */
    CANCELED,
    /** Waits for the caller to say more. */
    INPUT_REQUIRED,
    /** The agent declined it. */
    REJECTED,
    /** Waits for a credential that reaches the agent out of band. */
    AUTH_REQUIRED;

    /** The word for people and for dialects that have words, such as {@code input-required}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** The state of a {@link #word} or of a name such as {@code TASK_STATE_WORKING}, in any case; empty for {@link #UNSPECIFIED}. */
    public static Optional<TaskState> named(String typed) {
        String name = typed.trim().toUpperCase(Locale.ROOT).replace('-', '_').replaceFirst("^TASK_STATE_", "");
        return Arrays.stream(values())
                .filter(state -> state != UNSPECIFIED && state.name().equals(name))
                .findFirst();
    }

    /** True if nothing can happen to the task any more. */
    public boolean isTerminal() {
        return this == COMPLETED || this == FAILED || this == CANCELED || this == REJECTED;
    }

    /** True if the task waits for its caller. */
    public boolean isInterrupted() {
        return this == INPUT_REQUIRED || this == AUTH_REQUIRED;
    }

    /** True if a blocking send returns now: the task has ended, or waits for its caller. */
    public boolean isSettled() {
        return isTerminal() || isInterrupted();
    }
}
