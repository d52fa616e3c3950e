package dev.parley.cli;

import org.jspecify.annotations.Nullable;

/**
 * Text output: {@code Label: value} lines, and blocks for what does not fit on a line.
 *
 * <p>What an agent says cannot leave its place: values are escaped to one line, block lines are indented (so none looks
 * like a field, and none is empty and closes the block early), and control characters never reach a terminal.
 *
 * <p>Source: a2a-cli specification 0.2, section 11.2.
 */
final class TextPage {
    private static final String INDENT = "  ";

    private final StringBuilder text = new StringBuilder();

    /** One field; nothing if {@code value} is null. */
    TextPage field(String label, @Nullable Object value) {
        if (value != null) {
            text.append(label).append(": ").append(oneLine(value.toString())).append('\n');
        }
        return this;
    }

    /** A block: its label, the content, a blank line. */
    TextPage block(String label, String content) {
        text.append(label).append(":\n");
        content.lines().forEach(line -> text.append(INDENT).append(clean(line)).append('\n'));
        text.append('\n');
        return this;
    }

    /** A blank line between groups of fields. */
    TextPage gap() {
        if (!text.isEmpty() && text.charAt(text.length() - 1) == '\n' && !endsBlank()) {
            text.append('\n');
        }
        return this;
    }

    private boolean endsBlank() {
        int end = text.length();
        return end >= 2 && text.charAt(end - 2) == '\n';
    }

    boolean isEmpty() {
        return text.isEmpty();
    }

    @Override
    public String toString() {
        return text.toString();
    }

    /** Text as one line without control characters. */
    static String oneLine(String value) {
        StringBuilder escaped = null;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (isControl(c)) {
                if (escaped == null) {
                    escaped = new StringBuilder(value.substring(0, i));
                }
                switch (c) {
                    case '\n' -> escaped.append("\\n");
                    case '\r' -> escaped.append("\\r");
                    case '\t' -> escaped.append("\\t");
                    default -> escaped.append(String.format("\\u%04x", (int) c));
                }
            } else if (escaped != null) {
                escaped.append(c);
            }
        }
        return escaped == null ? value : escaped.toString();
    }

    private static String clean(String line) {
        StringBuilder cleaned = null;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (isControl(c) && c != '\t') {
                if (cleaned == null) {
                    cleaned = new StringBuilder(line.substring(0, i));
                }
            } else if (cleaned != null) {
                cleaned.append(c);
            }
        }
        return cleaned == null ? line : cleaned.toString();
    }

    /** Control characters, the line separators of Unicode, and those that reorder what is displayed. */
    private static boolean isControl(char c) {
        return Character.isISOControl(c)
                || c == '\u2028'
                || c == '\u2029'
                || c >= '\u202a' && c <= '\u202e'
                || c >= '\u2066' && c <= '\u2069';
    }
}
