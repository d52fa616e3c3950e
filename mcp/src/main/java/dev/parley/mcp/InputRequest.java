package dev.parley.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Question of a server to its client, such as {@code elicitation/create}. Source: MCP 2026-07-28, InputRequest. */
public record InputRequest(String method, Map<String, @Nullable Object> params) {

    /**
     * A question to the user by a form.
     *
     * @param schema of the answer: a JSON Schema of an object with members that are texts, numbers, truth values or lists of texts
     */
    public static InputRequest form(String message, Map<String, ? extends @Nullable Object> schema) {
        return new InputRequest(
                "elicitation/create", Map.of("mode", "form", "message", message, "requestedSchema", schema));
    }
}
