package dev.parley.agenttools;

/**
 * Result of a tool for the model.
 *
 * @param isError whether the tool did not do what the model wanted
 * @param text answer or reason; at most some 100,000 characters, and a note where it is cut
 */
public record ToolResult(boolean isError, String text) {
    static ToolResult success(String text) {
        return new ToolResult(false, text.isBlank() ? "Completed, without a text" : ToolTexts.shortened(text));
    }

    /** @param trailer line after the text, which is not cut */
    static ToolResult success(String text, String trailer) {
        return new ToolResult(false, ToolTexts.shortened(text) + "\n" + trailer);
    }

    static ToolResult error(String text) {
        return new ToolResult(true, ToolTexts.shortened(text));
    }

    /** @param trailer line after the text, which is not cut */
    static ToolResult error(String text, String trailer) {
        return new ToolResult(true, ToolTexts.shortened(text) + "\n" + trailer);
    }
}
