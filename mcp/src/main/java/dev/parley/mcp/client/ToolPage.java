package dev.parley.mcp.client;

import dev.parley.mcp.Tool;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A list of tools and how long it may be kept; null if the server does not say. */
public record ToolPage(List<Tool> tools, @Nullable Duration ttl) {}
