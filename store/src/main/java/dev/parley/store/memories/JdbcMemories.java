package dev.parley.store.memories;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.database.Storage.Kind;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

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
            """));

    private static final String BYTES = "CAST(" + Storage.ROW + " + octet_length(content) AS BIGINT)";
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

    /** Makes the tables. */
    public JdbcMemories(Database database, InstantSource clock, EncryptionAtRest atRest) {
        this.database = database;
        this.clock = clock;
        this.atRest = atRest;
        database.migrate(TABLES);
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
    public boolean write(Key key, String text, BooleanSupplier isWanted) {
        byte[] content = atRest.task(text.getBytes(UTF_8), place(key));
        return database.admit(key.owner().group(), session -> isWanted.getAsBoolean() && write(session, key, content));
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

    @Override
    public int erase(Subject subject) {
        String principal = subject.principal();
        String contextId = subject.contextId();
        return database.erase(session -> {
            if (principal == null) {
                return delete(
                        session,
                        "DELETE FROM memory WHERE group_id = ? AND context_id = ?",
                        subject.group(),
                        requireNonNull(contextId));
            }
            return contextId == null
                    ? delete(session, "DELETE FROM memory WHERE group_id = ? AND owner = ?", subject.group(), principal)
                    : delete(
                            session,
                            "DELETE FROM memory WHERE group_id = ? AND owner = ? AND context_id = ?",
                            subject.group(),
                            principal,
                            contextId);
        });
    }

    private static String place(Key key) {
        return "memory of " + key.owner().group() + "/" + key.owner().owner() + "/" + key.agent() + "/"
                + key.contextId();
    }
}
