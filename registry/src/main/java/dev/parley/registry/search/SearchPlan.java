package dev.parley.registry.search;

import static java.util.Objects.requireNonNull;

import dev.parley.registry.search.Hit.Cursor;
import dev.parley.registry.search.Vectors.Near;
import dev.parley.registry.store.Conditions;
import dev.parley.store.database.Session;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * SQL of a query. Its passes are disjoint and ordered: rows with all words, then rows with some of its rarer ones whose score reaches
 * the cutoff. The cutoff holds for facets, too.
 */
final class SearchPlan {
    /** Part of the weight of a query that a row has to have, for its rarer words to be looked up by themselves. */
    private static final double COVERAGE = 0.4;

    /** Part of the best possible score that a row with some words has to reach. */
    private static final double CUTOFF = 0.14;

    /** Heaviest words of which a query has to be met: of a long story no agent has all. */
    private static final int COUNTED = 5;

    /** Weights of the columns of the index; the last are words for prefixes, which add nothing. */
    private static final String WEIGHTS = "6, 5, 4, 3, 2, 0";

    /** Weights of PostgreSQL's labels D, C, B and A: a word has about the score that FTS5 gives it. */
    private static final String LABELS = "'{0.75, 0.85, 0.95, 1}'";

    /** Score of FTS5 for a word, divided by its weight, that no number of occurrences exceeds. */
    private static final double FTS5_LIMIT = 2.2;

    /** Constant of reciprocal rank fusion, as usual. */
    private static final double FUSION = 60;

    private static final List<String> MEANING = List.of("meaning");
    private static final List<String> BOTH = List.of("words", "meaning");

    private static final int FIRST_ROWS = 64;

    /** Bits of the number of a row within its entry. */
    private static final int SHIFT = Integer.numberOfTrailingZeros(IndexedEntry.ROWS);

    /**
     * A part of the results.
     *
     * @param base score of all of its results; {@code span} more for a perfect one
     * @param least least score of the database
     * @param best limit of the score of the database
     */
    private record Pass(String expression, String score, double base, double span, double least, double best) {}

    private final boolean isPostgresql;
    private final boolean hasWords;
    private final List<Pass> passes = new ArrayList<>();

    SearchPlan(String text, List<Term> terms, boolean isPostgresql) {
        this.isPostgresql = isPostgresql;
        this.hasWords = !text.isBlank();
        if (!terms.isEmpty()) {
            add(terms);
        }
    }

    private void add(List<Term> terms) {
        List<Term> indexed = terms.stream().filter(term -> term.rows() > 0).toList();
        if (indexed.size() == terms.size()) {
            passes.add(new Pass(
                    Term.all(terms, isPostgresql), score(terms, List.of()), 50, 50, 0, best(terms, List.of())));
        }
        if (indexed.isEmpty() || terms.size() == 1) {
            return;
        }
        double all = Term.weightOf(terms.stream()
                .sorted((one, other) -> Double.compare(other.weight(), one.weight()))
                .limit(COUNTED)
                .toList());
        double rest = Term.weightOf(indexed);
        int rare = 0;
        while (rare < indexed.size() && rest >= COVERAGE * all) {
            rest -= indexed.get(rare++).weight();
        }
        if (rare == 0) {
            return;
        }
        List<Term> rarer = indexed.subList(0, rare);
        List<Term> common = indexed.subList(rare, indexed.size());
        // Rarer words are in the expression twice, and so have twice their weight.
        String expression = common.isEmpty()
                ? Term.any(rarer, isPostgresql)
                : Term.any(rarer, isPostgresql) + (isPostgresql ? " & " : " AND ") + Term.any(indexed, isPostgresql);
        List<Term> twice = common.isEmpty() ? List.of() : rarer;
        double best = best(terms, twice);
        passes.add(
                new Pass(expression, score(indexed, twice), 0, 50, CUTOFF * best * all / Term.weightOf(terms), best));
    }

    private double best(List<Term> terms, List<Term> twice) {
        return (isPostgresql ? 1 : FTS5_LIMIT) * (Term.weightOf(terms) + Term.weightOf(twice));
    }

    private String score(List<Term> terms, List<Term> twice) {
        if (!isPostgresql) {
            return "-bm25(registry_search, " + WEIGHTS + ")";
        }
        return Stream.concat(terms.stream(), twice.stream())
                .map(term -> String.format(
                        Locale.ROOT,
                        "%.6f * least(1, 1.37 * ts_rank(%s, words, %s::tsquery))",
                        term.weight(),
                        LABELS,
                        quoted(term)))
                .collect(Collectors.joining(" + "));
    }

    /** A term in SQL: it has letters, digits, underscores and the quotes of {@link Term#expression} only. */
    private static String quoted(Term term) {
        return "'" + term.expression(true).replace("'", "''") + "'";
    }

    /** Rows of the index with their scores. */
    private String rows(Pass pass) {
        return "SELECT " + (isPostgresql ? "row_no" : "rowid AS row_no") + ", " + pass.score
                + " AS score FROM registry_search WHERE "
                + (isPostgresql ? "words @@ ?::tsquery" : "registry_search MATCH ?");
    }

    /** The best hits behind a cursor, at most so many. */
    List<Hit> hits(Session session, Conditions conditions, Cursor after, int limit) throws SQLException {
        if (!hasWords) {
            return session.list(
                    row -> new Hit(row.getLong(1), Session.text(row, 2), 0, 0, List.of()),
                    "SELECT e.number, e.id FROM registry_entry e WHERE " + conditions.where()
                            + " AND e.number > ? ORDER BY e.number LIMIT ?",
                    parameters(conditions.values(), after.number(), limit));
        }
        var hits = new ArrayList<Hit>();
        var earlier = new HashSet<Long>();
        for (Pass pass : passes) {
            if (hits.size() < limit) {
                add(session, pass, conditions, after, limit, hits, earlier);
            }
        }
        return hits;
    }

    /**
     * Adds the hits of a pass. Factors lower scores, so the order of the database is not yet that of the hits: rows are read until no
     * further one can be better than the last hit.
     */
    private void add(
            Session session,
            Pass pass,
            Conditions conditions,
            Cursor after,
            int limit,
            List<Hit> hits,
            Set<Long> earlier)
            throws SQLException {
        int wanted = limit - hits.size();
        for (int rows = Math.max(FIRST_ROWS, 4 * limit); ; rows *= 4) {
            var best = new HashMap<Long, Hit>();
            double[] last = {Double.MAX_VALUE};
            int read = read(
                    session,
                    pass,
                    conditions,
                    rows,
                    hit -> {
                        best.merge(hit.number(), hit, (one, other) -> Hit.ORDER.compare(one, other) <= 0 ? one : other);
                    },
                    last);
            best.keySet().removeAll(earlier);
            List<Hit> found = best.values().stream()
                    .filter(after::isBefore)
                    .sorted(Hit.ORDER)
                    .limit(wanted)
                    .toList();
            boolean isAll = read < rows;
            if (isAll || found.size() == wanted && last[0] <= found.getLast().score()) {
                hits.addAll(found);
                earlier.addAll(best.keySet());
                return;
            }
        }
    }

    /** Reads the first rows of a pass, and returns how many there were above the cutoff. */
    private int read(Session session, Pass pass, Conditions conditions, int limit, Consumer<Hit> visible, double[] last)
            throws SQLException {
        int read = 0;
        try (ResultSet row = session.bind(
                        "SELECT m.row_no, m.score, s.factor, e.id, (" + conditions.where() + ") FROM (" + rows(pass)
                                + " ORDER BY score DESC, row_no LIMIT ?) m CROSS JOIN registry_entry e CROSS JOIN registry_search_entry s WHERE e.number = m.row_no >> "
                                + SHIFT + " AND s.number = e.number",
                        parameters(conditions.values(), pass.expression, limit))
                .executeQuery()) {
            while (row.next()) {
                double score = row.getDouble(2);
                if (score < pass.least) {
                    continue;
                }
                read++;
                double raw = pass.base + pass.span * Math.clamp(score / pass.best, 0, 1);
                last[0] = Math.min(last[0], raw);
                if (row.getBoolean(5)) {
                    long key = row.getLong(1);
                    visible.accept(new Hit(
                            key >> SHIFT,
                            Session.text(row, 4),
                            (int) (key & IndexedEntry.ROWS - 1),
                            pass.base + (raw - pass.base) * row.getDouble(3),
                            Hit.WORDS));
                }
            }
        }
        return read;
    }

    /**
     * Numbers of the entries that match by words or meaning, by the labels of some fields.
     *
     * @return labels as {@code field=value}, and the number of all entries under the empty one
     */
    Map<String, Long> counts(Session session, Conditions conditions, List<Near> near, List<String> fields)
            throws SQLException {
        var values = new ArrayList<@Nullable Object>();
        String matched;
        if (hasWords) {
            var parts = new ArrayList<String>();
            for (Pass pass : passes) {
                parts.add("SELECT DISTINCT e.number FROM (" + rows(pass)
                        + ") m CROSS JOIN registry_entry e WHERE e.number = m.row_no >> " + SHIFT
                        + " AND m.score >= ? AND (" + conditions.where() + ")");
                values.add(pass.expression);
                values.add(pass.least);
                values.addAll(conditions.values());
            }
            if (!near.isEmpty()) {
                parts.add("SELECT e.number FROM registry_entry e WHERE " + isOne(near) + " AND (" + conditions.where()
                        + ")");
                values.addAll(conditions.values());
            }
            if (parts.isEmpty()) {
                return Map.of("", 0L);
            }
            matched = String.join(" UNION ", parts);
        } else {
            matched = "SELECT e.number FROM registry_entry e WHERE " + conditions.where();
            values.addAll(conditions.values());
        }
        var counts = new LinkedHashMap<String, Long>();
        String sql = "WITH matched AS (" + matched + ") SELECT '' AS label, count(*) AS entries FROM matched";
        if (!fields.isEmpty()) {
            sql +=
                    " UNION ALL SELECT l.label, count(*) FROM matched CROSS JOIN registry_label l WHERE l.entry = matched.number AND ("
                            + fields.stream()
                                    .map(field -> "substr(l.label, 1, ?) = ?")
                                    .collect(Collectors.joining(" OR "))
                            + ") GROUP BY l.label";
            for (String field : fields) {
                values.add(field.length() + 1);
                values.add(field + "=");
            }
        }
        try (ResultSet row = session.bind(sql + " ORDER BY entries DESC, label", values.toArray())
                .executeQuery()) {
            while (row.next()) {
                counts.put(Session.text(row, 1), row.getLong(2));
            }
        }
        return counts;
    }

    /** Entries that are near to the query and visible, the best first. */
    static List<Hit> visible(Session session, Conditions conditions, List<Near> near) throws SQLException {
        if (near.isEmpty()) {
            return List.of();
        }
        var byNumber = new HashMap<Long, Near>();
        near.forEach(each -> byNumber.put(each.number(), each));
        return session
                .list(
                        row -> {
                            Near each = requireNonNull(byNumber.get(row.getLong(1)));
                            return new Hit(
                                    each.number(),
                                    Session.text(row, 2),
                                    each.part(),
                                    100 * each.similarity() * row.getDouble(3),
                                    MEANING);
                        },
                        "SELECT e.number, e.id, s.factor FROM registry_entry e JOIN registry_search_entry s ON s.number = e.number WHERE "
                                + isOne(near) + " AND (" + conditions.where() + ")",
                        conditions.values().toArray())
                .stream()
                .sorted(Hit.ORDER)
                .toList();
    }

    private static String isOne(List<Near> near) {
        return near.stream().map(each -> "" + each.number()).collect(Collectors.joining(", ", "e.number IN (", ")"));
    }

    /** Fuses two lists by the ranks of their entries; the first of both has the score 100. */
    static List<Hit> fused(List<Hit> byWords, List<Hit> byMeaning) {
        var fused = new HashMap<Long, Hit>();
        for (List<Hit> list : List.of(byWords, byMeaning)) {
            for (int i = 0; i < list.size(); i++) {
                Hit hit = list.get(i);
                double score = 50 * (FUSION + 1) / (FUSION + 1 + i);
                fused.merge(
                        hit.number(),
                        new Hit(hit.number(), hit.id(), hit.part(), score, hit.lists()),
                        (one, other) -> new Hit(one.number(), one.id(), one.part(), one.score() + other.score(), BOTH));
            }
        }
        return fused.values().stream().sorted(Hit.ORDER).toList();
    }

    private static @Nullable Object[] parameters(List<@Nullable Object> first, Object... further) {
        var all = new ArrayList<@Nullable Object>(first);
        Collections.addAll(all, further);
        return all.toArray();
    }
}
