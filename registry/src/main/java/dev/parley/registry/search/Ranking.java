package dev.parley.registry.search;

import dev.parley.registry.search.Hit.Cursor;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.LongStream;

/** Entries with the scores of their best rows, in the order of their keys. Immutable. */
final class Ranking {
    private static final int SHIFT = Integer.numberOfTrailingZeros(IndexedEntry.ROWS);

    /**
     * Scores of results, from {@code base} on for a score of 0 up to {@code base + span} for the best possible one.
     *
     * @param least score of a row
     * @param weight least weight of the terms that a row has
     */
    record Scale(double base, double span, double least, double best, double weight) {
        boolean has(Matches matches, int i) {
            return matches.score(i) >= least && matches.weight(i) >= weight;
        }
    }

    static final Ranking NONE = new Ranking(new int[0], new float[0]);

    private final int[] rows;
    private final float[] scores;

    private Ranking(int[] rows, float[] scores) {
        this.rows = rows;
        this.scores = scores;
    }

    /** @param earlier entries that are left out */
    static Ranking of(Matches matches, Scale scale, IndexState.Factors factors, Ranking earlier) {
        int[] rows = new int[matches.size()];
        float[] scores = new float[rows.length];
        int size = 0;
        int passed = 0;
        for (int i = 0; i < rows.length; ) {
            int number = matches.row(i) >> SHIFT;
            int best = i;
            for (i++; i < rows.length && matches.row(i) >> SHIFT == number; i++) {
                boolean isBetter = matches.score(i) > matches.score(best) || !scale.has(matches, best);
                best = scale.has(matches, i) && isBetter ? i : best;
            }
            while (passed < earlier.rows.length && earlier.rows[passed] >> SHIFT < number) {
                passed++;
            }
            boolean isEarlier = passed < earlier.rows.length && earlier.rows[passed] >> SHIFT == number;
            if (scale.has(matches, best) && !isEarlier) {
                double share = Math.clamp(matches.score(best) / scale.best, 0, 1);
                rows[size] = matches.row(best);
                scores[size++] = (float) (scale.base + scale.span * share * factors.of(number));
            }
        }
        return new Ranking(Arrays.copyOf(rows, size), Arrays.copyOf(scores, size));
    }

    /** Keys of the entries. */
    LongStream numbers() {
        return Arrays.stream(rows).mapToLong(row -> row >> SHIFT);
    }

    /** The best entries after a cursor, without their ids. */
    List<Hit> best(int limit, Cursor after) {
        // Scores are not negative, so their bits are in their order; of equal ones the first entry is the best.
        var best = new PriorityQueue<Long>();
        long least = Long.MIN_VALUE;
        for (int i = 0; i < rows.length; i++) {
            long key = ((long) Float.floatToRawIntBits(scores[i]) << 32) | (Integer.MAX_VALUE - i);
            if ((best.size() < limit || key > least) && after.isBefore(scores[i], rows[i] >> SHIFT)) {
                best.add(key);
                if (best.size() > limit) {
                    best.remove();
                }
                least = best.element();
            }
        }
        Hit[] hits = new Hit[best.size()];
        for (int i = hits.length - 1; i >= 0; i--) {
            int at = Integer.MAX_VALUE - (int) (long) best.remove();
            hits[i] = new Hit(rows[at] >> SHIFT, "", rows[at] & (IndexedEntry.ROWS - 1), scores[at], Hit.WORDS, 0);
        }
        return List.of(hits);
    }
}
