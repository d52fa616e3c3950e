package dev.parley.registry.search;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A word of a query.
 *
 * @param word as the caller wrote it, in lower case
 * @param stem as the index has it
 * @param isPrefix the begin of a word
 * @param rows number of rows that have it
 * @param weight logarithm of its rarity, at least a small number
 */
record Term(String word, String stem, boolean isPrefix, long rows, double weight) {
    /** Weight of a term that {@code rows} of {@code all} rows have, as FTS5 reckons. */
    static double weight(long rows, long all) {
        return Math.max(1e-6, Math.log((all - rows + 0.5) / (rows + 0.5)));
    }

    static double weightOf(List<Term> terms) {
        return terms.stream().mapToDouble(Term::weight).sum();
    }

    private String fts5() {
        return isPrefix ? "(\"~" + Words.ascii(word) + "\" * OR \"" + stem + "\")" : "\"" + stem + "\"";
    }

    private String tsquery() {
        return isPrefix ? "('~" + Words.ascii(word) + "':* | '" + stem + "')" : "'" + stem + "'";
    }

    String expression(boolean isPostgresql) {
        return isPostgresql ? tsquery() : fts5();
    }

    static String all(List<Term> terms, boolean isPostgresql) {
        return joined(terms, isPostgresql, isPostgresql ? " & " : " AND ");
    }

    static String any(List<Term> terms, boolean isPostgresql) {
        return joined(terms, isPostgresql, isPostgresql ? " | " : " OR ");
    }

    private static String joined(List<Term> terms, boolean isPostgresql, String operator) {
        return terms.stream()
                .map(term -> term.expression(isPostgresql))
                .collect(Collectors.joining(operator, "(", ")"));
    }
}
