package dev.parley.knowledge.journal;

import dev.parley.knowledge.api.KnowledgeOperation.Update;
import dev.parley.knowledge.model.Review;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.store.GraphWriting;
import dev.parley.knowledge.store.GroupCache;
import dev.parley.knowledge.store.JsonColumn;
import dev.parley.knowledge.store.SqlWriting;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.Storage;
import dev.parley.store.rows.DamagedRows;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Updates that wait for review, and decisions about them. */
public final class Reviews {
    /**
     * Takes the number after the one in a setting of the database, which the newest review had, also if it was erased. The row of the
     * setting stays locked until the transaction ends, so that reviews are numbered in the order of their commits.
     */
    private static final String TAKE_NUMBER = "INSERT INTO kg_setting (space, name, value)"
            + " SELECT 0, 'last review', CAST(coalesce(max(review_no), 0) + 1 AS TEXT) FROM kg_review WHERE TRUE"
            + " ON CONFLICT (space, name) DO UPDATE SET value = CASE"
            + " WHEN CAST(kg_setting.value AS BIGINT) < CAST(excluded.value AS BIGINT) THEN excluded.value"
            + " ELSE CAST(CAST(kg_setting.value AS BIGINT) + 1 AS TEXT) END RETURNING CAST(value AS BIGINT)";

    private static final DamagedRows DAMAGED = new DamagedRows("review");

    Reviews() {}

    /** Stores an update for review and returns its number. */
    public long hold(GraphWriting writing, String caller, Update update, String reason) throws SQLException {
        long number = writing.take((session, space) -> session.number(TAKE_NUMBER));
        writing.record(tables -> {
            String request = JsonColumn.of(update);
            long bytes = Storage.ROW + SqlWriting.bytes(request);
            tables.count(bytes);
            tables.session()
                    .update(
                            "INSERT INTO kg_review (review_no, space, state, made_ms, caller, request, reason, bytes)"
                                    + " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                            number,
                            tables.space().number(),
                            Review.State.PENDING.name(),
                            tables.nowMs(),
                            caller,
                            request,
                            reason,
                            bytes);
        });
        return number;
    }

    /** Returns reviews in order of their numbers; of every state if {@code state} is null. */
    public StatementPage<Review> list(
            DatabaseSession session, GroupCache space, Review.@Nullable State state, long after, int limit)
            throws SQLException {
        return read(
                session,
                state == null ? "review_no > ?" : "state = ? AND review_no > ?",
                limit,
                state == null
                        ? new Object[] {space.number(), after, limit + 1}
                        : new Object[] {space.number(), state.name(), after, limit + 1});
    }

    /** Returns the reviews that a principal has requested or decided. */
    public StatementPage<Review> of(DatabaseSession session, GroupCache space, String name, long after, int limit)
            throws SQLException {
        return read(session, "(caller = ? OR decided_by = ?) AND review_no > ?", limit, new Object[] {
            space.number(), name, name, after, limit + 1
        });
    }

    public Optional<Review> find(DatabaseSession session, GroupCache space, long number) throws SQLException {
        return read(session, "review_no = ?", 1, new Object[] {space.number(), number, 1}).items().stream()
                .findFirst();
    }

    private static StatementPage<Review> read(DatabaseSession session, String where, int limit, Object[] values)
            throws SQLException {
        var reviews = new ArrayList<Review>();
        long characters = 0;
        int seen = 0;
        long last = 0;
        PreparedStatement select = session.bind(
                "SELECT review_no, state, made_ms, caller, request, reason, decided_ms, decided_by, remark"
                        + " FROM kg_review WHERE space = ? AND " + where + " ORDER BY review_no LIMIT ?",
                values);
        select.setFetchSize(LongRows.FETCHED);
        try (ResultSet rows = select.executeQuery()) {
            while (characters <= LongRows.MAX_CHARACTERS && seen <= limit && rows.next()) {
                seen++;
                if (seen <= limit) {
                    last = rows.getLong(1);
                    characters += DatabaseSession.text(rows, 5).length();
                    DAMAGED.read(rows, Reviews::review).ifPresent(reviews::add);
                }
            }
        }
        boolean more = seen > limit || characters > LongRows.MAX_CHARACTERS;
        return new StatementPage<>(reviews, more ? Long.toString(last) : null);
    }

    private static Review review(ResultSet row) throws SQLException {
        long decided = row.getLong(7);
        return new Review(
                Long.toString(row.getLong(1)),
                Review.State.valueOf(DatabaseSession.text(row, 2)),
                Instant.ofEpochMilli(row.getLong(3)),
                DatabaseSession.text(row, 4),
                JsonColumn.read(DatabaseSession.text(row, 5), Update.class),
                DatabaseSession.text(row, 6),
                decided == 0 ? null : Instant.ofEpochMilli(decided),
                DatabaseSession.text(row, 8),
                DatabaseSession.text(row, 9));
    }

    /** Ends the wait of an update; false if it does not wait. */
    public boolean decide(SqlWriting writing, long number, Review.State state, String by, @Nullable String remark)
            throws SQLException {
        return writing.session()
                        .update(
                                "UPDATE kg_review SET state = ?, decided_ms = ?, decided_by = ?, remark = ?"
                                        + " WHERE review_no = ? AND state = ?",
                                state.name(),
                                writing.nowMs(),
                                by,
                                remark,
                                number,
                                Review.State.PENDING.name())
                == 1;
    }
}
