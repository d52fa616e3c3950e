package dev.parley.store.memories;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

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
            """));

    private static final int MAX_CHARACTERS = 4 << 20;

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

    /** @throws IllegalArgumentException if the text has more than 4 Mi characters */
    @Override
    public boolean write(Key key, String text, BooleanSupplier isWanted) {
        if (text.length() > MAX_CHARACTERS) {
            throw new IllegalArgumentException("memory of a conversation: " + text.length()
                    + " characters (expected: at most " + MAX_CHARACTERS + ")");
        }
        byte[] content = atRest.task(text.getBytes(UTF_8), place(key));
        return database.write(key.owner().group(), session -> isWanted.getAsBoolean() && write(session, key, content));
    }

    private boolean write(DatabaseSession session, Key key, byte[] content) throws SQLException {
        return session.update(
                        "INSERT INTO memory (group_id, owner, agent, context_id, written_ms, content)"
                                + " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (group_id, owner, agent, context_id)"
                                + " DO UPDATE SET written_ms = excluded.written_ms, content = excluded.content",
                        key.owner().group(),
                        key.owner().owner(),
                        key.agent(),
                        key.contextId(),
                        clock.instant(),
                        content)
                > 0;
    }

    @Override
    public void remove(Key key) {
        database.write(session -> session.update(
                "DELETE FROM memory" + ONE, key.owner().group(), key.owner().owner(), key.agent(), key.contextId()));
    }

    @Override
    public int removeUnchanged(Instant before, int limit) {
        String sql = database.kind() == DatabaseKind.SQLITE ? REMOVE_OF_SQLITE : REMOVE;
        return database.write(limit, session -> session.update(sql, before, limit));
    }

    @Override
    public int erase(Subject subject) {
        String principal = subject.principal();
        String contextId = subject.contextId();
        return database.erase(session -> {
            if (principal == null) {
                return session.update(
                        "DELETE FROM memory WHERE group_id = ? AND context_id = ?", subject.group(), contextId);
            }
            return contextId == null
                    ? session.update("DELETE FROM memory WHERE group_id = ? AND owner = ?", subject.group(), principal)
                    : session.update(
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
