package dev.parley.registry.search;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.FairPool;
import dev.parley.registry.Embedder;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.SearchOperation.Facets;
import dev.parley.registry.SearchOperation.FoundEntry;
import dev.parley.registry.SearchOperation.FoundPage;
import dev.parley.registry.SearchOperation.Reasons;
import dev.parley.registry.SearchQuery;
import dev.parley.registry.search.Hit.Cursor;
import dev.parley.registry.search.Vectors.Near;
import dev.parley.registry.spi.Conditions;
import dev.parley.registry.store.Disclosure;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryReader;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseRead;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Readers;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.ReadTimeoutException;
import dev.parley.store.spi.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Search in the entries of a registry. Entries with all words of a query come first, then those with enough of its rarer words; both by
 * BM25 over weighted fields. A result shows its reasons. See {@code docs/adr/0050-search-in-the-registry.md}. Safe for any thread.
 */
public final class Search implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.parley.registry");

    /** Longest time of a search. */
    static final Duration PATIENCE = Duration.ofSeconds(2);

    /** Largest page. */
    public static final int MAX_PAGE = 100;

    private static final int AT_ONCE = Math.max(4, Runtime.getRuntime().availableProcessors());
    /** Entries of each list that are fused; further ones are not found. */
    private static final int MAX_FUSED = 100;

    private static final int MAX_WAITING = 200;
    private static final Duration LATER = Duration.ofSeconds(1);

    private final Database database;
    private final SearchIndex index;
    private final Disclosure disclosure;
    private final EntryReader reader;
    private final Readers readers;
    private final FairPool pool = new FairPool("registry-search", AT_ONCE, MAX_WAITING);
    private final IndexState state = new IndexState();
    private final WordLists lists;
    private final FacetCounts counts;
    private final String keys;
    private final @Nullable Vectors vectors;

    /** Tables of the index. */
    public static List<ModuleTables> tables(DatabaseKind kind) {
        return List.of(SearchIndex.tables(kind), Vectors.tables(kind));
    }

    /**
     * Makes or opens the index of these entries and follows their changes.
     *
     * @param embedder model of meanings; null to search by words only
     */
    public Search(Database database, Entries entries, @Nullable Embedder embedder) {
        this.database = database;
        this.disclosure = entries.disclosure();
        this.reader = entries.reader();
        this.index = new SearchIndex(database);
        this.readers = database.readers(AT_ONCE);
        this.lists = new WordLists(database.kind() == DatabaseKind.POSTGRESQL, state);
        this.counts = new FacetCounts(database);
        this.keys = database.system().jsonTexts();
        entries.writer().listen(index);
        this.vectors = embedder == null ? null : new Vectors(database, embedder);
        if (vectors != null) {
            entries.writer().listen(vectors);
        }
    }

    /** Removes the words of erased entries from the files of the index. */
    public void removeErased() {
        index.removeErased(database);
    }

    /**
     * Finds entries that the caller may see, best first; in the order of their registration for a query without words.
     *
     * @throws A2AException INVALID_PARAMS for a query that is too long or a foreign token; UNAVAILABLE if the search takes too long or too
     *     many searches of the group wait
     */
    public FoundPage search(SearchQuery query, int size, @Nullable String token, CallContext viewer) {
        return search(query, size, token, viewer, true);
    }

    /** Finds entries like {@link #search}, without the reasons. */
    public FoundPage find(SearchQuery query, int size, @Nullable String token, CallContext viewer) {
        return search(query, size, token, viewer, false);
    }

    private FoundPage search(
            SearchQuery query, int size, @Nullable String token, CallContext viewer, boolean hasReasons) {
        List<?> list = List.of(query.text(), query.isTyping(), Disclosure.list(query.filter(), viewer));
        Cursor after = Cursor.of(list, token);
        int limit = Math.clamp(size, 1, MAX_PAGE);
        List<Hit> hits = ask(
                query,
                viewer,
                (session, plan) -> hits(
                        session, plan, disclosure.conditions(query.filter(), viewer, true), query, after, limit + 1));
        List<Hit> wanted = hits.subList(0, Math.min(limit, hits.size()));
        var byId = new HashMap<String, Entry>();
        EntryReader.Some some =
                reader.byNumbers(wanted.stream().map(Hit::number).toList(), viewer);
        some.entries().forEach(entry -> byId.put(entry.id(), entry));
        List<Hit> page = wanted.subList(0, some.read());
        var results = new ArrayList<FoundEntry>();
        for (Hit hit : page) {
            Entry entry = byId.get(hit.id());
            if (entry != null) {
                Reasons why = hasReasons ? Explanation.of(entry, hit, query) : Reasons.NONE;
                results.add(new FoundEntry((int) Math.round(hit.score()), why, entry));
            }
        }
        return new FoundPage(
                results, hits.size() > page.size() ? page.getLast().cursor().token(list) : null);
    }

    private List<Hit> hits(
            DatabaseSession session, SearchPlan plan, Conditions conditions, SearchQuery query, Cursor after, int limit)
            throws SQLException {
        List<Near> near = near(session, query);
        if (near.isEmpty()) {
            return plan.hits(session, conditions, after, limit);
        }
        List<Hit> byWords = plan.hits(session, conditions, Cursor.START, MAX_FUSED);
        return SearchPlan.fused(byWords, plan.near(session, conditions, near)).stream()
                .filter(after::isBefore)
                .limit(limit)
                .toList();
    }

    private List<Near> near(DatabaseSession session, SearchQuery query) throws SQLException {
        boolean hasMeaning =
                vectors != null && !query.isTyping() && !query.text().isBlank();
        return hasMeaning ? requireNonNull(vectors).near(session, query.text(), MAX_FUSED) : List.of();
    }

    /** Counts the values of fields over all entries that a query finds. */
    public Facets facets(SearchQuery query, List<String> fields, int limit, CallContext viewer) {
        EntryFilter filter = query.filter();
        if (!query.text().isBlank()) {
            filter = new EntryFilter(filter.skills(), filter.tags(), filter.fields(), false); // as the index has them
        }
        Conditions conditions = disclosure.conditions(filter, viewer, false);
        return ask(
                query,
                viewer,
                (session, plan) ->
                        counts.count(session, plan.matched(near(session, query)), conditions, fields, limit));
    }

    private interface Reading<T> {
        T read(DatabaseSession session, SearchPlan plan) throws SQLException;
    }

    private <T> T ask(SearchQuery query, CallContext viewer, Reading<T> reading) {
        if (query.text().length() > SearchQuery.MAX_TEXT) {
            throw A2AException.invalidParams(
                    "q", query.text().length() + " characters (expected: at most " + SearchQuery.MAX_TEXT + ")");
        }
        return read(viewer.scope().group(), session -> {
            long version = state.follow(session);
            List<QueryWord> terms = lists.terms(session, query, version);
            return reading.read(session, new SearchPlan(query, terms, state.factors(), keys));
        });
    }

    private <T> T read(String group, DatabaseRead<T> question) {
        try {
            return pool.call(group, PATIENCE, () -> readers.snapshot(PATIENCE, question));
        } catch (TimeoutException | ReadTimeoutException late) {
            throw A2AException.unavailable("The search took longer than " + PATIENCE.toSeconds() + " s", LATER)
                    .causedBy(late);
        } catch (RejectedExecutionException busy) {
            throw A2AException.unavailable("Too many searches are under way", LATER)
                    .causedBy(busy);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.unavailable("The search was given up", LATER);
        }
    }

    /**
     * Reads the words that most entries have into memory, so that the first searches do not. Each word takes its turn among the searches.
     * Returns when they are read, or as soon as too many searches wait, or the search is closed.
     */
    public void warm() {
        try {
            for (String stem : read(Entry.HUB, WordLists::common)) {
                boolean hasSpace = read(Entry.HUB, session -> lists.warm(session, stem, state.follow(session)));
                if (!hasSpace) {
                    return;
                }
            }
        } catch (A2AException | StoreException busy) {
            LOG.log(System.Logger.Level.DEBUG, "words are read when they are searched for", busy);
        }
    }

    /** Waits until the vectors of all entries are made; at once without a model. Returns false if that takes longer. */
    public boolean awaitVectors(Duration patience) throws InterruptedException {
        return vectors == null || vectors.await(patience);
    }

    @Override
    public void close() {
        pool.close();
        if (vectors != null) {
            vectors.close();
        }
    }
}
