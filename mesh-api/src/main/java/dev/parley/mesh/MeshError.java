package dev.parley.mesh;

import java.util.Locale;

/** Error codes of the protocol. */
public enum MeshError {
    AGENT_NOT_FOUND(404, false),
    TASK_REJECTED(409, false),
    TIMEOUT(504, true),
    INVALID_MESSAGE(400, false),
    CAPABILITY_MISMATCH(422, false),
    INTERNAL_ERROR(500, true);

    private final int httpStatus;
    private final boolean retryable;

    MeshError(int httpStatus, boolean retryable) {
        this.httpStatus = httpStatus;
        this.retryable = retryable;
    }

    /** The word on the wire. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Usual status of an answer with this code. */
    public int httpStatus() {
        return httpStatus;
    }

    /** Whether a repetition may succeed, usually. */
    public boolean isRetryable() {
        return retryable;
    }
}
