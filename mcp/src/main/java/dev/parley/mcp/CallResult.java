package dev.parley.mcp;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Result of a tool. Source: MCP 2026-07-28, Tools.
 *
 * @param structuredContent a value of JSON; null for none
 * @param isError null for a result that does not say
 * @param others members that have no component here, such as {@code _meta}
 */
public record CallResult(
        List<Content> content,
        @Nullable Object structuredContent,
        @Nullable Boolean isError,
        Map<String, @Nullable Object> others) {
    public CallResult {
        content = List.copyOf(content);
    }

    /** A result with contents and structured content, which may be null. */
    public static CallResult of(List<Content> content, @Nullable Object structuredContent) {
        return new CallResult(content, structuredContent, null, Map.of());
    }

    /** A result that is a text. */
    public static CallResult text(String text) {
        return of(List.of(Content.text(text)), null);
    }

    /** The failure of a tool. */
    public static CallResult error(String message) {
        return new CallResult(List.of(Content.text(message)), null, true, Map.of());
    }

    /** Whether the tool has failed. */
    public boolean isFailure() {
        return Boolean.TRUE.equals(isError);
    }
}
