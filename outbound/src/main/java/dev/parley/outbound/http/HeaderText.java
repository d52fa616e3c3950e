package dev.parley.outbound.http;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/** Names and values allowed in HTTP headers. Anything else could end the header and begin another one. */
public final class HeaderText {
    public static final int MAX_LENGTH = 8192;

    private static final Pattern TOKEN = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
    private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e]*");

    /** Headers that the HTTP client itself writes; others that set them break the exchange. */
    private static final Set<String> RESERVED =
            Set.of("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade");

    private HeaderText() {}

    /** True for a name of a header, or of an authentication scheme. */
    public static boolean isToken(String text) {
        return TOKEN.matcher(text).matches();
    }

    /** True for a name of a header that a caller, or a card, may have set. */
    public static boolean maySet(String name) {
        return isToken(name) && !RESERVED.contains(name.toLowerCase(Locale.ROOT));
    }

    /** True for a value of printable ASCII characters and spaces. */
    public static boolean isValue(String text) {
        return text.length() <= MAX_LENGTH && VALUE.matcher(text).matches();
    }
}
