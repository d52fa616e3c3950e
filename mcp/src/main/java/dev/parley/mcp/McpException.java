package dev.parley.mcp;

import dev.parley.protocol.support.Excerpt;
import java.io.Serial;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An error of the protocol, as JSON-RPC carries it. */
public final class McpException extends RuntimeException {
    public static final int PARSE_ERROR = -32700;
    public static final int INVALID_REQUEST = -32600;
    public static final int METHOD_NOT_FOUND = -32601;
    public static final int INVALID_PARAMS = -32602;
    public static final int INTERNAL_ERROR = -32603;
    public static final int HEADER_MISMATCH = -32020;
    public static final int MISSING_CLIENT_CAPABILITY = -32021;
    public static final int UNSUPPORTED_VERSION = -32022;

    @Serial
    private static final long serialVersionUID = 1;

    private final int code;
    private final transient Map<String, @Nullable Object> data;

    public McpException(int code, String message, Map<String, @Nullable Object> data) {
        super(message);
        this.code = code;
        this.data = data;
    }

    public McpException(int code, String message) {
        this(code, message, Map.of());
    }

    /** INVALID_PARAMS for a name or URI without an object behind it, or none that the caller may know of. */
    public static McpException notFound(String kind, String name) {
        return new McpException(INVALID_PARAMS, kind + " \"" + Excerpt.of(name, 100) + "\": not found");
    }

    public int code() {
        return code;
    }

    /** Empty for none. */
    public Map<String, @Nullable Object> data() {
        return data;
    }
}
