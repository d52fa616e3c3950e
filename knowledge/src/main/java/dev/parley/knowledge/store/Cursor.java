package dev.parley.knowledge.store;

import dev.parley.protocol.InvalidField;
import dev.parley.protocol.support.PageToken;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Page tokens of one list, whose positions are numbers. */
public record Cursor(List<?> question) {
    /** @param question name, graph and filter of the list */
    public static Cursor of(Object... question) {
        return new Cursor(List.of(question));
    }

    /** Returns the token of the position after the row with these numbers. */
    public String write(long... position) {
        return PageToken.of(question, LongStream.of(position).boxed().toList());
    }

    /**
     * Reads a position of {@code count} numbers; null is the beginning.
     *
     * @throws InvalidField if the token is not one of this list
     */
    public long @Nullable [] read(@Nullable String token, int count) {
        return token == null
                ? null
                : PageToken.read(
                        question,
                        token,
                        count,
                        Cursor::numbers,
                        () -> InvalidField.of("after", token + " (expected: the cursor of a page of the same query)"));
    }

    private static long[] numbers(List<String> position) {
        long[] numbers = position.stream().mapToLong(Long::parseLong).toArray();
        if (Arrays.stream(numbers).anyMatch(number -> number < 0)) {
            throw new NumberFormatException("negative");
        }
        return numbers;
    }
}
