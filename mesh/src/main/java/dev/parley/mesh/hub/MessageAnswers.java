package dev.parley.mesh.hub;

import dev.parley.dialect.Json;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.CanonicalJson;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.spi.ModuleTables;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answers to messages of the last 24 hours, so that a repetition gets the same one. A row refers to the task that the answer is about and
 * has nothing of its content.
 *
 * <p>See {@code docs/adr/0042-answers-of-the-mesh.md}. Safe for any thread.
 */
final class MessageAnswers {
    /** Time for which answers are kept. */
    static final Duration KEPT = Duration.ofHours(24);

    static final ModuleTables TABLES =
            new ModuleTables("one", List.of("""
            CREATE TABLE one_answer (
                group_id    TEXT NOT NULL,
                sender      TEXT NOT NULL,
                message_id  TEXT NOT NULL,
                at_ms       BIGINT NOT NULL,
                fingerprint TEXT NOT NULL,
                type        TEXT NOT NULL,
                task_id     TEXT,
                estimate_ms BIGINT,
                PRIMARY KEY (group_id, sender, message_id)
            );
            CREATE INDEX one_answer_by_time ON one_answer (at_ms);
            CREATE INDEX one_answer_by_task ON one_answer (task_id);
            """, Durations.SCHEMA, Durations.SCHEMA_OF_HUBS + MessageClaims.SCHEMA));

    /** Rows removed at most with each new one, so that their number falls again after a peak. */
    private static final int REMOVED_AT_ONCE = 10;

    /** A message of a sender. */
    record Key(String group, String sender, String messageId) {
        static Key of(Envelope envelope, CallContext caller) {
            return new Key(caller.scope().group(), envelope.from().agentId(), envelope.messageId());
        }
    }

    /**
     * An answer.
     *
     * @param fingerprint of the message that it answers
     * @param taskId null for an answer about no task
     * @param estimate of the completion; null for none
     */
    record Answer(
            String fingerprint,
            Instant at,
            MessageType type,
            @Nullable String taskId,
            @Nullable Instant estimate) {}

    /** The same of hubs that share the database: none waits for another one that removes the same rows. */
    private static final String REMOVE_SHARED = "WITH old AS MATERIALIZED (SELECT group_id, sender, message_id"
            + " FROM one_answer WHERE at_ms <= ? ORDER BY at_ms LIMIT ? FOR UPDATE SKIP LOCKED)"
            + " DELETE FROM one_answer USING old WHERE one_answer.group_id = old.group_id"
            + " AND one_answer.sender = old.sender AND one_answer.message_id = old.message_id";

    private final Database database;
    private final AuditTrail audit;
    private final MessageClaims claims;

    /** Makes the tables of the mesh. */
    MessageAnswers(Database database, AuditTrail audit) {
        this.database = database;
        this.audit = audit;
        database.migrate(TABLES);
        this.claims = new MessageClaims(database);
    }

    /** Claims of messages without an answer. */
    MessageClaims claims() {
        return claims;
    }

    /** Hash of the members that make a message the same under the same id. Time and signature may differ. */
    static String fingerprint(Envelope envelope) {
        List<?> message = Arrays.asList(
                envelope.to().agentId(),
                envelope.correlationId(),
                envelope.message().type().word(),
                envelope.message().mimeType(),
                envelope.message().content());
        return HexFormat.of().formatHex(Sha256.of(bytes(message)));
    }

    private static byte[] bytes(List<?> message) {
        try {
            return CanonicalJson.of(message);
        } catch (A2AException withoutCanonicalForm) {
            return Json.write(message); // for instance an integer that no double is equal to
        }
    }

    Optional<Answer> find(Key key) {
        return database.read(session -> find(session, key));
    }

    static Optional<Answer> find(DatabaseSession session, Key key) throws SQLException {
        return session.first(
                row -> new Answer(
                        DatabaseSession.text(row, 1),
                        Instant.ofEpochMilli(row.getLong(2)),
                        MessageType.valueOf(DatabaseSession.text(row, 3)),
                        DatabaseSession.text(row, 4),
                        DatabaseSession.time(row, 5)),
                "SELECT fingerprint, at_ms, type, task_id, estimate_ms FROM one_answer"
                        + " WHERE group_id = ? AND sender = ? AND message_id = ? AND at_ms > ?",
                key.group(),
                key.sender(),
                key.messageId(),
                Instant.now().minus(KEPT));
    }

    /**
     * Keeps an answer, and returns the one that counts: that of another hub which was first, if there is one.
     *
     * @param event row of the audit that is kept with the answer, or not at all
     */
    Answer keep(Key key, Answer answer, AuditEntry event) {
        Answer first = database.write(key.group(), session -> {
            Instant expired = answer.at().minus(KEPT);
            session.update(
                    "DELETE FROM one_answer WHERE group_id = ? AND sender = ? AND message_id = ? AND at_ms <= ?",
                    key.group(),
                    key.sender(),
                    key.messageId(),
                    expired);
            int kept = session.update(
                    "INSERT INTO one_answer (group_id, sender, message_id, at_ms, fingerprint, type, task_id, estimate_ms)"
                            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    key.group(),
                    key.sender(),
                    key.messageId(),
                    answer.at(),
                    answer.fingerprint(),
                    answer.type().name(),
                    answer.taskId(),
                    answer.estimate());
            if (kept > 0) {
                audit.add(session, event);
            }
            claims.remove(session, key);
            removeExpired(session, expired);
            return find(session, key).orElse(answer);
        });
        claims.tell();
        return first;
    }

    private void removeExpired(DatabaseSession session, Instant expired) throws SQLException {
        if (database.access().feeds().isShared()) {
            session.update(REMOVE_SHARED, expired, REMOVED_AT_ONCE);
            return;
        }
        record Row(String group, String sender, String messageId) {}
        List<Row> rows = session.list(
                row -> new Row(
                        DatabaseSession.text(row, 1), DatabaseSession.text(row, 2), DatabaseSession.text(row, 3)),
                "SELECT group_id, sender, message_id FROM one_answer WHERE at_ms <= ? ORDER BY at_ms LIMIT ?",
                expired,
                REMOVED_AT_ONCE);
        for (Row row : rows) {
            session.update(
                    "DELETE FROM one_answer WHERE group_id = ? AND sender = ? AND message_id = ?",
                    row.group(),
                    row.sender(),
                    row.messageId());
        }
    }

    /** The messages with answers about a task. */
    List<Key> about(String group, String taskId) {
        return database.read(session -> session.list(
                row -> new Key(group, DatabaseSession.text(row, 1), DatabaseSession.text(row, 2)),
                "SELECT sender, message_id FROM one_answer WHERE group_id = ? AND task_id = ?",
                group,
                taskId));
    }

    /** Erases the answers about tasks. */
    void unlink(String group, List<String> taskIds) {
        database.writeInSlices(
                taskIds,
                true,
                (session, id) ->
                        session.update("DELETE FROM one_answer WHERE group_id = ? AND task_id = ?", group, id));
    }

    /** Erases the answers to a sender, and returns how many there were. */
    int erase(String group, String sender) {
        return database.erase(session -> {
            MessageClaims.erase(session, group, sender);
            return session.update("DELETE FROM one_answer WHERE group_id = ? AND sender = ?", group, sender);
        });
    }
}
