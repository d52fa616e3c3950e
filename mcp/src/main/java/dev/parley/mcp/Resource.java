package dev.parley.mcp;

import org.jspecify.annotations.Nullable;

/**
 * A resource, or a template of resources. Source: MCP 2026-07-28, Resources.
 *
 * @param uri of a template: its URI template
 * @param title name for people; null for none
 */
public record Resource(
        String uri,
        String name,
        @Nullable String title,
        @Nullable String description,
        @Nullable String mimeType) {}
