package dev.parley.store.memories;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.shared.Epoch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Memories of conversations as rows of a database, encrypted if tasks are. Hubs that share the database read what another one wrote last.
 * Safe for any thread.
 */
public final class JdbcMemories implements Memories {
    /** The tables of memories. */
    public static final ModuleTables TABLES = new ModuleTables("memories", List.of("""
            CREATE TABLE memory (
                group_id   TEXT NOT NULL,
                owner      TEXT NOT NULL,
                agent      TEXT NOT NULL,
                context_id TEXT NOT NULL,
                written_ms BIGINT NOT NULL,
                content    BLOB NOT NULL,
                PRIMARY KEY (group_id, owner, agent, context_id)
            );
            CREATE INDEX memory_by_time ON memory (written_ms);
            CREATE INDEX memory_by_context ON memory (context_id);
            """, """
            INSERT INTO stored (group_id, kind, bytes)
                SELECT group_id, 'memories', SUM(200 + octet_length(content)) FROM memory GROUP BY group_id;
            """, """
            CREATE TABLE memory_erasure (
                -- Hash of a principal, a context, or both.
                subject TEXT PRIMARY KEY,
                number  BIGINT NOT NULL,
                at_ms   BIGINT NOT NULL
            );
            """));

    private static final String NEWEST = "SELECT coalesce(max(number), 0) FROM memory_erasure";

    /** How long an erasure is kept: longer than any run. The newest one stays, as numbers go on from it. */
    private static final Duration LONGEST_RUN = Duration.ofDays(90);

    private static final String BYTES = "CAST(" + Storage.ROW + " + octet_length(content) AS BIGINT)";
    /** Bytes of a page of memories, if it has more than one. */
    private static final long PAGE_BYTES = 4 << 20;

    private static final String RETURNING = " RETURNING memory.group_id, " + BYTES;

    private static final String ONE = " WHERE group_id = ? AND owner = ? AND agent = ? AND context_id = ?";

    /** Of hubs that share the database none waits for another one that removes the same rows. */
    private static final String REMOVE = "WITH old AS MATERIALIZED (SELECT group_id, owner, agent, context_id"
            + " FROM memory WHERE written_ms < ? ORDER BY written_ms LIMIT ? FOR UPDATE SKIP LOCKED)"
            + " DELETE FROM memory USING old WHERE memory.group_id = old.group_id AND memory.owner = old.owner"
            + " AND memory.agent = old.agent AND memory.context_id = old.context_id";

    private static final String REMOVE_OF_SQLITE = "DELETE FROM memory WHERE rowid IN"
            + " (SELECT rowid FROM memory WHERE written_ms < ? ORDER BY written_ms LIMIT ?)";

    private final Database database;
    private final InstantSource clock;
    private final EncryptionAtRest atRest;
    private final AtomicLong newest = new AtomicLong();

    /** Makes the tables. */
    public JdbcMemories(Database database, InstantSource clock, EncryptionAtRest atRest) {
        this.database = database;
        this.clock = clock;
        this.atRest = atRest;
        database.migrate(TABLES);
        // After the writes that are under way, by which the barrier of an erasure waits for them.
        database.access()
                .epochs()
                .keep(Epoch.ERASED_TASKS, () -> newest.set(database.write(session -> session.number(NEWEST))));
        newest.set(database.read(session -> session.number(NEWEST)));
    }

    @Override
    public Optional<String> read(Key key) {
        return database.read(session -> session.first(
                        row -> row.getBytes(1),
                        "SELECT content FROM memory" + ONE,
                        key.owner().group(),
                        key.owner().owner(),
                        key.agent(),
                        key.contextId()))
                .map(content -> new String(atRest.open(content, place(key)), UTF_8));
    }

    @Override
    public long newestErasure() {
        return newest.get();
    }

    @Override
    public boolean write(Key key, String text, long begun, BooleanSupplier isWanted) {
        byte[] content = atRest.task(text.getBytes(UTF_8), place(key));
        return database.admit(
                key.owner().group(),
                session -> isWanted.getAsBoolean() && !isErased(session, key, begun) && write(session, key, content));
    }

    private static boolean isErased(DatabaseSession session, Key key, long begun) throws SQLException {
        String group = key.owner().group();
        String owner = key.owner().owner();
        return session.number(
                        "SELECT count(*) FROM memory_erasure WHERE number > ? AND subject IN (?, ?, ?)",
                        begun,
                        hash(new Subject(group, owner, null)),
                        hash(new Subject(group, null, key.contextId())),
                        hash(new Subject(group, owner, key.contextId())))
                > 0;
    }

    /** A subject without its names, which are erased. */
    private static String hash(Subject subject) {
        return Sha256.hex(subject.group()
                + (subject.principal() == null ? "" : "\0principal " + subject.principal())
                + (subject.contextId() == null ? "" : "\0context " + subject.contextId()));
    }

    private boolean write(DatabaseSession session, Key key, byte[] content) throws SQLException {
        // Locked, so that no other hub changes the size that the sum of the group has of it.
        long before = session.number(
                "SELECT " + BYTES + " FROM memory" + ONE
                        + (database.kind() == DatabaseKind.SQLITE ? "" : " FOR UPDATE"),
                columns(key));
        String group = key.owner().group();
        long more = Storage.ROW + content.length - before;
        database.storage().require(group, more);
        database.storage().add(group, Kind.MEMORIES, more);
        int written = before == 0
                ? session.update(
                        "INSERT INTO memory (written_ms, content, group_id, owner, agent, context_id)"
                                + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                        written(key, content))
                : session.update("UPDATE memory SET written_ms = ?, content = ?" + ONE, written(key, content));
        if (written == 0) { // the transaction is repeated, with the size of that
            throw new SQLException("another hub has begun the memory meanwhile", "40001");
        }
        return true;
    }

    private Object[] written(Key key, byte[] content) {
        return Stream.concat(Stream.of(clock.instant(), content), Stream.of(columns(key)))
                .toArray();
    }

    private static Object[] columns(Key key) {
        return new Object[] {key.owner().group(), key.owner().owner(), key.agent(), key.contextId()};
    }

    @Override
    public void remove(Key key) {
        database.write(session -> delete(session, "DELETE FROM memory" + ONE, columns(key)));
    }

    /** Deletes memories, subtracts them from the sums of their groups, and returns their number. */
    private int delete(DatabaseSession session, String delete, Object... values) throws SQLException {
        record Deleted(String group, long bytes) {}
        List<Deleted> rows = session.list(
                row -> new Deleted(DatabaseSession.text(row, 1), row.getLong(2)), delete + RETURNING, values);
        rows.forEach(row -> database.storage().add(row.group, Kind.MEMORIES, -row.bytes));
        return rows.size();
    }

    @Override
    public int removeUnchanged(Instant before, int limit) {
        String sql = database.kind() == DatabaseKind.SQLITE ? REMOVE_OF_SQLITE : REMOVE;
        return database.write(limit, session -> delete(session, sql, before, limit));
    }

    /** @param bytes of its text, which is read apart, as a page of texts may be large */
    private record Row(Key key, Instant written, long bytes) {}

    @Override
    public List<Memory> about(Subject subject, @Nullable Key after, int limit) {
        About rows = about(subject);
        var values = new ArrayList<Object>(rows.values);
        String rest = "";
        if (after != null) {
            rest = " AND (owner, agent, context_id) > (?, ?, ?)";
            values.addAll(List.of(after.owner().owner(), after.agent(), after.contextId()));
        }
        values.add(limit);
        String sql = "SELECT owner, agent, context_id, written_ms, octet_length(content) FROM memory" + rows.sql + rest
                + " ORDER BY owner, agent, context_id LIMIT ?";
        List<Row> found = database.read(session -> session.list(
                row -> new Row(
                        new Key(
                                new Scope(subject.group(), DatabaseSession.text(row, 1)),
                                DatabaseSession.text(row, 2),
                                DatabaseSession.text(row, 3)),
                        Instant.ofEpochMilli(row.getLong(4)),
                        row.getLong(5)),
                sql,
                values.toArray()));
        var page = new ArrayList<Memory>();
        long bytes = 0;
        for (Row row : found) {
            if (!page.isEmpty() && bytes + row.bytes > PAGE_BYTES) {
                break;
            }
            // One that was removed meanwhile is empty: the next page begins after it all the same.
            page.add(new Memory(row.key, row.written, read(row.key).orElse("")));
            bytes += row.bytes;
        }
        return page;
    }

    /** Condition of the rows about a subject, with its values. */
    private record About(String sql, List<Object> values) {}

    private static About about(Subject subject) {
        var sql = new StringBuilder(" WHERE group_id = ?");
        var values = new ArrayList<Object>(List.of(subject.group()));
        if (subject.principal() != null) {
            sql.append(" AND owner = ?");
            values.add(subject.principal());
        }
        if (subject.contextId() != null) {
            sql.append(" AND context_id = ?");
            values.add(subject.contextId());
        }
        return new About(sql.toString(), values);
    }

    @Override
    public int erase(Subject subject) {
        refuse(subject);
        About rows = about(subject);
        return database.erase(session -> delete(session, "DELETE FROM memory" + rows.sql, rows.values.toArray()));
    }

    /**
     * Has all hubs refuse memories of requests that came before now. When this returns, what hubs wrote without a look at the erasure is
     * there, to be removed.
     */
    private void refuse(Subject subject) {
        record Erasure(long number, long change) {}
        Epochs epochs = database.access().epochs();
        Instant now = clock.instant();
        Erasure erasure = database.write(session -> {
            long change =
                    epochs.bump(session, Epoch.ERASED_TASKS); // first: it puts the erasures of several hubs in an order
            long number = session.number(NEWEST) + 1;
            session.update(
                    "INSERT INTO memory_erasure (subject, number, at_ms) VALUES (?, ?, ?) ON CONFLICT (subject)"
                            + " DO UPDATE SET number = excluded.number, at_ms = excluded.at_ms",
                    hash(subject),
                    number,
                    now);
            session.update("DELETE FROM memory_erasure WHERE at_ms < ? AND number < ?", now.minus(LONGEST_RUN), number);
            return new Erasure(number, change);
        });
        newest.accumulateAndGet(erasure.number, Math::max);
        epochs.barrier(Epoch.ERASED_TASKS, erasure.change);
    }

    private static String place(Key key) {
        return "memory of " + key.owner().group() + "/" + key.owner().owner() + "/" + key.agent() + "/"
                + key.contextId();
    }
}
