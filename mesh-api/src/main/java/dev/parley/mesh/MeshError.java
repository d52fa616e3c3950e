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

    private final int code;
    private final int httpStatus;
    private final String grpcStatus;
    private final boolean retryable;
    private final String defaultMessage;

    MeshError(int code, int httpStatus, String grpcStatus, boolean retryable, String defaultMessage) {
        this.code = code;
        this.httpStatus = httpStatus;
        this.grpcStatus = grpcStatus;
        this.retryable = retryable;
        this.defaultMessage = defaultMessage;
    }

    /** The word on the wire. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public int code() {
        return code;
    }

    /** Usual status of an answer with this code. */
    @Override
    public int httpStatus() {
        return httpStatus;
    }

    @Override
    public String grpcStatus() {
        return grpcStatus;
    }

    @Override
    public String defaultMessage() {
        return defaultMessage;
    }

    /** Whether a repetition may succeed, usually. */
    public boolean isRetryable() {
        return retryable;
    }
}
