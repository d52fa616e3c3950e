package dev.parley.protocol.support;

import org.jspecify.annotations.Nullable;

/**
 * Wire form of a trace context.
 *
 * <p>Source: W3C Trace Context, section 3.2 "Traceparent Header".
 */
public final class Traceparent {
    /** Version, trace, parent and flags, in small hexadecimal digits. */
    private static final String FORM = "hh-hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh-hhhhhhhhhhhhhhhh-hh";

    private static final String NO_TRACE = "00000000000000000000000000000000";
    private static final String NO_PARENT = "0000000000000000";

    private Traceparent() {}

    /** Returns a valid {@code text}; null for others, which the specification has servers ignore. */
    public static @Nullable String orNull(@Nullable String text) {
        if (text == null || text.length() != FORM.length()) {
            return null;
        }
        for (int i = 0; i < FORM.length(); i++) {
            char c = text.charAt(i);
            boolean hex = c >= '0' && c <= '9' || c >= 'a' && c <= 'f';
            if (FORM.charAt(i) == 'h' ? !hex : c != '-') {
                return null;
            }
        }
        boolean invalid = text.startsWith("ff") || text.startsWith(NO_TRACE, 3) || text.startsWith(NO_PARENT, 36);
        return invalid ? null : text;
    }
}
