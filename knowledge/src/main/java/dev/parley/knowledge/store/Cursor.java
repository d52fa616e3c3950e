package dev.parley.knowledge.store;

import dev.parley.protocol.InvalidField;
import org.jspecify.annotations.Nullable;

/** Position of the next page: numbers, as opaque text. */
final class Cursor {
    private static final int RADIX = 36;

    private Cursor() {}

    /** Returns the cursor of the position after the row with these numbers. */
    static String write(long... parts) {
        var text = new StringBuilder();
        for (long part : parts) {
            text.append(text.isEmpty() ? "" : ".").append(Long.toString(part, RADIX));
        }
        return text.toString();
    }

    /**
     * Reads a cursor of {@code count} numbers; null is the beginning.
     *
     * @throws InvalidField if the text is not a cursor
     */
    static long @Nullable [] read(@Nullable String text, int parts) {
        if (text == null) {
            return null;
        }
        String[] numbers = text.split("\\.", -1);
        var read = new long[numbers.length];
        try {
            for (int i = 0; i < read.length; i++) {
                read[i] = Long.parseLong(numbers[i], RADIX);
                if (read[i] < 0) {
                    throw new NumberFormatException("negative");
                }
            }
        } catch (NumberFormatException notOurs) {
            throw InvalidField.of("after", text + " (expected: the cursor of a page)");
        }
        if (read.length != parts) {
            throw InvalidField.of("after", text + " (expected: the cursor of a page)");
        }
        return read;
    }
}
