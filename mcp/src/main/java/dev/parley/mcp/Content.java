package dev.parley.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Content of the results of tools and of the messages of prompts. Source: MCP 2026-07-28, Content. */
public sealed interface Content {
    /** Members that have no component here, such as {@code annotations} and {@code _meta}. */
    Map<String, @Nullable Object> others();

    /** A text without further members. */
    static Content text(String text) {
        return new Text(text, Map.of());
    }

    record Text(String text, Map<String, @Nullable Object> others) implements Content {}

    /** @param data in base64 */
    record Image(String data, @Nullable String mimeType, Map<String, @Nullable Object> others) implements Content {}

    /** @param data in base64 */
    record Audio(String data, @Nullable String mimeType, Map<String, @Nullable Object> others) implements Content {}

    /** A resource that the client may read. */
    record ResourceLink(
            String uri, @Nullable String name, @Nullable String mimeType, Map<String, @Nullable Object> others)
            implements Content {}

    record EmbeddedResource(ResourceContent resource, Map<String, @Nullable Object> others) implements Content {}

    /** Content of a type that this version does not know, or without a member that its type requires. */
    record Other(Map<String, @Nullable Object> others) implements Content {}
}
