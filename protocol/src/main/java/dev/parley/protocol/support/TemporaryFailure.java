package dev.parley.protocol.support;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A failure of this side that ends by itself, such as a full disk. Thrown as the failure or as the cause of one. Callers are
 * answered {@link dev.parley.protocol.A2AError#UNAVAILABLE}, and may repeat the call.
 */
public interface TemporaryFailure {
    /** The reason in words for callers; null if there are none. */
    default @Nullable String reason() {
        return null;
    }

    /** Returns the words of the innermost temporary failure among the causes of a failure that has some. */
    static Optional<String> reasonOf(Throwable failure) {
        String reason = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof TemporaryFailure temporary && temporary.reason() != null) {
                reason = temporary.reason();
            }
        }
        return Optional.ofNullable(reason);
    }
}
