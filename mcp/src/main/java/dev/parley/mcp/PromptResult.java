package dev.parley.mcp;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A prompt with its messages. Source: MCP 2026-07-28, Prompts. */
public record PromptResult(@Nullable String description, List<Message> messages) {
    /** @param role {@code user} or {@code assistant} */
    public record Message(String role, Content content) {
        /** A message of the user. */
        public static Message user(Content content) {
            return new Message("user", content);
        }
    }

    public PromptResult {
        messages = List.copyOf(messages);
    }
}
