package dev.parley.activity.hub;

import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import org.jspecify.annotations.Nullable;

/** Beginnings of texts of messages as one line. */
final class VisibleText {
    /** Characters of a text that are looked at for each that is shown: a text may have a million that are not. */
    private static final int MOST_HIDDEN = 64;

    private VisibleText() {}

    /** At most so many visible characters of the first text of a message, with an ellipsis if there are more; null for none. */
    static @Nullable String of(Message message, int characters) {
        for (Part part : message.parts()) {
            if (part instanceof Part.Text text) {
                String visible = of(text.text(), characters);
                if (!visible.isEmpty()) {
                    return visible;
                }
            }
        }
        return null;
    }

    /** Leaves out control characters and those that only change the display of others, and joins blanks. */
    static String of(String text, int characters) {
        var line = new StringBuilder();
        int shown = 0;
        boolean isBlank = false;
        int end = Math.min(text.length(), characters * MOST_HIDDEN);
        for (int at = 0; at < end; ) {
            int c = text.codePointAt(at);
            at += Character.charCount(c);
            if (Character.isWhitespace(c) || Character.isSpaceChar(c)) {
                isBlank = shown > 0;
                continue;
            }
            if (isInvisible(c)) {
                continue;
            }
            if (isBlank) {
                line.append(' ');
                shown++;
                isBlank = false;
            }
            if (shown >= characters) {
                return line.toString().stripTrailing() + "…";
            }
            line.appendCodePoint(c);
            shown++;
        }
        return line.toString();
    }

    private static boolean isInvisible(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL, Character.FORMAT, Character.SURROGATE, Character.UNASSIGNED -> true;
            default -> false;
        };
    }
}
