package dev.parley.cli;

import dev.parley.command.SafeText;
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
    private static final int ZERO_WIDTH_NON_JOINER = 0x200c;
    private static final int ZERO_WIDTH_JOINER = 0x200d;

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
        return SafeText.oneLine(value);
    }

    private static String clean(String line) {
        return line.codePoints().noneMatch(TextPage::isLeftOut)
                ? line
                : line.codePoints()
                        .filter(c -> !isLeftOut(c))
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString();
    }

    /** Whole lines may have tabs, and what some scripts and emoji join and part letters with. */
    private static boolean isLeftOut(int c) {
        return SafeText.isInvisible(c) && c != '\t' && c != ZERO_WIDTH_NON_JOINER && c != ZERO_WIDTH_JOINER;
    }
}
