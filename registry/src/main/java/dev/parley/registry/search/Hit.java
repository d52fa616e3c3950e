package dev.parley.registry.search;

import dev.parley.protocol.A2AException;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A found entry by its best row.
 *
 * @param number key of the row of the entry
 * @param part row of the entry in the index: 0 for itself, else the number of a skill
 * @param score 0 to 100
 * @param lists that have the entry: by words, by meaning
 * @param stars average of its reviews; 0 without any
 */
record Hit(long number, String id, int part, double score, List<String> lists, double stars) {
    static final List<String> WORDS = List.of("words");

    /** The best first; equals in the order of their registration, so that pages are stable. */
    static final Comparator<Hit> ORDER =
            Comparator.comparingDouble(Hit::score).reversed().thenComparingLong(Hit::number);

    /** Position after a result. */
    record Cursor(double score, long number) {
        private static final Cursor START = new Cursor(Double.MAX_VALUE, 0);

        static Cursor of(@Nullable String token) {
            if (token == null || token.isEmpty()) {
                return START;
            }
            String[] parts = token.split("-", -1);
            try {
                if (parts.length == 2) {
                    return new Cursor(
                            Double.longBitsToDouble(Long.parseUnsignedLong(parts[0], 36)),
                            Long.parseLong(parts[1], 36));
                }
            } catch (NumberFormatException foreign) {
                // falls through: it is not of this registry
            }
            throw A2AException.invalidParams("pageToken", "unknown (expected: the token of a page of the same query)");
        }

        String text() {
            return Long.toUnsignedString(Double.doubleToRawLongBits(score), 36) + "-" + Long.toString(number, 36);
        }

        boolean isBefore(Hit hit) {
            return isBefore(hit.score(), hit.number());
        }

        boolean isBefore(double other, long otherNumber) {
            return score > other || score == other && number < otherNumber;
        }
    }

    Cursor cursor() {
        return new Cursor(score, number);
    }
}
