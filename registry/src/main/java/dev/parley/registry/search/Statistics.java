package dev.parley.registry.search;

import dev.parley.protocol.support.LruMap;
import dev.parley.store.database.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Numbers of rows that have a word. Small ones are read for each query; large ones, whose logarithm hardly changes, are kept for some
 * seconds, so a hub needs no word of the writes of others. Safe for any thread.
 */
final class Statistics {
    private static final long SMALL = 300;
    private static final int MAX_KEPT = 10_000;
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Words of a query that are looked up: its rarest ones. */
    private static final int MAX_TERMS = 16;

    private static final int MAX_WORDS = 100;

    /** Factor of the weight of words that no row has, as they may be synonyms, or names. */
    private static final double UNKNOWN = 0.75;

    private static final String ALL = "";

    private record Kept(long rows, long readNanos) {}

    private final boolean isPostgresql;
    private final Map<String, Kept> kept = new LruMap<>(MAX_KEPT);

    Statistics(boolean isPostgresql) {
        this.isPostgresql = isPostgresql;
    }

    boolean isPostgresql() {
        return isPostgresql;
    }

    /** The terms of a query, the rarest first. */
    List<Term> terms(Session session, SearchQuery query) throws SQLException {
        List<String> words = Words.ofQuery(query.text());
        long all = rows(session, ALL) + SearchIndex.FILLERS;
        var terms = new ArrayList<Term>();
        for (int i = 0; i < Math.min(words.size(), MAX_WORDS); i++) {
            String word = words.get(i);
            String stem = Words.indexed(word);
            boolean isPrefix = query.isTyping() && i == words.size() - 1 && word.length() > 1;
            if (terms.stream().noneMatch(term -> term.stem().equals(stem))) {
                long rows = rows(session, new Term(word, stem, isPrefix, 0, 0).expression(isPostgresql));
                terms.add(new Term(word, stem, isPrefix, rows, (rows == 0 ? UNKNOWN : 1) * Term.weight(rows, all)));
            }
        }
        terms.sort(Comparator.comparingLong(Term::rows));
        return limited(terms);
    }

    /** Unknown words of a long query do not take the places of those that the index has. */
    private static List<Term> limited(List<Term> terms) {
        if (terms.size() <= MAX_TERMS) {
            return terms;
        }
        List<Term> indexed =
                terms.stream().filter(term -> term.rows() > 0).limit(MAX_TERMS).toList();
        return indexed.isEmpty() ? terms.subList(0, MAX_TERMS) : indexed;
    }

    private long rows(Session session, String expression) throws SQLException {
        Kept before;
        synchronized (kept) {
            before = kept.get(expression);
        }
        if (before != null && System.nanoTime() - before.readNanos < KEPT_NANOS) {
            return before.rows;
        }
        long rows = expression.equals(ALL)
                ? session.number("SELECT sum(parts) FROM registry_search_entry")
                : session.number(
                        "SELECT count(*) FROM registry_search WHERE "
                                + (isPostgresql ? "words @@ ?::tsquery" : "registry_search MATCH ?"),
                        expression);
        if (rows >= SMALL) {
            synchronized (kept) {
                kept.put(expression, new Kept(rows, System.nanoTime()));
            }
        }
        return rows;
    }
}
