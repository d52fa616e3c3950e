package dev.parley.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of a resource. Source: MCP 2026-07-28, Resources.
 *
 * @param text null for bytes
 * @param blob bytes in base64; null for a text
 * @param others members that have no component here, such as {@code _meta}
 */
public record ResourceContent(
        String uri,
        @Nullable String mimeType,
        @Nullable String text,
        @Nullable String blob,
        Map<String, @Nullable Object> others) {
    /** A text. */
    public static ResourceContent text(String uri, @Nullable String mimeType, String text) {
        return new ResourceContent(uri, mimeType, text, null, Map.of());
    }

    /** Bytes in base64. */
    public static ResourceContent blob(String uri, @Nullable String mimeType, String blob) {
        return new ResourceContent(uri, mimeType, null, blob, Map.of());
    }
}
