package dev.parley.store.database;

import dev.parley.store.connection.Outage;
import dev.parley.store.database.PostgresqlBatch.Piece;
import dev.parley.store.spi.Ending;
import dev.parley.store.spi.Ending.Cause;
import dev.parley.store.spi.Registration;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
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

    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** In place of the number of a hub: the streams of all hubs are ended. */
    static final long ALL = 0;

    private static final int ATTEMPTS = 10;

    /** State of a statement that the user of the database may not run. */
    private static final String FORBIDDEN = "42501";

    private static final String LOCK_TIMEOUT = "SET LOCAL lock_timeout = 500";

    /** Condition for the streams of hubs that have ended, and for those of one hub, whose number is the parameter; for all if that is 0. */
    private static final String ENDED = " WHERE ?1 IN (0, hub_no) OR NOT EXISTS"
            + " (SELECT 1 FROM hub WHERE hub.hub_no = stream.hub_no AND ended_at IS NULL)";

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

    // ---- Streams of hubs that have ended: nothing is written for them once their rows are removed. A transaction that
    // is under way, as that
    // of a paused program, is awaited for half a second; then its connection is ended.

    /** Returns a query for the streams of other hubs that have not ended, with the values of {@link #hindranceOf}. */
    static String hindrances(String columns) {
        // The tables may be older than hubs that work at the same time.
        return "SELECT " + columns + " FROM stream JOIN hub USING (hub_no) WHERE ended_at IS NULL AND hub_no <> ?1"
                + " AND NOT (CAST(?2 AS BOOLEAN) AND to_jsonb(stream) ->> 'at_once' IS NOT DISTINCT FROM 'true')";
    }

    /**
     * Values of {@link #hindrances} for a hub: it waits for all others, or if it works at the same time as others for those that do
     * not, whatever their releases are.
     */
    static Object[] hindranceOf(long hub, Registration registration) {
        return new Object[] {hub, registration.isAtOnce()};
    }

    /**
     * Waits until no transaction of the streams is under way.
     *
     * @param hub number of the hub whose own streams are ended, too, or {@link #ALL}
     * @return the numbers of the streams, separated by commas; empty for none
     * @throws SQLException with the state {@link PostgresqlSystem#IN_USE} if one does not end
     */
    static String awaitTransactions(DatabaseSession session, long hub) throws SQLException {
        session.once(hub == ALL ? "SET LOCAL lock_timeout = 0" : LOCK_TIMEOUT);
        String streams = session.first(
                        row -> DatabaseSession.text(row, 1),
                        "SELECT coalesce(string_agg(CAST(stream_no AS TEXT), ','), '') FROM (SELECT stream_no FROM stream"
                                + ENDED + " FOR UPDATE) AS ended",
                        hub)
                .orElse("");
        session.once("SET LOCAL lock_timeout = 0");
        return streams;
    }

    /**
     * Ends streams, whose rows have their ends from then on. In the transaction in the making.
     *
     * @param streams numbers that {@link #awaitTransactions} has returned: hubs may end meanwhile, whose streams are awaited by the next one
     * @param by number of the hub that ends them
     */
    static void endStreams(DatabaseSession session, String streams, long by) throws SQLException {
        session.update(
                "INSERT INTO stream_end (stream_no, group_no, audit_no, audit_hash, ended_by)"
                        + " SELECT stream_no, group_no, audit_no, audit_hash, ?2 FROM stream_newest WHERE stream_no = ANY (?1::bigint[])",
                "{" + streams + "}",
                by);
        session.update("DELETE FROM stream WHERE stream_no = ANY (?::bigint[])", "{" + streams + "}");
        session.update("DELETE FROM stream_group WHERE stream_no NOT IN (SELECT stream_no FROM stream)");
    }

    /**
     * Ends the streams of hubs that have ended, in a transaction of its own.
     *
     * @return whether there were some; not if another hub begins a stream or makes tables, which does the same
     */
    static boolean endAll(DatabaseSession session, long by) throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try {
                String streams = "";
                if (session.number(PostgresqlSystem.START_ALONE_NOW) == 1) {
                    session.once(PostgresqlSystem.LONGEST_IDLE);
                    streams = awaitTransactions(session, -1);
                    endStreams(session, streams, by);
                }
                session.commit();
                return !streams.isEmpty();
            } catch (SQLException held) {
                if (attempt == ATTEMPTS || !PostgresqlSystem.IN_USE.equals(held.getSQLState())) {
                    throw held;
                }
                session.connection().rollback();
                terminate(session);
            }
        }
    }

    /** Ends the connections of hubs that have ended, which the server may keep in a transaction. */
    static void terminate(DatabaseSession session) throws SQLException {
        try {
            session.number("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND application_name IN (SELECT "
                    + PostgresqlSystem.APPLICATION.formatted("hub_no")
                    + " FROM stream JOIN hub USING (hub_no) WHERE ended_at IS NOT NULL)");
            session.commit();
        } catch (SQLException refused) {
            if (!FORBIDDEN.equals(refused.getSQLState())) {
                throw refused;
            }
            session.connection().rollback();
            LOG.log(
                    Level.WARNING,
                    "the connections of a hub that has ended cannot be ended: " + Outage.message(refused)
                            + " (expected: the same user of the database for all hubs, or one with pg_signal_backend)");
        }
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
