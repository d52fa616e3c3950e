package dev.parley.mesh;

import dev.parley.protocol.ErrorKind;
import java.util.Locale;

/** Error codes of the protocol. */
public enum MeshError implements ErrorKind {
    AGENT_NOT_FOUND(-32101, 404, "NOT_FOUND", false, "There is no such agent"),
    TASK_REJECTED(-32102, 409, "FAILED_PRECONDITION", false, "The task was rejected"),
    TIMEOUT(-32103, 504, "DEADLINE_EXCEEDED", true, "The time limit has passed"),
    INVALID_MESSAGE(-32104, 400, "INVALID_ARGUMENT", false, "The message is invalid"),
    CAPABILITY_MISMATCH(-32105, 422, "FAILED_PRECONDITION", false, "The agent has no such capability"),
    INTERNAL_ERROR(-32106, 500, "INTERNAL", true, "Internal error");

    @SuppressWarnings("ImmutableEnumChecker") // a record of numbers and texts
    private final Row row;

    private final boolean retryable;

    MeshError(int code, int httpStatus, String grpcStatus, boolean retryable, String defaultMessage) {
        this.row = new Row(code, httpStatus, grpcStatus, defaultMessage);
        this.retryable = retryable;
    }

    /** The word on the wire. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public Row row() {
        return row;
    }

    /** Whether a repetition may succeed, usually. */
    public boolean isRetryable() {
        return retryable;
    }
}
