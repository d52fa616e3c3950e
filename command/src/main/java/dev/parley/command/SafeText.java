package dev.parley.command;

import java.util.function.IntPredicate;

/** Text of others that cannot leave its place in the output. */
public final class SafeText {
    private static final int ZERO_WIDTH_NON_JOINER = 0x200c;
    private static final int ZERO_WIDTH_JOINER = 0x200d;

    private SafeText() {}

    /** Text as one line without control characters. */
    public static String oneLine(String value) {
        return escaped(value, SafeText::isInvisible);
    }

    /**
     * Lines of text, a table or a document of JSON, in which a terminal finds no control sequence and no reversed text. Invisible
     * characters become {@code \\u} escapes, which leave the values of JSON and Turtle as they are.
     */
    public static String lines(String value) {
        return escaped(value, c -> isLeftOutOfLines(c) && c != '\n');
    }

    /** True for characters that a line does not show. Tabs, and the joiners of some scripts and emoji, are shown. */
    public static boolean isLeftOutOfLines(int c) {
        return isInvisible(c) && c != '\t' && c != ZERO_WIDTH_NON_JOINER && c != ZERO_WIDTH_JOINER;
    }

    private static String escaped(String value, IntPredicate isEscaped) {
        if (value.codePoints().noneMatch(isEscaped)) {
            return value;
        }
        var escaped = new StringBuilder();
        value.codePoints().forEach(c -> {
            if (!isEscaped.test(c)) {
                escaped.appendCodePoint(c);
                return;
            }
            switch (c) {
                case '\n' -> escaped.append("\\n");
                case '\r' -> escaped.append("\\r");
                case '\t' -> escaped.append("\\t");
                default -> {
                    for (char unit : Character.toChars(c)) {
                        escaped.append(String.format("\\u%04x", (int) unit));
                    }
                }
            }
        });
        return escaped.toString();
    }

    /** Invisible characters: control characters, the line separators of Unicode, and those that only change the display of others. */
    public static boolean isInvisible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }
}
