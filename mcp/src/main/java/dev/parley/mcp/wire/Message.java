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
public sealed interface Message {
    /** A call. */
    record Request(Object id, String method, Map<String, @Nullable Object> params) implements Message {}

    /** A message without an answer. */
    record Notification(String method, Map<String, @Nullable Object> params) implements Message {}

    /** Answer to a request. */
    record Result(Object id, Map<String, @Nullable Object> result) implements Message {}

    /**
     * Answer to a request that failed.
     *
     * @param id null if the request had none that could be read
     */
    record Failure(@Nullable Object id, McpException error) implements Message {}

    /**
     * Something else.
     *
     * @param id null if it has none
     */
    record Malformed(@Nullable Object id, McpException problem) implements Message {}

    /** Reads a message within the limits of requests. */
    static Message read(byte[] json) {
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

    /** This message as JSON. */
    default Map<String, @Nullable Object> json() {
        return switch (this) {
            case Request(Object id, String method, Map<String, @Nullable Object> params) ->
                Trees.object("jsonrpc", "2.0", "id", id, "method", method, "params", params);
            case Notification(String method, Map<String, @Nullable Object> params) ->
                params.isEmpty()
                        ? Trees.object("jsonrpc", "2.0", "method", method)
                        : Trees.object("jsonrpc", "2.0", "method", method, "params", params);
            case Result(Object id, Map<String, @Nullable Object> result) ->
                Trees.object("jsonrpc", "2.0", "id", id, "result", result);
            case Failure(@Nullable Object id, McpException error) -> failure(id, error);
            case Malformed(@Nullable Object id, McpException problem) -> failure(id, problem);
        };
    }

    /** This message as one line of JSON, without the end of the line. */
    default byte[] bytes() {
        return JsonText.write(Codecs.STRUCT, json());
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

    private static McpException error(Map<String, @Nullable Object> error) {
        int code = error.get("code") instanceof Number number ? number.intValue() : McpException.INTERNAL_ERROR;
        return new McpException(
                code, error.get("message") instanceof String text ? text : "", Trees.map(error.get("data")));
    }

    private static Map<String, @Nullable Object> failure(@Nullable Object id, McpException problem) {
        Map<String, @Nullable Object> error =
                Trees.object("code", problem.code(), "message", String.valueOf(problem.getMessage()));
        if (!problem.data().isEmpty()) {
            error.put("data", problem.data());
        }
        return id == null
                ? Trees.object("jsonrpc", "2.0", "error", error)
                : Trees.object("jsonrpc", "2.0", "id", id, "error", error);
    }
}
