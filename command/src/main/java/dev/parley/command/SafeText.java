package dev.parley.command;

/** Text of others that cannot leave its place in the output. */
public final class SafeText {
    private SafeText() {}

    /** Text as one line without control characters. */
    public static String oneLine(String value) {
        if (value.codePoints().noneMatch(SafeText::isInvisible)) {
            return value;
        }
        var escaped = new StringBuilder();
        value.codePoints().forEach(c -> {
            if (!isInvisible(c)) {
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
