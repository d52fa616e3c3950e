package dev.parley.protocol.support;

/** Beginnings of texts of others, short enough for errors and logs. */
public final class Excerpt {
    private static final int SHOWN = 60;

    private Excerpt() {}

    /** Returns at most {@code characters} of a text, with an ellipsis if there are more. */
    public static String of(String text, int characters) {
        return text.length() <= characters ? text : text.substring(0, characters) + "…";
    }

    /** Returns the beginning of a text as a line of a log. */
    public static String line(String text) {
        return of(text.replaceAll("\\p{Cntrl}", "?"), SHOWN);
    }
}
