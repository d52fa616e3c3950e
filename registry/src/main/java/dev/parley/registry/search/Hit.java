package dev.parley.registry.search;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.PageToken;
import dev.parley.registry.SearchOperation.Means;
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
record Hit(long number, String id, int part, double score, List<Means> lists, double stars) {
    static final List<Means> WORDS = List.of(Means.WORDS);

    /** The best first; equals in the order of their registration, so that pages are stable. */
    static final Comparator<Hit> ORDER =
            Comparator.comparingDouble(Hit::score).reversed().thenComparingLong(Hit::number);

    /** Position after a result. */
    record Cursor(double score, long number) {
        static final Cursor START = new Cursor(Double.MAX_VALUE, 0);

        static Cursor of(Object list, @Nullable String token) {
            return token == null || token.isEmpty()
                    ? START
                    : PageToken.read(
                            list,
                            token,
                            2,
                            at -> new Cursor(
                                    Double.longBitsToDouble(Long.parseLong(at.get(0))), Long.parseLong(at.get(1))),
                            () -> A2AException.invalidParams(
                                    "pageToken", "unknown (expected: the token of a page of the same query)"));
        }

        String token(Object list) {
            return PageToken.of(list, List.of(Double.doubleToRawLongBits(score), number));
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
