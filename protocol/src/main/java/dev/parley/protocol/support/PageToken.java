package dev.parley.protocol.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Base64;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Beginning of the next page of a list, as an opaque string for the caller that received it: the fields of a position, bound to the question
 * by a checksum. The checksum has no key: a forged token only names a position in a list that its caller may read, so the question has to
 * name the caller wherever lists depend on it.
 */
public final class PageToken {
    private PageToken() {}

    /**
     * @param question caller, filters and order of the list, as a value with a text of its own
     * @param fields of the position after the page; only the last one may have line breaks
     */
    public static String of(Object question, List<?> fields) {
        var text = new StringBuilder(checksum(question));
        fields.forEach(field -> text.append('\n').append(field));
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(text.toString().getBytes(UTF_8));
    }

    /**
     * Returns the position of a token.
     *
     * @param position reads so many fields; throws IllegalArgumentException if they are not those of a token
     * @param refusal of a token that was not made for this question
     */
    public static <T> T read(
            Object question,
            String token,
            int count,
            Function<List<String>, T> position,
            Supplier<? extends RuntimeException> refusal) {
        try {
            String[] parts = new String(Base64.getUrlDecoder().decode(token), UTF_8).split("\n", count + 1);
            if (parts.length == count + 1 && parts[0].equals(checksum(question))) {
                return position.apply(List.of(parts).subList(1, parts.length));
            }
        } catch (IllegalArgumentException foreign) {
            // refused as any other token of another list
        }
        throw refusal.get();
    }

    private static String checksum(Object question) {
        return Sha256.hex(question.toString()).substring(0, 16);
    }
}
