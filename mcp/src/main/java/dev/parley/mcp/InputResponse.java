package dev.parley.mcp;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Answer of a client to an {@link InputRequest}. Source: MCP 2026-07-28, InputResponse.
 *
 * @param action of the user on an elicitation, such as {@link #ACCEPT}; null in answers to other methods
 * @param content of an accepted form, an object, or of a sampled message; null for none
 * @param others members of answers to other methods
 */
public record InputResponse(
        @Nullable String action, @Nullable Object content, Map<String, @Nullable Object> others) {
    public static final String ACCEPT = "accept";
    public static final String DECLINE = "decline";
    public static final String CANCEL = "cancel";

    /** An answer without content: one that declines or cancels, or that accepts an address. */
    public static InputResponse of(String action) {
        return new InputResponse(action, null, Map.of());
    }

    /** An answer that accepts a form. */
    public static InputResponse accept(Map<String, @Nullable Object> content) {
        return new InputResponse(ACCEPT, content, Map.of());
    }

    /** The values of an accepted form by the names of its properties; empty for other content. */
    public Map<String, @Nullable Object> form() {
        var form = new LinkedHashMap<String, @Nullable Object>();
        if (content instanceof Map<?, ?> members) {
            members.forEach((name, value) -> form.put(String.valueOf(name), value));
        }
        return form;
    }

    /** Whether the user has accepted: filled in the form, or opened the address. */
    public boolean isAccepted() {
        return ACCEPT.equals(action);
    }

    /** Whether the answer declines or cancels the question. */
    public boolean isRefusal() {
        return DECLINE.equals(action) || CANCEL.equals(action);
    }

    /** The answer as its user gave it: a refusal has an action and nothing else. */
    public InputResponse plain() {
        return isRefusal() ? of(String.valueOf(action)) : this;
    }
}
