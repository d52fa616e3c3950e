package dev.parley.mcp;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A prompt without its messages. Source: MCP 2026-07-28, Prompts.
 *
 * @param title name for people; null for none
 */
public record Prompt(
        String name, @Nullable String title, @Nullable String description, List<Argument> arguments) {
    public record Argument(String name, @Nullable String description, boolean required) {}

    public Prompt {
        arguments = List.copyOf(arguments);
    }
}
