package dev.parley.registry.search;

import dev.parley.protocol.support.LruMap;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryModel;
import dev.parley.registry.SearchQuery;
import dev.parley.store.database.DatabaseSession;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Lists of the words of queries. A list is read from the index when a query has its word, and kept within a limit of memory; rows that
 * were written since are read again before it is used. Safe for any thread.
 */
final class WordLists {
    /** Limit of the memory of all lists. */
    private static final long MAX_BYTES = 32L << 20;

    /** Words of a query that are looked up: its rarest ones. */
    private static final int MAX_TERMS = 16;

    private static final int MAX_WORDS = 100;

    /** Factor of the weight of words that no row has, as they may be synonyms, or names. */
    private static final double UNKNOWN = 0.75;

    /** Weights of the columns of FTS5; the last are words for prefixes, which add nothing. */
    private static final String WEIGHTS = "6, 5, 4, 3, 2, 0";

    /** Weights of PostgreSQL's labels D, C, B and A: a word has about the score that FTS5 gives it. */
    private static final String LABELS = "'{0.75, 0.85, 0.95, 1}'";

    /** Score of FTS5 for a word, divided by its weight, that no number of occurrences exceeds. */
    private static final double FTS5_LIMIT = 2.2;

    /** A row is returned as one number: its key, and its score in these bits in steps of 1/{@link #STEPS}. */
    private static final int SCORE_BITS = 26;

    private static final int STEPS = 1_000_000;
    private static final int MAX_SCORE = (1 << SCORE_BITS) - 1;

    /** Ranges of rows that are read again one by one; for more of them the whole list is read. */
    private static final int MAX_RANGES = 4;

    /** Distance of changed entries that belong to one range. */
    private static final int NEAR = 32;

    private static final int MAX_COUNTS = 10_000;
    private static final long COUNTED_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Entries whose words are read into memory after a start; of fewer entries each word is read in no time. */
    private static final int SAMPLE = 400;

    /** Words that are read then. */
    private static final int COMMON = 400;

    private record Count(long rows, long readNanos) {}

    private final boolean isPostgresql;
    private final IndexState state;
    private final Map<String, WordList> lists = new LinkedHashMap<>(256, 0.75f, true);
    private final Map<String, Count> counts = new LruMap<>(MAX_COUNTS);
    private long bytes;

    WordLists(boolean isPostgresql, IndexState state) {
        this.isPostgresql = isPostgresql;
        this.state = state;
    }

    /**
     * The terms of a query, the rarest first.
     *
     * @param version of the index
     */
    List<QueryWord> terms(DatabaseSession session, SearchQuery query, long version) throws SQLException {
        List<String> words = Words.ofQuery(query.text());
        var byStem = new LinkedHashMap<String, String>();
        for (String word : words.subList(0, Math.min(words.size(), MAX_WORDS))) {
            byStem.putIfAbsent(Words.indexed(word), word);
        }
        String last = query.isTyping() && !words.isEmpty() && words.getLast().length() > 1 ? words.getLast() : "";
        Set<String> stems = rarest(session, byStem.keySet());
        var terms = new ArrayList<QueryWord>();
        for (String stem : stems) {
            String word = byStem.getOrDefault(stem, stem);
            WordList list = list(session, "\"" + stem + "\"", true, version);
            if (word.equals(last)) {
                list = list.or(list(session, "\"~" + Words.ascii(word) + "\" *", false, version));
            }
            double weight = QueryWord.weight(list.size(), state.rows());
            terms.add(new QueryWord(word, list, list.size() == 0 ? UNKNOWN * weight : weight));
        }
        terms.sort(Comparator.comparingInt(QueryWord::rows));
        return terms;
    }

    /** Stems that the most entries have, by a sample of entries: the longest lists, which take the longest time to read. */
    static List<String> common(DatabaseSession session) throws SQLException {
        long last = session.number("SELECT coalesce(max(number), 0) FROM registry_entry");
        var counts = new HashMap<String, Integer>();
        for (int i = 0; i < SAMPLE && last > SAMPLE; i++) {
            Optional<Entry> entry = session.first(
                    row -> EntryModel.read(row.getBytes(1)),
                    "SELECT coalesce(open, content) FROM registry_entry WHERE number > ? ORDER BY number LIMIT 1",
                    last * i / SAMPLE);
            entry.map(IndexedEntry::new)
                    .filter(IndexedEntry::isFound)
                    .ifPresent(indexed -> stems(indexed).forEach(stem -> counts.merge(stem, 1, Integer::sum)));
        }
        return counts.entrySet().stream()
                .filter(stem -> stem.getValue() > 1)
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(COMMON)
                .map(Map.Entry::getKey)
                .toList();
    }

    private static Set<String> stems(IndexedEntry entry) {
        return IntStream.range(0, entry.rows())
                .mapToObj(entry::row)
                .flatMap(List::stream)
                .flatMap(text -> Words.of(text).stream())
                .collect(Collectors.toSet());
    }

    /** Reads the list of a stem; false if further ones would take more than half of the memory. */
    boolean warm(DatabaseSession session, String stem, long version) throws SQLException {
        list(session, "\"" + stem + "\"", true, version);
        synchronized (this) {
            return bytes < MAX_BYTES / 2;
        }
    }

    /** Unknown words of a long query do not take the places of those that the index has. */
    private Set<String> rarest(DatabaseSession session, Set<String> stems) throws SQLException {
        if (stems.size() <= MAX_TERMS) {
            return stems;
        }
        var rows = new LinkedHashMap<String, Long>();
        for (String stem : stems) {
            rows.put(stem, count(session, stem));
        }
        List<String> known = stems.stream()
                .filter(stem -> rows.getOrDefault(stem, 0L) > 0)
                .sorted(Comparator.comparingLong(stem -> rows.getOrDefault(stem, 0L)))
                .toList();
        return new LinkedHashSet<>((known.isEmpty() ? List.copyOf(stems) : known)
                .subList(0, Math.min(MAX_TERMS, known.isEmpty() ? stems.size() : known.size())));
    }

    /** Number of the rows with a word, to choose words by: one of the last seconds will do. */
    private long count(DatabaseSession session, String stem) throws SQLException {
        synchronized (this) {
            Count kept = counts.get(stem);
            if (kept != null && System.nanoTime() - kept.readNanos < COUNTED_NANOS) {
                return kept.rows;
            }
        }
        long rows = session.number(
                "SELECT count(*) FROM registry_search WHERE " + condition(), expression("\"" + stem + "\""));
        synchronized (this) {
            counts.put(stem, new Count(rows, System.nanoTime()));
        }
        return rows;
    }

    private String condition() {
        return isPostgresql ? "words @@ CAST(? AS tsquery)" : "registry_search MATCH ?";
    }

    /** A word with its quotes, and an asterisk after them for its begin, as the database has it. */
    String expression(String quoted) {
        return isPostgresql ? quoted.replace('"', '\'').replace(" *", ":*") : quoted;
    }

    private WordList list(DatabaseSession session, String quoted, boolean hasFits, long version) throws SQLException {
        WordList kept;
        synchronized (this) {
            kept = lists.get(quoted);
        }
        if (kept != null && kept.version() >= version) {
            return kept;
        }
        WordList list = current(session, quoted, hasFits, version, kept);
        synchronized (this) {
            WordList newer = lists.get(quoted);
            if (newer != null && newer.version() > version) {
                return newer;
            }
            keep(quoted, list);
        }
        return list;
    }

    private void keep(String quoted, WordList list) {
        if (list.bytes() > MAX_BYTES / 2) {
            return;
        }
        WordList before = lists.put(quoted, list);
        bytes += list.bytes() - (before == null ? 0 : before.bytes());
        Iterator<WordList> eldest = lists.values().iterator();
        while (bytes > MAX_BYTES && eldest.hasNext()) {
            bytes -= eldest.next().bytes();
            eldest.remove();
        }
    }

    private WordList current(
            DatabaseSession session, String quoted, boolean hasFits, long version, @Nullable WordList kept)
            throws SQLException {
        int[] changed = kept == null || kept.isOutdated(state.rows()) ? null : state.changedSince(kept.version());
        int[] ranges = changed == null ? null : ranges(changed);
        if (kept == null || ranges == null || ranges.length > 2 * MAX_RANGES) {
            return list(read(session, quoted, hasFits, null), -1, hasFits, version);
        }
        if (ranges.length == 0) {
            return kept.asOf(version);
        }
        LongStream fresh = LongStream.empty();
        for (int i = 0; i < ranges.length; i += 2) {
            long[] rows = read(session, quoted, hasFits, new int[] {ranges[i], ranges[i + 1]});
            fresh = LongStream.concat(fresh, Arrays.stream(rows));
        }
        return kept.with(ranges, list(fresh.toArray(), kept.size(), hasFits, version));
    }

    /** Ranges of the keys of the rows of entries, first and last by turns. */
    private static int[] ranges(int[] numbers) {
        int[] ranges = new int[2 * numbers.length];
        int size = 0;
        for (int number : numbers) {
            int first = number * IndexedEntry.ROWS;
            if (size > 0 && first - ranges[size - 1] <= NEAR * IndexedEntry.ROWS) {
                ranges[size - 1] = first + IndexedEntry.ROWS - 1;
            } else {
                ranges[size++] = first;
                ranges[size++] = first + IndexedEntry.ROWS - 1;
            }
        }
        return Arrays.copyOf(ranges, size);
    }

    /** Rows with their scores, of a range or all. */
    private long[] read(DatabaseSession session, String quoted, boolean hasFits, int @Nullable [] range)
            throws SQLException {
        String key = isPostgresql ? "row_no" : "rowid";
        String expression = expression(quoted);
        String score = "0";
        if (hasFits) {
            score = isPostgresql
                    ? "CAST(" + STEPS + " * least(1, 1.37 * ts_rank(" + LABELS
                            + ", words, CAST(? AS tsquery))) AS bigint)"
                    : "min(" + MAX_SCORE + ", CAST(-" + STEPS + " * bm25(registry_search, " + WEIGHTS
                            + ") AS INTEGER))";
        }
        String sql = "SELECT (" + key + " << " + SCORE_BITS + ") | " + score + " FROM registry_search WHERE "
                + condition() + (range == null ? "" : " AND " + key + " BETWEEN ? AND ?") + " ORDER BY " + key;
        var values = new ArrayList<Object>();
        if (hasFits && isPostgresql) {
            values.add(expression);
        }
        values.add(expression);
        if (range != null) {
            values.add(range[0]);
            values.add(range[1]);
        }
        long[] rows = new long[64];
        int size = 0;
        try (ResultSet row = session.bind(sql, values.toArray()).executeQuery()) {
            while (row.next()) {
                if (size == rows.length) {
                    rows = Arrays.copyOf(rows, 2 * size);
                }
                rows[size++] = row.getLong(1);
            }
        }
        return Arrays.copyOf(rows, size);
    }

    /** @param further number of the rows besides these */
    private WordList list(long[] read, int further, boolean hasFits, long version) {
        int[] rows = new int[read.length];
        char[] fits = new char[read.length];
        long all = state.rows();
        double best = isPostgresql ? 1 : FTS5_LIMIT * QueryWord.weight(Math.max(read.length, further), all);
        for (int i = 0; i < read.length; i++) {
            rows[i] = (int) (read[i] >> SCORE_BITS);
            double fit = hasFits ? (read[i] & MAX_SCORE) / (double) STEPS / best : 0;
            fits[i] = (char) Math.round(Math.min(1, fit) * WordList.BEST);
        }
        return new WordList(rows, fits, version, all);
    }
}
