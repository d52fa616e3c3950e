package dev.parley.knowledge.journal;

import static java.util.Objects.requireNonNull;

import dev.parley.knowledge.api.KnowledgeOperation.UpdateResult;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.JsonColumn;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Answers to updates with an idempotency key, for their repetitions. */
public final class UpdateAnswers {
    /** Bytes of an answer for the quota of its group. */
    static final String BYTES = Storage.ROW + " + octet_length(result)";

    private final Duration kept;
    private final InstantSource steadyClock;

    /** @param steadyClock decides which answers are old enough to be removed */
    UpdateAnswers(Duration kept, InstantSource steadyClock) {
        this.kept = kept;
        this.steadyClock = steadyClock;
    }

    /** Returns the answer to an update of a caller with a key, if it is kept. */
    public Optional<UpdateResult> find(DatabaseSession session, GroupCache space, String caller, String key)
            throws SQLException {
        return session.first(
                row -> result(JsonColumn.object(DatabaseSession.text(row, 1))),
                "SELECT result FROM kg_key WHERE space = ? AND caller = ? AND key = ? AND made_ms > ?",
                space.number(),
                caller,
                key,
                steadyClock.millis() - kept.toMillis());
    }

    /** Keeps the answer to an update with a key. */
    public void keep(GraphWriting writing, String caller, String key, UpdateResult result) throws SQLException {
        var members = new LinkedHashMap<String, @Nullable Object>();
        members.put("success", result.success());
        members.put("affected", result.statementsAffected());
        members.put("ids", result.affectedIds());
        members.put("status", result.verificationStatus());
        members.put("details", result.verificationDetails());
        writing.record(tables -> {
            String json = JsonColumn.of(members);
            tables.session()
                    .list(
                            row -> row.getLong(1),
                            "DELETE FROM kg_key WHERE space = ? AND caller = ? AND key = ? RETURNING " + BYTES,
                            tables.space().number(),
                            caller,
                            key)
                    .forEach(bytes -> tables.countRecord(-bytes));
            tables.countRecord(Storage.ROW + SqlWriting.bytes(json));
            tables.session()
                    .update(
                            "INSERT INTO kg_key (space, caller, key, made_ms, result) VALUES (?, ?, ?, ?, ?)",
                            tables.space().number(),
                            caller,
                            key,
                            tables.nowMs(),
                            json);
        });
    }

    private static UpdateResult result(Map<String, @Nullable Object> members) {
        Object affected = members.get("affected");
        List<?> ids = (List<?>) requireNonNull(members.get("ids"));
        return new UpdateResult(
                Boolean.TRUE.equals(members.get("success")),
                affected instanceof Number number ? (Integer) number.intValue() : null,
                ids.stream().map(String::valueOf).toList(),
                (String) members.get("status"),
                (String) members.get("details"));
    }
}
