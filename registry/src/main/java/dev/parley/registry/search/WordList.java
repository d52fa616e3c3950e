package dev.parley.registry.search;

import java.util.Arrays;

/**
 * Rows of the index with a word, in their order, and how well each fits the word. Immutable.
 *
 * @param rows keys of the rows
 * @param fits share of the best possible score of the word, in steps of 1 / {@link #BEST}
 * @param version of the index at which the list was read
 * @param all number of the rows of the index at that time
 */
@SuppressWarnings("ArrayRecordComponent") // two lists are never compared
record WordList(int[] rows, char[] fits, long version, long all) {
    static final int BEST = 0xFFFF;

    /** Memory of a list besides its rows. */
    private static final int OVERHEAD = 120;

    private static final int ROW = Integer.BYTES + Character.BYTES;

    int size() {
        return rows.length;
    }

    int bytes() {
        return OVERHEAD + ROW * rows.length;
    }

    WordList asOf(long newer) {
        return new WordList(rows, fits, newer, all);
    }

    /** Average lengths of texts are a part of scores, and change little before the index has grown by a quarter. */
    boolean isOutdated(long rowsNow) {
        return rowsNow > all + all / 4 || rowsNow < all - all / 4;
    }

    /** This list without the rows in ranges of keys, both ends of which belong to them, and with those of another one. */
    WordList with(int[] ranges, WordList fresh) {
        int[] merged = new int[rows.length + fresh.rows.length];
        char[] mergedFits = new char[merged.length];
        int size = 0;
        int added = 0;
        int range = 0;
        for (int i = 0; i < rows.length; i++) {
            while (range < ranges.length && ranges[range + 1] < rows[i]) {
                range += 2;
            }
            if (range < ranges.length && ranges[range] <= rows[i]) {
                continue;
            }
            for (; added < fresh.rows.length && fresh.rows[added] < rows[i]; added++) {
                merged[size] = fresh.rows[added];
                mergedFits[size++] = fresh.fits[added];
            }
            merged[size] = rows[i];
            mergedFits[size++] = fits[i];
        }
        for (; added < fresh.rows.length; added++) {
            merged[size] = fresh.rows[added];
            mergedFits[size++] = fresh.fits[added];
        }
        return new WordList(Arrays.copyOf(merged, size), Arrays.copyOf(mergedFits, size), fresh.version, fresh.all);
    }

    /** The rows of two lists; those of both fit as in this one. */
    WordList or(WordList other) {
        int[] merged = new int[rows.length + other.rows.length];
        char[] mergedFits = new char[merged.length];
        int size = 0;
        for (int i = 0, j = 0; i < rows.length || j < other.rows.length; size++) {
            boolean isMine = j == other.rows.length || i < rows.length && rows[i] <= other.rows[j];
            merged[size] = isMine ? rows[i] : other.rows[j];
            mergedFits[size] = isMine ? fits[i] : other.fits[j];
            i += isMine ? 1 : 0;
            while (j < other.rows.length && other.rows[j] <= merged[size]) {
                j++;
            }
        }
        return new WordList(Arrays.copyOf(merged, size), Arrays.copyOf(mergedFits, size), version, all);
    }
}
