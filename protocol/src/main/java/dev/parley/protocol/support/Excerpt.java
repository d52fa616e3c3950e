package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import org.jspecify.annotations.Nullable;

/** Beginnings of texts and answers of others, short enough for errors and logs. */
public final class Excerpt {
    private static final int LINE = 60;
    private static final int SHOWN = 200;
    private static final int MAX_MEDIA_TYPE = 100;
    private static final int READ = 16 * 1024; // bytes, of which most may be white space

    private Excerpt() {}

    /** Returns at most {@code characters} of a text, with an ellipsis if there are more. */
    public static String of(String text, int characters) {
        return text.length() <= characters ? text : text.substring(0, characters) + "…";
    }

    /** Returns the beginning of a text as a line of a log. */
    public static String line(String text) {
        return of(text.replaceAll("\\p{Cntrl}", "?"), LINE);
    }

    /** The media type and the first visible characters of a body. */
    public static String of(@Nullable String mediaType, byte[] body) {
        String type = mediaType == null || mediaType.isBlank() ? "no media type" : visible(mediaType, MAX_MEDIA_TYPE);
        String text = of(body);
        return type + (text.isEmpty() ? ", no text" : " " + text);
    }

    /** The first visible characters of a body, in quotes; empty if there are none. */
    public static String of(byte[] body) {
        String text = visible(new String(body, 0, Math.min(body.length, READ), UTF_8), SHOWN);
        return text.isEmpty() ? "" : "\"" + text + "\"";
    }

    /** A text without invisible characters, its white space as single spaces, and its end if it is long. */
    private static String visible(String text, int characters) {
        var shown = new StringBuilder();
        boolean space = false;
        int count = 0;
        for (int i = 0, c; i < text.length(); i += Character.charCount(c)) {
            c = text.codePointAt(i);
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.SPACE_SEPARATOR,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR -> space = count > 0;
                case Character.FORMAT, Character.SURROGATE, Character.UNASSIGNED -> {} // invisible, or no character
                default -> {
                    if (count >= characters) {
                        return shown.append('…').toString();
                    }
                    if (space) {
                        shown.append(' ');
                        count++;
                        space = false;
                    }
                    shown.appendCodePoint(c);
                    count++;
                }
            }
        }
        return shown.toString();
    }
}
