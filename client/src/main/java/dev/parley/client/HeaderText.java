package dev.parley.client;

import java.util.regex.Pattern;

/** What may stand in an HTTP header. Anything else could end the header and begin another one. */
final class HeaderText {
    static final int MAX_LENGTH = 8192;

    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
    private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e]*");

    private HeaderText() {}

    /** True for a name of a header, or of an authentication scheme. */
    static boolean isToken(String text) {
        return TOKEN.matcher(text).matches();
    }

    /** True for a value of printable ASCII characters and spaces. */
    static boolean isValue(String text) {
        return text.length() <= MAX_LENGTH && VALUE.matcher(text).matches();
    }
}
