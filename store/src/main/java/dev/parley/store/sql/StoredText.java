package dev.parley.store.sql;

/**
 * Texts as tables hold them: U+0000, which PostgreSQL cannot store, is replaced by two characters. SQLite gets the same, so that
 * both databases compare, find and return the same texts.
 */
public final class StoredText {
    /** A noncharacter of Unicode, which is reserved for uses like this one. */
    private static final char ESCAPE = '\uFDD0';

    private StoredText() {}

    public static String encode(String text) {
        return text.indexOf('\0') < 0 && text.indexOf(ESCAPE) < 0
                ? text
                : text.replace("" + ESCAPE, ESCAPE + "1").replace("\0", ESCAPE + "0");
    }

    public static String decode(String text) {
        return text.indexOf(ESCAPE) < 0
                ? text
                : text.replace(ESCAPE + "0", "\0").replace(ESCAPE + "1", "" + ESCAPE);
    }
}
