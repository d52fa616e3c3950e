package dev.parley.mcp.client;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A server that gave no answer, or one that is not an answer of MCP. */
public final class ServerFailure extends RuntimeException {
    /** Kind of a failure. */
    public enum Kind {
        TIMEOUT,
        CONNECTION,
        /** The answer is not a message of MCP, or larger than the limit. */
        INVALID_RESPONSE,
        /** The server wants credentials that this client does not have. */
        UNAUTHORIZED,
        /** The session of a legacy server has ended; a new one can be begun. */
        SESSION_ENDED
    }

    @Serial
    private static final long serialVersionUID = 1;

    private final Kind kind;

    public ServerFailure(Kind kind, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public ServerFailure(Kind kind, String message) {
        this(kind, message, null);
    }

    public Kind kind() {
        return kind;
    }
}
