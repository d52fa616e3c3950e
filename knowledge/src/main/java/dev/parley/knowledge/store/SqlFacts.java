package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.changes.Characters;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.Pattern;
import dev.parley.knowledge.store.SqlScan.Row;
import dev.parley.store.database.DatabaseSession;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes statements of rows: reads their terms, and where they come from. */
public final class SqlFacts {
    /** Characters of the longest provenance that is kept in memory. */
    private static final int MAX_CACHED = 4_096;

    /** Provenances that a change keeps in memory. */
    private static final int MAX_OF_CHANGE = 1_000;

    /** Characters of statements that are read in one go; a page that would have more ends early. */
    private static final long MAX_CHARACTERS = 16L << 20;

    private final DatabaseSession session;
    private final GroupCache space;
    private final Terms terms;
    private final boolean committed;
    private final Set<String> sources = new LinkedHashSet<>();

    /** Provenances of a change that is being made, by their numbers: most statements of a change have the same one. */
    private final Map<Long, Map<String, @Nullable Object>> ofChange = new HashMap<>();

    /**
     * @param committed whether what is read cannot be taken back any more, nor is erased by now, so that it may be kept in
     *     memory: numbers of what is taken back are given again
     */
    public SqlFacts(DatabaseSession session, GroupCache space, Terms terms, boolean committed) {
        this.session = session;
        this.space = space;
        this.terms = terms;
        this.committed = committed;
    }

    /**
     * Returns what rows stand for, with one look at the terms for all of them: of the first few, at least one, if they are
     * so long that memory would suffer.
     */
    List<Fact> of(List<Row> rows) throws SQLException {
        var facts = new ArrayList<Fact>(rows.size());
        var provenances = new HashMap<Long, Map<String, @Nullable Object>>();
        var ofOrigins = new HashMap<Origin, Map<String, @Nullable Object>>();
        long characters = 0;
        int size = rows.size();
        while (facts.size() < rows.size() && characters <= MAX_CHARACTERS) {
            List<Row> some = rows.subList(facts.size(), Math.min(rows.size(), facts.size() + size));
            Map<Long, Term> known;
            try {
                known = terms.getAll(session, numbers(some));
            } catch (Terms.TooLong tooLong) {
                size = (some.size() + 1) / 2;
                continue;
            }
            for (Row row : some) {
                if (characters <= MAX_CHARACTERS) {
                    var origin = new Origin(row.provenance(), row.change(), row.confirmedMs());
                    Map<String, @Nullable Object> provenance = ofOrigins.get(origin);
                    if (provenance == null) {
                        provenance = provenance(origin, provenances);
                    }
                    Fact fact = fact(row, known, provenance);
                    // The statement's copy, which the next statement shares.
                    ofOrigins.put(origin, fact.statement().provenance());
                    String graph = fact.statement().graph();
                    sources.add(graph == null ? Pattern.DEFAULT_GRAPH : graph);
                    facts.add(fact);
                    characters += Characters.of(fact.statement());
                }
            }
        }
        return facts;
    }

    private static Set<Long> numbers(List<Row> rows) {
        var numbers = new HashSet<Long>();
        for (Row row : rows) {
            numbers.add(row.s());
            numbers.add(row.p());
            numbers.add(row.o());
            if (row.g() != Terms.NONE) {
                numbers.add(row.g());
            }
        }
        return numbers;
    }

    /** Origin of a statement: the numbers of its provenance and change, and when it was confirmed. */
    private record Origin(long provenance, long change, long confirmedMs) {}

    private Map<String, @Nullable Object> provenance(
            Origin origin, Map<Long, Map<String, @Nullable Object>> provenances) throws SQLException {
        Map<String, @Nullable Object> stored = provenances.get(origin.provenance());
        if (stored == null) {
            stored = provenance(origin.provenance());
            provenances.put(origin.provenance(), stored);
        }
        var provenance = new LinkedHashMap<>(stored);
        if (origin.change() != 0) {
            provenance.put("changeId", space.changeId(origin.change()));
        }
        provenance.put("recordedAt", Instant.ofEpochMilli(origin.confirmedMs()).toString());
        return provenance;
    }

    private Fact fact(Row row, Map<Long, Term> known, Map<String, @Nullable Object> provenance) {
        return new Fact(
                new Statement(
                        (Resource) requireNonNull(known.get(row.s())),
                        ((Resource) requireNonNull(known.get(row.p()))).id(),
                        requireNonNull(known.get(row.o())),
                        row.g() == Terms.NONE ? null : ((Resource) requireNonNull(known.get(row.g()))).id(),
                        row.certainty(),
                        provenance),
                Instant.ofEpochMilli(row.confirmedMs()));
    }

    /** Returns the provenance with this number. */
    public Map<String, @Nullable Object> provenance(long number) throws SQLException {
        if (number == Terms.NONE) {
            return Map.of();
        }
        Map<String, @Nullable Object> known =
                committed ? space.provenance().getIfPresent(number) : ofChange.get(number);
        if (known == null) {
            known = session.first(
                            row -> JsonColumn.object(DatabaseSession.text(row, 1)),
                            "SELECT json FROM kg_provenance WHERE provenance = ?",
                            number)
                    .orElse(Map.of());
            if (known.toString().length() <= MAX_CACHED) {
                if (committed) {
                    space.provenance().put(number, known);
                } else if (ofChange.size() < MAX_OF_CHANGE) {
                    ofChange.put(number, known);
                }
            }
        }
        return known;
    }

    /** The graphs that statements were made of so far. */
    Set<String> sources() {
        return sources;
    }
}
