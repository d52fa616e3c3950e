package dev.parley.registry.search;

import static java.util.Objects.requireNonNull;

import dev.parley.registry.SearchOperation.Means;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.search.Hit.Cursor;
import dev.parley.registry.search.Ranking.Scale;
import dev.parley.registry.search.Vectors.Near;
import dev.parley.registry.spi.Conditions;
import dev.parley.store.database.DatabaseSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Evaluation of a query. Its passes are disjoint and ordered: rows with all words, then rows with some of its rarer ones whose score
 * reaches the cutoff. The cutoff holds for facets, too. For one thread.
 */
final class SearchPlan {
    /** Part of the weight of a query that a row has to have, for its rarer words to be looked up by themselves. */
    private static final double COVERAGE = 0.4;

    /** Part of the best possible score that a row with some words has to reach. */
    private static final double CUTOFF = 0.14;

    /** Heaviest words of which a query has to be met: of a long story no agent has all. */
    private static final int COUNTED = 5;

    /** Words of a short query, of whose weight a row has to have a share. */
    private static final int SHORT = 4;

    /** This share. */
    private static final double SHARE = 0.3;

    /** Constant of reciprocal rank fusion, as usual. */
    private static final double FUSION = 60;

    /** Candidates that are read besides those of a page, as a few may be out of sight. */
    private static final int SPARE = 5;

    private static final List<Means> MEANING = List.of(Means.MEANING);
    private static final List<Means> BOTH = List.of(Means.WORDS, Means.MEANING);

    private final boolean hasWords;
    private final List<QueryWord> terms;
    private final IndexState.Factors factors;
    private final String keys;
    private @Nullable Ranking whole;
    private @Nullable Ranking partial;

    /**
     * @param terms of the query, the rarest first
     * @param keys table of the texts of a JSON array, in the SQL of the database
     */
    SearchPlan(SearchQuery query, List<QueryWord> terms, IndexState.Factors factors, String keys) {
        this.hasWords = !query.text().isBlank();
        this.terms = terms;
        this.factors = factors;
        this.keys = keys;
    }

    /** Entries that have all words in one row. */
    private Ranking whole() {
        Ranking made = whole;
        if (made == null) {
            made = terms.isEmpty() || terms.getFirst().rows() == 0
                    ? Ranking.NONE
                    : Ranking.of(
                            Matches.all(terms),
                            new Scale(50, 50, 0, QueryWord.weightOf(terms), 0),
                            factors,
                            Ranking.NONE);
            whole = made;
        }
        return made;
    }

    /** Entries that have some of the rarer words. */
    private Ranking partial() {
        Ranking made = partial;
        if (made == null) {
            made = terms.size() > 1 ? ofRarer() : Ranking.NONE;
            partial = made;
        }
        return made;
    }

    private Ranking ofRarer() {
        List<QueryWord> indexed = terms.stream().filter(term -> term.rows() > 0).toList();
        double all = QueryWord.weightOf(terms.stream()
                .sorted((one, other) -> Double.compare(other.weight(), one.weight()))
                .limit(COUNTED)
                .toList());
        double rest = QueryWord.weightOf(indexed);
        int rare = 0;
        while (rare < indexed.size() && rest >= COVERAGE * all) {
            rest -= indexed.get(rare++).weight();
        }
        if (rare == 0) {
            return Ranking.NONE;
        }
        List<QueryWord> rarer = indexed.subList(0, rare);
        List<QueryWord> common = indexed.subList(rare, indexed.size());
        // Rarer words count twice if a row may have common ones besides.
        int times = common.isEmpty() ? 1 : 2;
        Matches matches = Matches.any(rarer, times);
        common.forEach(matches::add);
        double best = QueryWord.weightOf(terms) + (times - 1) * QueryWord.weightOf(rarer);
        double least = CUTOFF * best * all / QueryWord.weightOf(terms);
        double weight = terms.size() <= SHORT ? SHARE * all : 0;
        return Ranking.of(matches, new Scale(0, 50, least, best, weight), factors, whole());
    }

    /** The best hits after a cursor, at most so many. */
    List<Hit> hits(DatabaseSession session, Conditions conditions, Cursor after, int limit) throws SQLException {
        if (!hasWords) {
            return session.list(
                    row -> new Hit(row.getLong(1), DatabaseSession.text(row, 2), 0, 0, List.of(), 0),
                    "SELECT e.number, e.id FROM registry_entry e WHERE " + conditions.where()
                            + " AND e.number > ? ORDER BY e.number LIMIT ?",
                    parameters(conditions, after.number(), limit));
        }
        var hits = new ArrayList<Hit>();
        add(session, whole(), conditions, after, limit, hits);
        if (hits.size() < limit) {
            add(session, partial(), conditions, after, limit, hits);
        }
        return hits.subList(0, Math.min(limit, hits.size()));
    }

    /** Adds the best entries that the caller may see. */
    private void add(
            DatabaseSession session, Ranking ranking, Conditions conditions, Cursor after, int limit, List<Hit> hits)
            throws SQLException {
        Cursor from = after;
        int read = limit - hits.size() + SPARE;
        while (hits.size() < limit) {
            List<Hit> next = ranking.best(read, from);
            hits.addAll(visible(session, conditions, next));
            if (next.size() < read) {
                return;
            }
            from = next.getLast().cursor();
            read *= 4;
        }
    }

    private record Row(String id, double factor, double stars) {}

    /** The rows of the entries among these that the caller may see. */
    private Map<Long, Row> rows(DatabaseSession session, Conditions conditions, LongStream numbers)
            throws SQLException {
        var rows = new HashMap<Long, Row>();
        try (ResultSet row = session.bind(
                        "SELECT e.number, e.id, s.factor, s.stars FROM " + keys
                                + " CROSS JOIN registry_entry e CROSS JOIN registry_search_entry s WHERE e.number = CAST(value AS bigint)"
                                + " AND s.number = e.number AND (" + conditions.where() + ")",
                        parameters(json(numbers), conditions))
                .executeQuery()) {
            while (row.next()) {
                rows.put(row.getLong(1), new Row(DatabaseSession.text(row, 2), row.getDouble(3), row.getDouble(4)));
            }
        }
        return rows;
    }

    private static String json(LongStream numbers) {
        return numbers.mapToObj(Long::toString).collect(Collectors.joining(",", "[", "]"));
    }

    private List<Hit> visible(DatabaseSession session, Conditions conditions, List<Hit> hits) throws SQLException {
        if (hits.isEmpty()) {
            return List.of();
        }
        Map<Long, Row> rows = rows(session, conditions, hits.stream().mapToLong(Hit::number));
        var visible = new ArrayList<Hit>();
        for (Hit hit : hits) {
            Row row = rows.get(hit.number());
            if (row != null) {
                visible.add(new Hit(hit.number(), row.id, hit.part(), hit.score(), hit.lists(), row.stars));
            }
        }
        return visible;
    }

    /** Keys of the entries that match by words or meaning; null for a query without words, which all match. */
    @Nullable
    BitSet matched(List<Near> near) {
        if (!hasWords) {
            return null;
        }
        var matched = new BitSet();
        LongStream byWords = LongStream.concat(whole().numbers(), partial().numbers());
        LongStream.concat(byWords, near.stream().mapToLong(Near::number))
                .forEach(number -> matched.set(Math.toIntExact(number)));
        return matched;
    }

    /** Entries that are near to the query and visible, the best first. */
    List<Hit> near(DatabaseSession session, Conditions conditions, List<Near> near) throws SQLException {
        if (near.isEmpty()) {
            return List.of();
        }
        Map<Long, Row> rows = rows(session, conditions, near.stream().mapToLong(Near::number));
        var hits = new ArrayList<Hit>();
        for (Near each : near) {
            Row row = rows.get(each.number());
            if (row != null) {
                double score = 100 * each.similarity() * row.factor;
                hits.add(new Hit(each.number(), row.id, each.part(), score, MEANING, row.stars));
            }
        }
        return hits.stream().sorted(Hit.ORDER).toList();
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
                        new Hit(hit.number(), hit.id(), hit.part(), score, hit.lists(), hit.stars()),
                        (one, other) -> new Hit(
                                one.number(), one.id(), one.part(), one.score() + other.score(), BOTH, one.stars()));
            }
        }
        return fused.values().stream().sorted(Hit.ORDER).toList();
    }

    private static @Nullable Object[] parameters(Conditions conditions, Object... last) {
        var all = new ArrayList<@Nullable Object>(conditions.values());
        all.addAll(List.of(last));
        return all.toArray();
    }

    private static @Nullable Object[] parameters(String first, Conditions conditions) {
        var all = new ArrayList<@Nullable Object>();
        all.add(requireNonNull(first));
        all.addAll(conditions.values());
        return all.toArray();
    }
}
