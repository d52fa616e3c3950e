package dev.parley.registry;

import java.util.Base64;

/**
 * A JWS in compact form.
 *
 * @param detached the same without its payload, {@code header..signature}, as verifiers take it
 */
public record CompactJws(byte[] payload, String detached) {
    /** @throws IllegalArgumentException if the text is something else */
    public static CompactJws read(String text) {
        String[] pieces = text.strip().split("\\.", -1);
        if (pieces.length != 3 || pieces[1].isEmpty()) {
            throw new IllegalArgumentException("no JWS in compact form");
        }
        return new CompactJws(Base64.getUrlDecoder().decode(pieces[1]), pieces[0] + ".." + pieces[2]);
    }

    @Override
    public String toString() {
        return detached.replace(
                "..", "." + Base64.getUrlEncoder().withoutPadding().encodeToString(payload) + ".");
    }
}
