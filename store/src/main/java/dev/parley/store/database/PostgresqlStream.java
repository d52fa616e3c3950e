package dev.parley.store.database;

import dev.parley.store.database.PostgresqlBatch.Piece;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.Ending.Cause;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/**
 * The stream of a writer in PostgreSQL: a row that exists as long as the writer may write, and a row for each of its newest
 * transactions. A transaction adds its row first, which needs a shared lock of the stream's row: a writer without the row writes
 * nothing, and the one who removes it waits for the transaction. The number in the newest row shows whether a transaction with a lost
 * answer was committed, and whether acknowledged ones are missing. For the writer's thread.
 */
final class PostgresqlStream {
    /** Rows of transactions are removed when so many more have been added. */
    private static final int ROWS = 1_000;

    private static final String BEGIN_GROUP = "INSERT INTO stream_group (stream_no, group_no, audit_no, audit_hash)"
            + " SELECT stream_no, ?::bigint, ?::bigint, ?::text FROM stream WHERE stream_no = ? FOR KEY SHARE";

    /** The end of a chain of hashes. */
    private record ChainEnd(long number, String hash) {}

    private final long number;
    private final long hub;
    private long group;
    private ChainEnd written;

    // The transaction in the making.
    private long begun;
    private ChainEnd end;
    private boolean isSent;

    /** Number of the transaction with an unknown result of its commit; 0 for none. */
    private long uncertain;

    private boolean landed;

    PostgresqlStream(long number, long hub, long auditNumber, String auditHash) {
        this.number = number;
        this.hub = hub;
        this.written = new ChainEnd(auditNumber, auditHash);
        this.end = written;
    }

    long number() {
        return number;
    }

    long hub() {
        return hub;
    }

    /** Begins a transaction. */
    void begin(DatabaseSession session, PostgresqlBatch batch) throws SQLException {
        long next = group + 1;
        begun = next;
        end = written;
        isSent = false;
        batch.begin(
                session,
                new Piece(
                        BEGIN_GROUP,
                        parameters -> {
                            parameters.add(next);
                            parameters.add(end.number);
                            parameters.add(end.hash);
                            parameters.add(number);
                            isSent = true;
                        },
                        PostgresqlStream::requireStream));
        if (next % ROWS == 0) {
            session.later("DELETE FROM stream_group WHERE stream_no = ? AND group_no < ?", number, group);
        }
    }

    private static void requireStream(int added) throws SQLException {
        if (added == 0) {
            throw new EndedException(takenOver());
        }
    }

    static Ending takenOver() {
        return new Ending(
                Cause.TAKEN_OVER,
                "another hub has taken this database over, and this one writes nothing any more (expected: one hub per"
                        + " database, or hubs that all have --cluster)",
                0);
    }

    /**
     * Looks whether the stream exists, by a connection that may not write.
     *
     * @throws EndedException if it was taken over
     */
    void require(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("SELECT 1 FROM stream WHERE stream_no = " + number)) {
            if (!row.next()) {
                throw new EndedException(takenOver());
            }
        }
    }

    /** Has the transaction in the making end the chain of the audit so. */
    void auditEnd(DatabaseSession session, long auditNumber, String auditHash) throws SQLException {
        end = new ChainEnd(auditNumber, auditHash);
        if (isSent) {
            session.later(
                    "UPDATE stream_group SET audit_no = ?, audit_hash = ? WHERE stream_no = ? AND group_no = ?",
                    auditNumber,
                    auditHash,
                    number,
                    begun);
        }
    }

    void committed() {
        group = begun;
        written = end;
        uncertain = 0;
    }

    void uncertain() {
        uncertain = begun;
        landed = false;
    }

    /** True if the transaction with an unknown result is in the database, as of the latest {@link #reopened}. */
    boolean hasLanded() {
        return landed;
    }

    /**
     * Compares what this writer remembers with the database, by a new connection.
     *
     * @throws EndedException if the stream has been ended, or the database lacks transactions of it
     */
    void reopened(DatabaseSession session) throws SQLException {
        Long newest = null;
        boolean isKnown = false;
        try (ResultSet row = session.bind(
                        "SELECT (SELECT group_no FROM stream_newest WHERE stream_no = ?),"
                                + " (SELECT audit_no FROM stream_newest WHERE stream_no = ?),"
                                + " (SELECT audit_hash FROM stream_newest WHERE stream_no = ?),"
                                + " EXISTS (SELECT 1 FROM hub WHERE hub_no = ?)",
                        number,
                        number,
                        number,
                        hub)
                .executeQuery()) {
            row.next();
            newest = row.getObject(1, Long.class);
            if (newest != null) {
                written = new ChainEnd(row.getLong(2), DatabaseSession.text(row, 3));
            }
            isKnown = row.getBoolean(4);
        }
        if (newest == null && isKnown) {
            throw new EndedException(takenOver());
        }
        long there = newest == null ? 0 : newest;
        if (newest == null || there < group) {
            throw new EndedException(wentBack(group - there));
        }
        group = there;
        if (uncertain != 0) {
            landed = group == uncertain;
            uncertain = 0; // the next attempt to write takes the same number
        }
    }

    private static Ending wentBack(long lost) {
        return new Ending(
                Cause.WENT_BACK,
                "the database lacks the last " + lost + " transactions of this hub, which it had acknowledged: it is an"
                        + " earlier state of itself (expected: a standby that gets all, by synchronous_standby_names)",
                lost);
    }

    /** The program may not use the database any more. */
    static final class EndedException extends SQLException {
        private static final long serialVersionUID = 1L;

        private final transient Ending ending;

        EndedException(Ending ending) {
            super(ending.words());
            this.ending = ending;
        }

        static @Nullable Ending in(Throwable problem) {
            for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
                if (cause instanceof EndedException ended) {
                    return ended.ending;
                }
            }
            return null;
        }
    }
}
