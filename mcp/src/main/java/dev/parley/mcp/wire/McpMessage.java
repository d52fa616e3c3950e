package dev.parley.mcp.wire;

import dev.parley.mcp.McpException;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.math.BigInteger;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message of JSON-RPC 2.0 as MCP restricts it: ids are texts or integers, and there are no batches. */
public sealed interface McpMessage {
    /** A call. */
    record Request(Object id, String method, Map<String, @Nullable Object> params) implements McpMessage {}

    /** A message without an answer. */
    record Notification(String method, Map<String, @Nullable Object> params) implements McpMessage {}

    /** Answer to a request. */
    record Result(Object id, Map<String, @Nullable Object> result) implements McpMessage {}

    /**
     * Answer to a request that failed.
     *
     * @param id null if the request had none that could be read
     */
    record Failure(@Nullable Object id, McpException error) implements McpMessage {}

    /**
     * Something else.
     *
     * @param id null if it has none
     */
    record Malformed(@Nullable Object id, McpException problem) implements McpMessage {}

    /** Reads a message within the limits of requests. */
    static McpMessage read(byte[] json) {
        Map<String, @Nullable Object> object;
        try {
            object = JsonText.request(json, Codecs.STRUCT);
        } catch (A2AException invalid) {
            return invalid.error() == A2AError.PARSE_ERROR
                    ? new Malformed(null, new McpException(McpException.PARSE_ERROR, text(invalid)))
                    : malformed(null, "no object (expected: one message, not a batch)");
        }
        Object id = object.get("id");
        boolean isId = isId(id);
        if (!"2.0".equals(object.get("jsonrpc"))) {
            return malformed(isId ? id : null, "jsonrpc: missing (expected: \"2.0\")");
        }
        if (object.containsKey("id") && !isId) {
            return object.get("error") instanceof Map<?, ?> error && id == null
                    ? new Failure(null, error(Trees.map(error)))
                    : malformed(null, "id: (expected: a text or an integer)");
        }
        if (object.get("method") instanceof String method) {
            Object params = object.get("params");
            if (params != null && !(params instanceof Map<?, ?>)) {
                return malformed(id, "params: (expected: an object)");
            }
            return id == null
                    ? new Notification(method, Trees.map(params))
                    : new Request(id, method, Trees.map(params));
        }
        if (id != null && object.get("result") instanceof Map<?, ?> result) {
            return new Result(id, Trees.map(result));
        }
        if (object.get("error") instanceof Map<?, ?> error) {
            return new Failure(id, error(Trees.map(error)));
        }
        return malformed(id, "no method, result or error (expected: a request, a notification or a response)");
    }

    /** This message as one line of JSON, without the end of the line. */
    default byte[] bytes() {
        return JsonText.write(MessageMembers.CODEC, MessageMembers.of(this));
    }

    /** The method of a request or notification; empty for an answer. */
    default String method() {
        return "";
    }

    /** Reads the error of an answer. */
    static McpException error(Map<String, @Nullable Object> error) {
        return MessageMembers.ERROR.fromJson(error);
    }

    private static boolean isId(@Nullable Object id) {
        return id instanceof String || id instanceof Integer || id instanceof Long || id instanceof BigInteger;
    }

    private static Malformed malformed(@Nullable Object id, String problem) {
        return new Malformed(id, new McpException(McpException.INVALID_REQUEST, problem));
    }

    private static String text(A2AException problem) {
        return problem.violations().isEmpty()
                ? String.valueOf(problem.getMessage())
                : problem.violations().getFirst().description();
    }
}
