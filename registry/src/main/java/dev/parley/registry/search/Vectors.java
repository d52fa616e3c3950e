package dev.parley.registry.search;

import dev.parley.protocol.support.LruMap;
import dev.parley.registry.Embedder;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryModel;
import dev.parley.registry.shared.RowLock;
import dev.parley.registry.spi.EntryListener;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Vectors of the meaning of entries, skills and examples. One thread makes those that are missing, in the background; a search compares
 * all of them. Safe for any thread.
 */
final class Vectors implements EntryListener, GroupListener, AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.registry");

    /** Limit of the vectors in memory: a scan takes some milliseconds. Entries beyond it are found by their words. */
    private static final int MAX_VECTORS = 50_000;

    private static final Duration CLOSING = Duration.ofSeconds(5);
    private static final int MAX_PER_ENTRY = 64;
    private static final int ENTRIES_AT_ONCE = 16;
    private static final int MAX_QUERIES = 1_000;

    /** Least similarity of a result that has none of the words. */
    private static final double CUTOFF = 0.42;

    /** A text of an entry: its row in the index, and the direction of its meaning in steps of 1/127. */
    private record Vector(int part, byte[] values) {}

    /** An entry that is near to a query. */
    record Near(long number, int part, double similarity) {}

    /** Vectors that are missing for so many seconds are not made by the hub that has changed the entries, which may have ended. */
    private static final int LOOK_SECONDS = 30;

    private final Database database;
    private final Embedder embedder;
    private final RowLock lock;
    private final boolean isShared;
    private final Map<Long, List<Vector>> vectors = new ConcurrentHashMap<>();
    private final Map<String, float[]> queries = new LruMap<>(MAX_QUERIES);
    private final Semaphore work = new Semaphore(1);
    private final Thread worker;
    private final Phaser loads = new Phaser(1);
    /** Held by the one load at a time. A search takes it only if vectors are missing in memory. */
    private final ReentrantLock loading = new ReentrantLock();

    private volatile boolean hasChanged;
    private volatile boolean isClosed;
    private volatile long last;
    private int looks; // of the thread that looks
    private int size;

    static ModuleTables tables(DatabaseKind kind) {
        return tables(kind == DatabaseKind.POSTGRESQL ? "bytea" : "blob");
    }

    private static ModuleTables tables(String bytes) {
        return new ModuleTables("registry-vectors", List.of("""
                CREATE TABLE registry_vector (seq KEY PRIMARY KEY, number bigint NOT NULL, part integer NOT NULL, entry text NOT NULL,
                    text_digest text NOT NULL, vector %s NOT NULL);
                CREATE INDEX registry_vector_by_entry ON registry_vector (number, entry);
                CREATE INDEX registry_vector_by_text ON registry_vector (text_digest);
                """.formatted(bytes), """
                -- The number of the newest vector, in one row. A transaction that writes vectors locks it.
                CREATE TABLE registry_vector_newest (only_one KEY PRIMARY KEY, seq BIGINT NOT NULL);
                INSERT INTO registry_vector_newest (only_one, seq) SELECT 1, coalesce(max(seq), 0) FROM registry_vector;
                """));
    }

    Vectors(Database database, Embedder embedder) {
        this.database = database;
        this.embedder = embedder;
        this.lock = new RowLock(database, "SELECT seq FROM registry_vector_newest");
        this.isShared = database.access().feeds().isShared();
        database.migrate(tables(database.kind()));
        database.listen(this);
        database.access().feeds().follow("registry-vectors", this::look);
        this.worker = Thread.ofPlatform().daemon().name("registry-vectors").start(this::run);
    }

    @Override
    public void changed(DatabaseSession session, long number, Entry now) throws SQLException {
        if (!new IndexedEntry(now).isFound()) {
            erased(session, number);
        }
        hasChanged = true;
    }

    @Override
    public void erased(DatabaseSession session, long number) throws SQLException {
        session.update("DELETE FROM registry_vector WHERE number = ?", number);
    }

    @Override
    public void committed(int works) {
        if (hasChanged) {
            hasChanged = false;
            work.release();
        }
    }

    /** Waits until no entry is without current vectors. */
    boolean await(Duration patience) throws InterruptedException {
        long deadline = System.nanoTime() + patience.toNanos();
        try {
            while (true) {
                int before = loads.getPhase();
                if (database.read(session -> missing(session, 1).isEmpty())) {
                    return true;
                }
                loads.awaitAdvanceInterruptibly(before, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            }
        } catch (TimeoutException late) {
            return false;
        }
    }

    private void run() {
        try {
            while (true) {
                work.acquire();
                work.drainPermits();
                try {
                    boolean hasMore;
                    do {
                        hasMore = embedMissing();
                        database.read(this::load);
                    } while (hasMore);
                } catch (StoreException outage) {
                    if (isClosed) {
                        return;
                    }
                    LOG.log(Level.WARNING, "vectors of entries could not be written", outage);
                }
            }
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    /** Looks for vectors that no hub makes. Once a second. */
    private void look() {
        if (++looks % LOOK_SECONDS == 0 && !isClosed) {
            work.release();
        }
    }

    private record Missing(long number, String digest, Entry entry) {}

    /** Makes the vectors of some entries without current ones; false if there are none. */
    private boolean embedMissing() throws InterruptedException {
        List<Missing> missing = database.read(session -> missing(session, ENTRIES_AT_ONCE));
        for (Missing entry : missing) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            embed(entry);
        }
        return !missing.isEmpty();
    }

    private List<Missing> missing(DatabaseSession session, int limit) throws SQLException {
        return session.list(
                row -> new Missing(
                        row.getLong(1),
                        embedder.model() + DatabaseSession.text(row, 2),
                        EntryModel.read(row.getBytes(3))),
                "SELECT s.number, s.digest, coalesce(e.open, e.content) FROM registry_search_entry s JOIN registry_entry e ON e.number = s.number"
                        + " WHERE NOT EXISTS (SELECT 1 FROM registry_vector v WHERE v.number = s.number AND v.entry = "
                        + "CAST(? AS text) || s.digest) LIMIT ?",
                embedder.model(),
                limit);
    }

    private void embed(Missing missing) {
        var made = new LinkedHashMap<String, Vector>();
        texts(missing.entry()).forEach((text, part) -> made.put(digest(text), new Vector(part, known(text))));
        Optional<Integer> unused = lock.within(work -> database.write(made.size(), work), session -> {
            // Its row is locked until the commit, so vectors are committed in the order of their numbers.
            long seq = session.number("UPDATE registry_vector_newest SET seq = seq + ? RETURNING seq", made.size())
                    - made.size();
            if (isShared && isCurrent(session, missing)) {
                return Optional.empty(); // another hub was faster
            }
            session.update("DELETE FROM registry_vector WHERE number = ?", missing.number());
            for (Map.Entry<String, Vector> each : made.entrySet()) {
                session.update(
                        "INSERT INTO registry_vector (seq, number, part, entry, text_digest, vector) VALUES (?, ?, ?, ?, ?, ?)",
                        ++seq,
                        missing.number(),
                        each.getValue().part(),
                        missing.digest(),
                        each.getKey(),
                        each.getValue().values());
            }
            return Optional.of(made.size());
        });
    }

    private static boolean isCurrent(DatabaseSession session, Missing missing) throws SQLException {
        return session.number(
                        "SELECT count(*) FROM registry_vector WHERE number = ? AND entry = ?",
                        missing.number(),
                        missing.digest())
                > 0;
    }

    /** Texts of an entry with the rows of the index to which they belong. */
    private static Map<String, Integer> texts(Entry entry) {
        var texts = new LinkedHashMap<String, Integer>();
        Entry.Resource resource = entry.resource();
        texts.put(resource.name() + ". " + resource.description(), 0);
        int part = 0;
        for (Entry.Skill skill : resource.skills()
                .subList(0, Math.min(IndexedEntry.ROWS - 1, resource.skills().size()))) {
            int row = ++part;
            Stream.concat(
                            Stream.of(
                                    skill.name() + ". " + skill.description() + " " + String.join(", ", skill.tags())),
                            skill.examples().stream())
                    .filter(text -> texts.size() < MAX_PER_ENTRY)
                    .forEach(text -> texts.putIfAbsent(text, row));
        }
        return texts;
    }

    private String digest(String text) {
        return SearchIndex.digest(embedder.model() + "\n" + text);
    }

    /** The vector of a text, which may be that of another entry or version. */
    private byte[] known(String text) {
        byte[] kept = database.read(session -> session.first(
                        row -> row.getBytes(1),
                        "SELECT vector FROM registry_vector WHERE text_digest = ? LIMIT 1",
                        digest(text)))
                .orElse(null);
        return kept != null ? kept : compressed(embedder.embed(text));
    }

    private static byte[] compressed(float[] vector) {
        byte[] values = new byte[vector.length];
        for (int i = 0; i < vector.length; i++) {
            values[i] = (byte) Math.round(Math.clamp(vector[i], -1, 1) * 127);
        }
        return values;
    }

    private record Loaded(long seq, long number, Vector vector, String entry) {}

    /** Reads vectors that were written since the last time, by this hub or another. */
    private long load(DatabaseSession session) throws SQLException {
        loading.lock();
        try {
            return loadNew(session);
        } finally {
            loading.unlock();
        }
    }

    private long loadNew(DatabaseSession session) throws SQLException {
        long newest = session.number("SELECT seq FROM registry_vector_newest");
        List<Loaded> loaded = session.list(
                row -> new Loaded(
                        row.getLong(1),
                        row.getLong(2),
                        new Vector(row.getInt(3), row.getBytes(4)),
                        DatabaseSession.text(row, 5)),
                "SELECT seq, number, part, vector, entry FROM registry_vector WHERE seq > ? ORDER BY seq LIMIT ?",
                last,
                2 * MAX_VECTORS);
        var fresh = new LinkedHashMap<Long, List<Vector>>();
        for (Loaded each : loaded) {
            last = each.seq();
            if (each.entry().startsWith(embedder.model())) {
                fresh.computeIfAbsent(each.number(), number -> new ArrayList<>())
                        .add(each.vector());
            }
        }
        if (loaded.size() < 2 * MAX_VECTORS) {
            last = Math.max(last, newest); // vectors that are gone have numbers, too
        }
        fresh.forEach((number, list) -> {
            int before = vectors.getOrDefault(number, List.of()).size();
            if (size - before + list.size() <= MAX_VECTORS) {
                vectors.put(number, list);
                size += list.size() - before;
            }
        });
        loads.arrive();
        return last;
    }

    /** Entries whose meaning is near to that of a query, the nearest first. The caller may not see all of them. */
    List<Near> near(DatabaseSession session, String query, int limit) throws SQLException {
        if (session.number("SELECT seq FROM registry_vector_newest") > last) {
            load(session); // another connection may not be free before this one is
        }
        float[] sought = query(query);
        var near = new ArrayList<Near>();
        vectors.forEach((number, list) -> {
            Vector best = null;
            double similarity = CUTOFF;
            for (Vector vector : list) {
                double product = product(sought, vector.values());
                if (product > similarity) {
                    similarity = product;
                    best = vector;
                }
            }
            if (best != null) {
                near.add(new Near(number, best.part(), similarity));
            }
        });
        near.sort((one, other) -> {
            int order = Double.compare(other.similarity(), one.similarity());
            return order != 0 ? order : Long.compare(one.number(), other.number());
        });
        return near.subList(0, Math.min(limit, near.size()));
    }

    private float[] query(String text) {
        synchronized (queries) {
            float[] kept = queries.get(text);
            if (kept != null) {
                return kept;
            }
        }
        float[] made = embedder.embed(text);
        synchronized (queries) {
            queries.put(text, made);
        }
        return made;
    }

    private static double product(float[] one, byte[] other) {
        float sum = 0;
        for (int i = 0; i < Math.min(one.length, other.length); i++) {
            sum += one[i] * other[i];
        }
        return sum / 127;
    }

    @Override
    public void close() {
        isClosed = true;
        worker.interrupt();
        try {
            worker.join(CLOSING);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
