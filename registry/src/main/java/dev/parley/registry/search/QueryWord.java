package dev.parley.registry.search;

import java.util.List;

/**
 * A word of a query.
 *
 * @param word as the caller wrote it, in lower case
 * @param list rows that have it, or a word that it begins
 * @param weight logarithm of its rarity, at least a small number
 */
record QueryWord(String word, WordList list, double weight) {
    int rows() {
        return list.size();
    }

    /** Weight of a term that {@code rows} of {@code all} rows have, as FTS5 reckons. */
    static double weight(long rows, long all) {
        return Math.max(1e-6, Math.log((all - rows + 0.5) / (rows + 0.5)));
    }

    static double weightOf(List<QueryWord> terms) {
        return terms.stream().mapToDouble(QueryWord::weight).sum();
    }
}
