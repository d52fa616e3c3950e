package dev.parley.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A tool of an MCP server. Source: MCP 2026-07-28, Tools.
 *
 * @param name 1 to 128 characters of {@code A-Za-z0-9_.-}
 * @param title name for people; null for none
 * @param description text for people and models; null for none. Untrusted if it comes from another server
 * @param inputSchema JSON Schema of the arguments, of type object
 * @param outputSchema JSON Schema of the structured content of results; null for none
 * @param annotations hints such as {@code destructiveHint}; untrusted if they come from another server
 */
public record Tool(
        String name,
        @Nullable String title,
        @Nullable String description,
        Map<String, @Nullable Object> inputSchema,
        @Nullable Map<String, @Nullable Object> outputSchema,
        Map<String, @Nullable Object> annotations) {
    /** This tool without a description of its results. */
    public Tool withoutOutputSchema() {
        return new Tool(name, title, description, inputSchema, null, annotations);
    }
}
