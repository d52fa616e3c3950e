package dev.parley.mesh.client;

import static java.util.Objects.requireNonNull;

import dev.parley.mesh.MeshContent.Failure;
import dev.parley.mesh.MeshContent.Rejection;
import dev.parley.mesh.MeshError;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Refusal of a message, by its receiver or before it was sent. Without an answer, calls throw {@code ClientException}. */
public final class OneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String code;
    private final boolean retryable;
    private final transient Map<String, @Nullable Object> details;

    OneException(String code, String message, Map<String, @Nullable Object> details, boolean retryable) {
        super(message);
        this.code = requireNonNull(code, "code");
        this.details = requireNonNull(details, "details");
        this.retryable = retryable;
    }

    static OneException of(MeshError error, String message) {
        return new OneException(error.word(), message, Map.of(), error.isRetryable());
    }

    static OneException of(Failure failure) {
        return new OneException(failure.code(), failure.message(), failure.details(), failure.retryable());
    }

    static OneException of(Rejection rejection) {
        String code = rejection.code() == null ? MeshError.TASK_REJECTED.word() : rejection.code();
        return new OneException(code, rejection.reason(), Map.of("alternatives", rejection.alternatives()), false);
    }

    /** Error code, such as {@code capability_mismatch}. */
    public String code() {
        return code;
    }

    /** True if the same message may succeed later. */
    public boolean isRetryable() {
        return retryable;
    }

    /** Members for programs; empty for none. */
    public Map<String, @Nullable Object> details() {
        return details;
    }
}
