package dev.parley.registry.search;

import dev.parley.protocol.support.Sha256;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryModel;
import dev.parley.registry.shared.RowLock;
import dev.parley.registry.spi.EntryListener;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Keeps the index of the entries, in the transactions that change them. */
final class SearchIndex implements EntryListener {
    private static final String COMMON = """
            CREATE TABLE registry_search_entry (number KEY PRIMARY KEY, parts integer NOT NULL, factor double precision NOT NULL,
                digest text NOT NULL);
            CREATE INDEX registry_label_by_entry ON registry_label (entry, label);
            """;

    /** Versions of the index, so that what is kept of it in memory follows the writes of all hubs; {@code texts} is that of the words. */
    private static final String VERSIONS = """
            CREATE TABLE registry_search_version (only_one KEY PRIMARY KEY, version BIGINT NOT NULL);
            INSERT INTO registry_search_version (only_one, version) VALUES (1, 0);
            ALTER TABLE registry_search_entry ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE registry_search_entry ADD COLUMN texts BIGINT NOT NULL DEFAULT 0;
            ALTER TABLE registry_search_entry ADD COLUMN stars DOUBLE PRECISION NOT NULL DEFAULT 0;
            CREATE INDEX registry_search_entry_by_change ON registry_search_entry (changed);
            """;

    /**
     * Rows without words. In a registry with a few agents most words are in most rows, and FTS5 would take them for words without meaning;
     * these rows let it see a larger registry.
     */
    static final int FILLERS = 1_000;

    /** Without the texts. Positions of words are needed: without them, and without texts, FTS5 has no ranks. */
    private static final String FTS5 = """
            CREATE VIRTUAL TABLE registry_search USING fts5(name, skills, tags, examples, description, typed,
                content='', contentless_delete=1, tokenize="ascii tokenchars '~_'");
            INSERT INTO registry_search (rowid, description)
                WITH RECURSIVE filler (row_no) AS (SELECT -1 UNION ALL SELECT row_no - 1 FROM filler WHERE row_no > -%d)
                SELECT row_no, '%s' FROM filler;
            """.formatted(FILLERS, "~ ".repeat(30));

    private static final String TSVECTOR = """
            CREATE TABLE registry_search (row_no bigint PRIMARY KEY, words tsvector NOT NULL);
            CREATE INDEX registry_search_words ON registry_search USING gin (words);
            """;

    /** Labels of {@link IndexedEntry#FIELDS}: PostgreSQL has four weights. */
    private static final String LABELS = "ABBCD";

    /** Limit of the positions of a word and of words that PostgreSQL takes. */
    private static final int MAX_POSITION = 16_000;

    /** Pages of the index that one transaction merges. */
    private static final int PAGES_AT_ONCE = 500;

    private final boolean isPostgresql;
    private final RowLock registry;

    /** {@link #addMissing} fills them. */
    static ModuleTables tables(DatabaseKind kind) {
        return new ModuleTables(
                "registry-search",
                List.of(COMMON + (kind == DatabaseKind.POSTGRESQL ? TSVECTOR : FTS5), VERSIONS),
                Set.of("registry_search", "registry_search_entry", "registry_search_version"));
    }

    SearchIndex(Database database) {
        this.isPostgresql = database.kind() == DatabaseKind.POSTGRESQL;
        this.registry = new RowLock(database, "SELECT change FROM registry_newest");
        database.migrate(tables(database.kind()));
        addMissing(database);
    }

    /** Indexes entries that are older than the index. */
    private void addMissing(Database database) {
        long last = database.read(session -> session.number("SELECT max(number) FROM registry_search_entry"));
        database.writeInSlices(
                last,
                (session, before) -> session.list(
                        row -> row.getLong(1),
                        "SELECT number FROM registry_entry WHERE number > ? ORDER BY number LIMIT 200",
                        before),
                false,
                () -> true,
                this::add);
    }

    /** Indexes an entry as it is, while no other hub changes it. */
    private int add(DatabaseSession session, long number) throws SQLException {
        registry.take(session);
        Optional<Entry> entry = session.first(
                row -> EntryModel.read(row.getBytes(1)),
                "SELECT coalesce(open, content) FROM registry_entry WHERE number = ?",
                number);
        if (entry.isPresent()) {
            changed(session, number, entry.get());
        }
        return 1;
    }

    private record Kept(int parts, double factor, double stars, String digest) {}

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        var entry = new IndexedEntry(now);
        if (!entry.isFound()) {
            erased(session, number);
            return;
        }
        List<List<String>> rows =
                IntStream.range(0, entry.rows()).mapToObj(entry::row).toList();
        String digest = digest(rows.toString());
        Kept kept = session.first(
                        row -> new Kept(
                                row.getInt(1), row.getDouble(2), row.getDouble(3), DatabaseSession.text(row, 4)),
                        "SELECT parts, factor, stars, digest FROM registry_search_entry WHERE number = ?",
                        number)
                .orElse(null);
        double stars = stars(session, number);
        double factor = IndexedEntry.factor(now, stars);
        if (kept != null && kept.digest.equals(digest)) {
            if (kept.factor != factor || kept.stars != stars) {
                session.update(
                        "UPDATE registry_search_entry SET factor = ?, stars = ?, changed = ? WHERE number = ?",
                        factor,
                        stars,
                        version(session),
                        number);
            }
            return;
        }
        if (kept != null) {
            remove(session, number, kept.parts);
        }
        long version = version(session);
        session.update(
                "INSERT INTO registry_search_entry (number, parts, factor, stars, digest, changed, texts) VALUES (?, ?, ?, ?, ?, ?, ?)",
                number,
                rows.size(),
                factor,
                stars,
                digest,
                version,
                version);
        for (int part = 0; part < rows.size(); part++) {
            write(session, number * IndexedEntry.ROWS + part, rows.get(part), part == 0);
        }
    }

    @Override
    public void reviewed(DatabaseSession session, long number, Entry now) throws SQLException {
        changed(session, number, now);
    }

    /** A new version of the index. Writers of all hubs change one row, so versions are committed in their order. */
    private static long version(DatabaseSession session) throws SQLException {
        session.update("UPDATE registry_search_version SET version = version + 1");
        return session.number("SELECT version FROM registry_search_version");
    }

    private static double stars(DatabaseSession session, long number) throws SQLException {
        return session.first(
                        row -> row.getDouble(1),
                        "SELECT coalesce(avg(stars), 0) FROM registry_review WHERE entry = ? AND kind = 'review'",
                        number)
                .orElse(0.0);
    }

    private void write(DatabaseSession session, long row, List<String> texts, boolean isEntry) throws SQLException {
        String typed = isEntry
                ? texts.subList(0, 3).stream()
                        .flatMap(text -> Words.typed(text).stream())
                        .distinct()
                        .map(word -> "~" + Words.ascii(word))
                        .collect(Collectors.joining(" "))
                : "";
        if (isPostgresql) {
            session.update(
                    "INSERT INTO registry_search (row_no, words) VALUES (?, ?::tsvector)",
                    row,
                    vector(texts) + " " + typed);
            return;
        }
        session.update(
                "INSERT INTO registry_search (rowid, name, skills, tags, examples, description, typed) VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
                words(texts.get(0)),
                words(texts.get(1)),
                words(texts.get(2)),
                words(texts.get(3)),
                words(texts.get(4)),
                typed);
    }

    private static String words(String text) {
        return String.join(" ", Words.of(text));
    }

    private static String vector(List<String> texts) {
        var positions = new TreeMap<String, StringBuilder>();
        int position = 0;
        for (int column = 0; column < texts.size(); column++) {
            for (String word : Words.of(texts.get(column))) {
                position = Math.min(MAX_POSITION, position + 1);
                StringBuilder at = positions.computeIfAbsent(word, first -> new StringBuilder());
                at.append(at.isEmpty() ? ':' : ',').append(position).append(LABELS.charAt(column));
            }
        }
        return positions.entrySet().stream()
                .map(word -> word.getKey() + word.getValue())
                .collect(Collectors.joining(" "));
    }

    @Override
    public void erased(DatabaseSession session, long number) throws SQLException {
        long parts = session.number("SELECT parts FROM registry_search_entry WHERE number = ?", number);
        if (parts > 0) {
            remove(session, number, (int) parts);
        }
    }

    private void remove(DatabaseSession session, long number, int parts) throws SQLException {
        String key = isPostgresql ? "row_no" : "rowid";
        for (int part = 0; part < parts; part++) {
            session.update("DELETE FROM registry_search WHERE " + key + " = ?", number * IndexedEntry.ROWS + part);
        }
        session.update("DELETE FROM registry_search_entry WHERE number = ?", number);
    }

    /** Removes the words of erased rows, which FTS5 keeps until it merges its parts. Merges in short transactions. */
    void removeErased(Database database) {
        if (isPostgresql) {
            return;
        }
        long pages = -PAGES_AT_ONCE; // a negative number begins to merge all parts, positive ones go on
        long changes;
        do {
            long step = pages;
            changes = database.erase(session -> {
                long before = session.number("SELECT total_changes()");
                session.update("INSERT INTO registry_search (registry_search, rank) VALUES ('merge', ?)", step);
                return session.number("SELECT total_changes()") - before;
            });
            pages = PAGES_AT_ONCE;
        } while (changes >= 2); // Source: manual of FTS5, "The merge command"
    }

    static String digest(String text) {
        return Sha256.hex(text);
    }
}
