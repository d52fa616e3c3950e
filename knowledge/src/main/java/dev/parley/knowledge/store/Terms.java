package dev.parley.knowledge.store;

import static java.util.Objects.requireNonNull;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.knowledge.changes.Characters;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.StoreException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Numbers of terms, used in every row. A term keeps its number until it is erased; the number is never used again.
 *
 * <p>The writer thread assigns numbers; lookups are safe for any thread. Other hubs may write terms to the same database: terms in memory are
 * some of those in the table, and a term that is in neither is inserted unless another writer has inserted it at the same time.
 */
public final class Terms implements GroupListener {
    /** Stands for "no term": the default graph, no type, no source. */
    public static final long NONE = 0;

    /** Characters of terms that are kept in memory, twice: about 200,000 usual ones. */
    private static final long CACHED = 24L << 20;

    /** Memory of a term besides its characters, in characters. */
    private static final int OVERHEAD = 80;

    /** Characters of the longest term that is kept in memory. */
    private static final int LONGEST = 1_000;

    /** Characters of texts that are read in one go. */
    private static final long MAX_CHARACTERS = 16L << 20;

    /** Terms that one row may name; they are read however long they are. */
    private static final int OF_ONE_ROW = 6;

    /** The text of the requested terms exceeds the limit of one read; a smaller batch may fit. */
    public static final class TooLong extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private TooLong() {
            super("too long", null, false, false);
        }
    }

    private static final int FETCHED = 100;

    /** Numbers that are drawn at a time. */
    private static final int DRAWN = 64;

    private static final Long NO_DATATYPE = NONE;

    /** By the indexes where there are, so that a few terms of a large graph are found unused soon. */
    private static final String UNUSED = Stream.of("s", "p", "o")
                    .map(column -> " AND NOT EXISTS (SELECT 1 FROM kg_space k JOIN kg_statement x ON x.space = k.space"
                            + " AND x." + column + " = kg_term.term_no)")
                    .collect(Collectors.joining())
            + Stream.of(
                            "g FROM kg_statement",
                            "source FROM kg_statement",
                            "s FROM kg_assertion",
                            "p FROM kg_assertion",
                            "o FROM kg_assertion",
                            "g FROM kg_assertion",
                            "source FROM kg_assertion",
                            "s FROM kg_change",
                            "p FROM kg_change",
                            "o FROM kg_change",
                            "g FROM kg_change",
                            "s_type FROM kg_change",
                            "o_type FROM kg_change",
                            "datatype FROM kg_term")
                    .map(column -> "SELECT " + column)
                    .collect(Collectors.joining(" UNION ", " AND term_no NOT IN (", ")"));

    private final Cache<Term, Long> numbers = Caffeine.newBuilder()
            .maximumWeight(CACHED)
            .weigher((Term term, Long number) -> weight(term))
            .build();
    private final Cache<Long, Term> terms = Caffeine.newBuilder()
            .maximumWeight(CACHED)
            .weigher((Long number, Term term) -> weight(term))
            .build();

    /** Terms of the group that is being written; touched by the writer thread only. */
    private final Map<Term, Long> fresh = new HashMap<>();

    /** New terms of the change that is being made. */
    private final List<Term> ofChange = new ArrayList<>();

    /** True from an erasure of terms to the end of its group. Nothing is kept in memory meanwhile. */
    private volatile boolean erasing;

    /**
     * End of the last group that erased terms, committed or refused, as of {@link System#nanoTime}. Sessions that began before may
     * see erased terms, so what they read is not kept in memory.
     */
    private volatile long erased = System.nanoTime();

    private final Sql sql;

    /** Numbers that no term has had; touched by the writer thread only. */
    private final Queue<Long> unused = new ArrayDeque<>();

    /** Last number of {@link #unused} that SQLite was asked for. */
    private long last;

    /** Erasures of terms by all hubs as of the terms in memory; touched by the writer thread only. */
    private long erasures = -1;

    /** Numbers that the open transaction has given. They may be taken back, so that they are not kept. */
    private final Set<Long> uncommitted = ConcurrentHashMap.newKeySet();

    Terms(Database database, Sql sql) {
        this.sql = sql;
        this.last = database.read(session -> session.number("SELECT max(term_no) FROM kg_term"));
        database.listen(this);
    }

    /** Returns the number of a term; null if nothing has ever mentioned it. */
    @Nullable
    Long find(DatabaseSession session, Term term) throws SQLException {
        Long known = numbers.getIfPresent(term);
        if (known == null) {
            Long datatype =
                    term instanceof Literal literal ? find(session, Resource.of(literal.datatype())) : NO_DATATYPE;
            if (datatype != null) {
                Row row = row(term, datatype);
                known = held(session, List.of(row)).numbers.get(row);
                keep(session, term, known);
            }
        }
        return known;
    }

    /** Returns the number of a resource; null if there is none, or can be none. */
    @Nullable
    public Long find(DatabaseSession session, String id) throws SQLException {
        return id.isEmpty() || id.length() > Term.MAX_NAME ? null : find(session, Resource.of(id));
    }

    /** Returns the numbers of resources, without those that have none. */
    List<Long> findAll(DatabaseSession session, Collection<String> ids) throws SQLException {
        var found = new ArrayList<Long>(ids.size());
        for (String id : ids) {
            Long number = find(session, id);
            if (number != null) {
                found.add(number);
            }
        }
        return found;
    }

    private static int weight(Term term) {
        return OVERHEAD + Characters.of(term);
    }

    private static boolean isShort(Term term) {
        return lexical(term).length() <= LONGEST;
    }

    private void keep(DatabaseSession session, Term term, @Nullable Long number) {
        if (number != null && !uncommitted.contains(number) && isShort(term) && mayKeep(session)) {
            numbers.put(term, number);
            if (!mayKeep(session)) {
                numbers.invalidate(term); // erased meanwhile, perhaps before it was put
            }
        }
    }

    private boolean mayKeep(DatabaseSession session) {
        return !erasing && !session.beganBefore(erased);
    }

    private @Nullable Long known(Term term) {
        Long known = numbers.getIfPresent(term);
        return known == null ? fresh.get(term) : known;
    }

    /** Returns the number of a term, giving it one if need be. On the writer thread. */
    long number(DatabaseSession session, Term term) throws SQLException {
        Long known = known(term);
        return known == null ? requireNonNull(numbers(session, List.of(term)).get(term)) : known;
    }

    /**
     * Returns the numbers of terms, giving one to each that has none, with one look at the database for all of them. On the
     * writer thread.
     */
    Map<Term, Long> numbers(DatabaseSession session, Collection<Term> wanted) throws SQLException {
        var found = new HashMap<Term, Long>(2 * wanted.size());
        var unknown = new LinkedHashMap<Term, Row>();
        for (Term term : wanted) {
            Long known = known(term);
            if (known != null) {
                found.put(term, known);
            } else {
                unknown.put(term, row(term, datatype(session, term)));
            }
        }
        // A second round is for terms that another writer has brought meanwhile, and for numbers and twins that it has
        // taken.
        while (!unknown.isEmpty()) {
            Held held = held(session, unknown.values());
            unknown.forEach((term, row) -> {
                Long number = held.numbers.get(row);
                if (number != null) {
                    found.put(term, number);
                    keep(session, term, number);
                }
            });
            unknown.keySet().removeAll(found.keySet());
            if (!unknown.isEmpty()) {
                Map<Term, Long> inserted = insert(session, unknown, held.twins);
                found.putAll(inserted);
                unknown.keySet().removeAll(inserted.keySet());
            }
        }
        return found;
    }

    /** Inserts terms, and returns the numbers of those that no other writer has inserted. */
    private Map<Term, Long> insert(DatabaseSession session, Map<Term, Row> terms, Map<Long, Integer> twins)
            throws SQLException {
        // First, for a term without a value is refused, and must leave no batch behind.
        var values = new ArrayList<@Nullable Double>();
        terms.keySet().forEach(term -> values.add(worth(term)));
        List<Long> given = unused(session, terms.size());
        uncommitted.addAll(given);
        PreparedStatement insert = null;
        int index = 0;
        for (Row row : terms.values()) {
            insert = session.bind(
                    "INSERT INTO kg_term (term_no, hash, twin, lexical, datatype, language, number)"
                            + " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    given.get(index),
                    row.hash,
                    twins.merge(row.hash, 1, Integer::sum) - 1,
                    row.lexical,
                    row.datatype,
                    row.language,
                    values.get(index));
            insert.addBatch();
            index++;
        }
        int[] counts = requireNonNull(insert).executeBatch();
        var inserted = new HashMap<Term, Long>();
        index = 0;
        for (Term term : terms.keySet()) {
            if (counts[index] == 1) {
                inserted.put(term, given.get(index));
            }
            index++;
        }
        ofChange.addAll(inserted.keySet());
        fresh.putAll(inserted);
        return inserted;
    }

    /** Returns numbers that no term has had. PostgreSQL gives each of them once, whichever hub draws it. */
    private List<Long> unused(DatabaseSession session, int count) throws SQLException {
        while (unused.size() < count) {
            if (sql.kind() == DatabaseKind.SQLITE) {
                unused.add(++last);
            } else {
                unused.addAll(session.list(
                        row -> row.getLong(1),
                        "SELECT nextval('kg_term_term_no_seq') FROM generate_series(1, ?)",
                        Math.max(DRAWN, count)));
            }
        }
        return Stream.generate(unused::remove).limit(count).toList();
    }

    /** A term as its row has it. */
    private record Row(
            long hash,
            String lexical,
            long datatype,
            @Nullable String language) {}

    /**
     * Rows with some hashes.
     *
     * @param twins numbers of further rows by their hashes: rows with the same hash have different ones
     */
    private record Held(Map<Row, Long> numbers, Map<Long, Integer> twins) {}

    private static Row row(Term term, long datatype) {
        return new Row(hash(term), lexical(term), datatype, language(term));
    }

    private Held held(DatabaseSession session, Collection<Row> sought) throws SQLException {
        List<Long> hashes = sought.stream().map(Row::hash).toList();
        var held = new Held(new HashMap<>(), new HashMap<>());
        try (ResultSet rows = session.bind(
                        "SELECT term_no, hash, lexical, datatype, language, twin FROM kg_term WHERE "
                                + sql.in("hash", hashes),
                        sql.list(hashes))
                .executeQuery()) {
            while (rows.next()) {
                var row = new Row(
                        rows.getLong(2), DatabaseSession.text(rows, 3), rows.getLong(4), DatabaseSession.text(rows, 5));
                held.numbers.put(row, rows.getLong(1));
                held.twins.merge(row.hash, rows.getInt(6) + 1, Math::max);
            }
        }
        return held;
    }

    private long datatype(DatabaseSession session, Term term) throws SQLException {
        return term instanceof Literal literal ? number(session, Resource.of(literal.datatype())) : NONE;
    }

    /** Returns the term that a number stands for. */
    Term get(DatabaseSession session, long number) throws SQLException {
        return requireNonNull(getAll(session, List.of(number)).get(number));
    }

    /**
     * Returns the terms that numbers stand for, all in one go.
     *
     * @throws TooLong if they are more than those of one row, and too much for that
     */
    public Map<Long, Term> getAll(DatabaseSession session, Collection<Long> wanted) throws SQLException {
        var found = new HashMap<Long, Term>(terms.getAllPresent(wanted));
        if (found.size() < wanted.size()) {
            var missing = new ArrayList<Long>();
            for (Long number : wanted) {
                if (!found.containsKey(number) && number != NONE) {
                    missing.add(number);
                }
            }
            load(session, missing, found);
        }
        return found;
    }

    /** Returns the ids of the resources that numbers stand for, in the order of the numbers. */
    List<String> ids(DatabaseSession session, List<Long> wanted) throws SQLException {
        Map<Long, Term> known = getAll(session, wanted);
        var ids = new ArrayList<String>(wanted.size());
        for (Long number : wanted) {
            ids.add(((Resource) requireNonNull(known.get(number))).id());
        }
        return ids;
    }

    private void load(DatabaseSession session, List<Long> missing, Map<Long, Term> into) throws SQLException {
        if (missing.isEmpty()) {
            return;
        }
        record Loaded(
                long number,
                String lexical,
                long datatype,
                @Nullable String language) {}
        var rows = new ArrayList<Loaded>();
        long characters = 0;
        PreparedStatement select = session.bind(
                "SELECT term_no, lexical, datatype, language FROM kg_term WHERE " + sql.in("term_no", missing),
                sql.list(missing));
        select.setFetchSize(FETCHED); // else PostgreSQL brings all before one can look at the first
        try (ResultSet found = select.executeQuery()) {
            while (found.next()) {
                rows.add(new Loaded(
                        found.getLong(1),
                        DatabaseSession.text(found, 2),
                        found.getLong(3),
                        DatabaseSession.text(found, 4)));
                characters += rows.getLast().lexical.length();
                if (characters > MAX_CHARACTERS && missing.size() > OF_ONE_ROW) {
                    throw new TooLong();
                }
            }
        }
        for (Loaded row : rows) {
            Term term = row.datatype == NONE
                    ? Resource.of(row.lexical)
                    : new Literal(row.lexical, ((Resource) get(session, row.datatype)).id(), row.language);
            into.put(row.number, term);
            if (!uncommitted.contains(row.number) && isShort(term) && mayKeep(session)) {
                terms.put(row.number, term);
                if (!mayKeep(session)) {
                    terms.invalidate(row.number);
                }
            }
        }
        if (rows.size() < missing.stream().distinct().count()) {
            throw new StoreException("terms are missing from the database: " + missing);
        }
    }

    /** Forgets the terms in memory if terms were erased since, as a row says that was read now. On the writer thread. */
    void requireErasures(long count) {
        if (erasures < count) {
            erasures = count;
            forgetAll();
        }
    }

    private void forgetAll() {
        erased = System.nanoTime(); // first, for readers may put them back until then
        numbers.invalidateAll();
        terms.invalidateAll();
    }

    /** Removes those of some terms that no row names any more. On the writer thread. */
    public void eraseUnused(DatabaseSession session, Collection<Long> candidates) throws SQLException {
        Set<Long> gone = Set.copyOf(session.list(
                rows -> rows.getLong(1),
                "DELETE FROM kg_term WHERE " + sql.in("term_no", candidates) + UNUSED + " RETURNING term_no",
                sql.list(candidates)));
        erasing = true; // first, for readers may put them back until then
        numbers.asMap().values().removeAll(gone);
        terms.invalidateAll(gone);
        fresh.values().removeAll(gone);
    }

    private static String lexical(Term term) {
        return switch (term) {
            case Resource resource -> resource.id();
            case Literal literal -> literal.lexical();
        };
    }

    private static @Nullable String language(Term term) {
        return term instanceof Literal literal ? literal.language() : null;
    }

    /** Hash of a term from SHA-256, so that a caller cannot construct many terms with the same hash. */
    private static long hash(Term term) {
        MessageDigest sha = Sha256.digest();
        sha.update(lexical(term).getBytes(StandardCharsets.UTF_8));
        if (term instanceof Literal literal) {
            sha.update((byte) 0);
            sha.update(literal.datatype().getBytes(StandardCharsets.UTF_8));
        }
        return ByteBuffer.wrap(sha.digest()).getLong();
    }

    /** Returns the comparable value of a number or time; null for other terms. */
    public static @Nullable Double worth(Term term) {
        if (!(term instanceof Literal literal) || !literal.datatype().startsWith(Term.XSD)) {
            return null;
        }
        try {
            return switch (literal.datatype().substring(Term.XSD.length())) {
                case "dateTime", "dateTimeStamp" ->
                    OffsetDateTime.parse(literal.lexical()).toInstant().toEpochMilli() / 1000.0;
                case "date" -> (double) LocalDate.parse(literal.lexical()).toEpochDay() * 86_400;
                case "string", "boolean" -> null;
                default -> finite(Double.parseDouble(literal.lexical()));
            };
        } catch (NumberFormatException | DateTimeException noValue) {
            return null;
        } catch (ArithmeticException beyond) {
            throw A2AException.invalidParams(
                    "object.value", literal.lexical() + " (expected: a time that milliseconds can count)");
        }
    }

    private static @Nullable Double finite(double number) {
        return Double.isFinite(number) ? number : null;
    }

    /** A change begins; what it brings can be taken back by {@link #undo}. On the writer thread. */
    void begin() {
        ofChange.clear();
    }

    /** Forgets the terms that the change has brought. On the writer thread. */
    void undo() {
        ofChange.forEach(fresh::remove);
        ofChange.clear();
    }

    @Override
    public void committed(int works) {
        endErasure();
        fresh.forEach((term, number) -> {
            if (isShort(term)) {
                numbers.put(term, number);
            }
        });
        forgetTransaction();
    }

    @Override
    public void rolledBack() {
        endErasure(); // its commit may have failed after its effect
        forgetTransaction();
    }

    @Override
    public void reopened(DatabaseSession session) {
        unused.clear(); // a server that has taken over may give them again
    }

    private void forgetTransaction() {
        fresh.clear();
        uncommitted.clear();
    }

    private void endErasure() {
        if (erasing) {
            erased = System.nanoTime();
            erasing = false;
        }
    }
}
