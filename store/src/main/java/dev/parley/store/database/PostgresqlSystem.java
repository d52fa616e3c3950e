package dev.parley.store.database;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.retry.Backoff;
import dev.parley.store.connection.OpeningProblem;
import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.connection.ServerIdentity;
import dev.parley.store.connection.SessionSettings;
import dev.parley.store.shared.Release;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.TaskTables;
import dev.parley.store.spi.Wrapper;
import dev.parley.store.sql.NumberedParameters;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL. Each start of a writer is a {@linkplain PostgresqlStream stream}.
 *
 * <p>The lock that keeps other hubs out belongs to the connection that writes, so that a hub that cannot be sure of the lock
 * cannot write either.
 */
public final class PostgresqlSystem implements DatabaseSystem {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** The first half of the lock, which other programs are unlikely to use; the second one stands for the schema. */
    static final int LOCK = 727539;

    /**
     * The first half of the lock of a hub that shares its database, which shows others that it is connected. All connections that write
     * or renew its lease have it: the driver closes one whose answer is late, also when the network is silent for a moment only.
     */
    static final int HUB_LOCK = 727540;

    /** The first half of the lock of a queue of webhooks whose sender changes; the second one stands for the schema and the queue. */
    public static final int SENDER_LOCK = 727542;

    /** Has a transaction in which a hub is registered, a stream begins, or tables are made, wait for others of that kind. */
    public static final String START_ALONE = "SELECT 1 FROM pg_advisory_xact_lock(727541, hashtext(current_schema()))";

    /** {@link #START_ALONE} without waiting: 1 if no other one does that at the moment. */
    static final String START_ALONE_NOW =
            "SELECT CAST(pg_try_advisory_xact_lock(727541, hashtext(current_schema())) AS INTEGER)";

    /** Ends a transaction that excludes other starts, and does nothing, as that of a program that is paused. */
    static final String LONGEST_IDLE = "SET LOCAL idle_in_transaction_session_timeout = '10s'";

    /** Name of a connection that writes, by the number of its hub. */
    static final String APPLICATION = "'parley ' || %s || '/' || hashtext(current_schema())";

    /** Names the hub of a connection for operators, and for a hub that takes its place. */
    static final String NAME =
            "SELECT length(set_config('application_name', " + APPLICATION.formatted("?") + ", false))";

    /** Limits the wait for a table that is to be changed and that others use. */
    static final String BRIEFLY = "SET LOCAL lock_timeout = 500";

    /** State of a lock that is not available. */
    static final String IN_USE = OpeningProblem.IN_USE;

    /** The server may take so long to notice that a hub was killed, or that its own connection is gone. */
    private static final Duration LOCK_PATIENCE = Duration.ofSeconds(3);

    private static final Backoff LOCKS = new Backoff(Duration.ofMillis(50), Duration.ofMillis(200));

    /** The lock of a schema among those of the server. */
    private static final String HELD = held(LOCK, "");

    private static final String SHOW =
            "SELECT 1 FROM pg_advisory_lock_shared(" + HUB_LOCK + ", " + second("?::bigint") + ")";

    static final Duration PATIENCE = Duration.ofSeconds(10);

    /** A beat that takes longer is made again by another connection. */
    private static final int LEASE_TIMEOUT_MS = 2_000;

    private static final Duration SHORTEST_READ = Duration.ofSeconds(1);

    private static final Duration READ_PATIENCE = Duration.ofSeconds(5);

    private final DataSource source;
    private final DataSource writable;
    private final boolean isPooled;
    private final Wrapper wrapper;
    private final Duration patience;
    private final Registration registration;
    private final Release release;

    /** The number of the hub; 0 before it is registered. */
    private volatile long hub;

    /** The stream of the writer; null before its start. Used by the writer's thread only. */
    private @Nullable PostgresqlStream stream;
    /** Process of the server for the connection that had the lock last; 0 if none had it. Used by the writer's thread only. */
    private long backend;

    /** The latest connection that writes. */
    private volatile @Nullable Connection writing;

    private volatile boolean isConnecting;
    /** The server of {@link #writing}; null before it is known, and if nothing writes. */
    private volatile @Nullable ServerIdentity server;
    /** Connections that have been opened for writing. */
    private final AtomicLong generation = new AtomicLong();

    private final PostgresqlBatch batch = new PostgresqlBatch();

    PostgresqlSystem(
            DataSource source, Wrapper wrapper, Duration patience, Registration registration, Release release) {
        this.release = release;
        this.registration = registration;
        this.source = source;
        this.writable = source instanceof PostgresqlUrl url ? url.direct() : source;
        this.isPooled = source instanceof PostgresqlUrl url && url.isPooled();
        this.wrapper = wrapper;
        this.patience = patience;
    }

    // ---- Connections

    @Override
    public Connection connect(Use use) throws SQLException {
        return switch (use) {
            case READ -> connectReader();
            case RENEW -> connectLease();
            case WRITE, MAINTAIN -> connectWriter();
        };
    }

    private Connection connectLease() throws SQLException {
        Connection connection = writable.getConnection(); // not one of the data, whose faults are tested
        try {
            connection.setNetworkTimeout(Runnable::run, LEASE_TIMEOUT_MS);
            ServerIdentity written = server;
            if (written != null) {
                written.require(ServerIdentity.of(connection));
            }
            try (Statement statement = connection.createStatement()) {
                // A beat says that the hub lives, not that a disk or a standby has it.
                statement.execute("SET synchronous_commit = off; SET statement_timeout = " + LEASE_TIMEOUT_MS
                        + SessionSettings.ALWAYS);
            }
            return connection;
        } catch (SQLException | RuntimeException failure) {
            close(connection);
            throw failure;
        }
    }

    private Connection connectReader() throws SQLException {
        Connection connection = source.getConnection();
        try {
            connection.setReadOnly(true);
            connection = wrapper.wrap(connection); // as one for reading from its first statement on
            SessionSettings.set(connection, isPooled);
            ServerIdentity written = server;
            if (written != null) {
                written.require(ServerIdentity.of(connection));
            }
            if (!isPooled) {
                connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            }
            return connection;
        } catch (SQLException | RuntimeException failure) {
            close(connection);
            throw failure;
        }
    }

    private Connection connectWriter() throws SQLException {
        writing = null;
        Connection connection = null;
        isConnecting = true;
        try {
            connection = wrapper.wrap(writable.getConnection());
            isConnecting = false;
            writing = connection;
            SessionSettings.set(connection, false);
            if (registration.isShared()) {
                SessionSettings.findClosed(connection);
            }
            ServerIdentity found = ServerIdentity.of(connection);
            found.requirePrimary();
            connection.setReadOnly(false);
            connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            lock(connection);
            connection.setAutoCommit(false);
            server = found;
            generation.incrementAndGet();
            return connection;
        } catch (SQLException | RuntimeException failure) {
            if (connection != null) {
                close(connection);
            }
            throw failure;
        } finally {
            isConnecting = false;
        }
    }

    @Override
    public long generation() {
        return generation.get();
    }

    @Override
    public void interrupt(Thread writer) {
        if (isConnecting) {
            writer.interrupt();
            return;
        }
        Connection hanging = writing;
        if (hanging != null) {
            try {
                hanging.abort(Runnable::run);
            } catch (SQLException failure) {
                LOG.log(Level.WARNING, "a connection could not be ended", failure);
            }
        }
    }

    /**
     * A lock of this schema among those of the server.
     *
     * @param first its first half
     * @param number SQL for the number that its second half stands for; empty if it stands for the schema alone
     */
    static String held(int first, String number) {
        return " FROM pg_locks WHERE locktype = 'advisory' AND granted"
                + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                + " AND classid = " + first
                + " AND objid = CAST(CAST(" + second(number) + " AS BIGINT) & 4294967295 AS OID)";
    }

    private static String second(String number) {
        return number.isEmpty() ? "hashtext(current_schema())" : "hashtext(current_schema() || '/' || " + number + ")";
    }

    /** Has the server show, as long as the connection lasts, that the hub is connected. */
    static void show(DatabaseSession session, long shown) throws SQLException {
        session.number(SHOW, shown);
    }

    /** Excludes hubs that do not share the database or, if this one does not, all. */
    private void lock(Connection connection) throws SQLException {
        long end = System.nanoTime() + LOCK_PATIENCE.toNanos();
        String attempt = "SELECT CAST(pg_try_advisory_lock" + (registration.isShared() ? "_shared" : "") + "(" + LOCK
                + ", hashtext(current_schema())) AS INTEGER)";
        // An earlier connection of this hub, of which the server does not know yet that it is broken. Hubs that share
        // the database do not exclude it by their lock, and numbers of processes are used again.
        String earlier = registration.isShared()
                ? " FROM pg_stat_activity WHERE application_name = " + APPLICATION.formatted("'" + hub + "'")
                        + " AND pid = " + backend
                : HELD + " AND pid = " + backend;
        try (Statement statement = connection.createStatement()) {
            for (int attempts = 1;
                    registration.isShared() && number(statement, "SELECT count(*)" + earlier) > 0
                            || number(statement, attempt) == 0;
                    attempts++) {
                number(statement, "SELECT count(pg_terminate_backend(pid))" + earlier);
                if (System.nanoTime() - end > 0) {
                    if (stream != null) {
                        stream.require(statement);
                    }
                    throw new SQLException(
                            "the database is in use by another hub" + others(statement)
                                    + " (expected: one hub per database, or hubs that all have --cluster)",
                            IN_USE);
                }
                LockSupport.parkNanos(LOCKS.bound(attempts).toNanos());
                if (Thread.currentThread().isInterrupted()) {
                    throw new SQLException("interrupted while an earlier connection of the hub ends");
                }
            }
            backend = number(statement, "SELECT pg_backend_pid()");
            if (registration.isShared() && hub != 0) {
                number(statement, NAME.replace("?", Long.toString(hub)));
                number(statement, SHOW.replace("?", Long.toString(hub)));
            }
            if (stream != null) {
                name(statement, stream);
            }
        }
    }

    /** Names the hub that has the database. */
    private static String others(Statement statement) {
        try (ResultSet row =
                statement.executeQuery("SELECT name, hub_no, round(extract(epoch FROM clock_timestamp() - beat_at))"
                        + " FROM hub WHERE ended_at IS NULL ORDER BY hub_no DESC LIMIT 1")) {
            return row.next()
                    ? ", " + DatabaseSession.text(row, 1) + " (number " + row.getLong(2) + ", last seen "
                            + row.getLong(3) + " s ago)"
                    : "";
        } catch (SQLException none) {
            return ""; // it makes the tables at the moment
        }
    }

    /** Looks whether a hub has a database open. */
    static boolean isInUse(DataSource source) throws IOException {
        DataSource server = source instanceof PostgresqlUrl url ? url.direct() : source;
        try (Connection connection = server.getConnection()) {
            SessionSettings.set(connection, false);
            try (Statement statement = connection.createStatement()) {
                return number(statement, "SELECT count(*)" + HELD) > 0;
            }
        } catch (SQLException failure) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    @Override
    public String toString() {
        return source instanceof PostgresqlUrl url ? url.toString() : "PostgreSQL";
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Has rows of other modules carry the number of the stream. */
    private static void name(Statement statement, PostgresqlStream stream) throws SQLException {
        statement.execute("SET parley.stream = " + stream.number());
    }

    /** Ends the server's session too, even if a pool would keep it, and so frees the lock. */
    @Override
    public void close(Connection connection) throws SQLException {
        try {
            connection.abort(Runnable::run);
        } finally {
            connection.close();
        }
    }

    @Override
    public boolean mayHang() {
        return true;
    }

    /**
     * The driver connects to the server once more for that. The statement may end before: its connection is not used again, so that none
     * but this one is ended.
     */
    @Override
    public void cancel(PreparedStatement statement) {
        Thread.startVirtualThread(() -> {
            try {
                statement.cancel();
            } catch (SQLException failure) {
                LOG.log(Level.DEBUG, "a statement could not be interrupted", failure);
            }
        });
    }

    @Override
    public String text(String sql) {
        return NumberedParameters.text(sql);
    }

    @Override
    public @Nullable Object[] values(String sql, @Nullable Object[] values) {
        return NumberedParameters.ordered(sql, values);
    }

    // ---- Start

    @Override
    public void beginSnapshot(DatabaseSession session) throws SQLException {
        if (isPooled) {
            session.once("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
        }
    }

    /** Connections to the server itself. */
    DataSource server() {
        return writable;
    }

    /** Connections that write have the number of the hub from now on. */
    void registered(long number) {
        hub = number;
    }

    /** Transactions are those of a stream from now on. */
    void begun(PostgresqlStream begun) {
        stream = begun;
    }

    // ---- Transactions

    /** The number of the hub; 0 before it is registered. */
    long hub() {
        return hub;
    }

    /** Whether other hubs may work with the database at the same time. */
    public boolean isAtOnce() {
        return registration.isAtOnce();
    }

    /** The number of the stream. */
    public long stream() {
        return open().number();
    }

    private PostgresqlStream open() {
        return requireNonNull(stream, "nothing is written before the start of a stream");
    }

    @Override
    public void begin(DatabaseSession session) throws SQLException {
        open().begin(session, batch);
    }

    /** The statements of the transaction that are kept back. */
    public PostgresqlBatch batch() {
        return batch;
    }

    /** Has the transaction in the making end the chain of the audit so. */
    public void auditEnd(DatabaseSession session, long number, String hash) throws SQLException {
        open().auditEnd(session, number, hash);
    }

    @Override
    public void committed() {
        open().committed();
    }

    @Override
    public void uncertain() {
        open().uncertain();
    }

    @Override
    public void reopened(DatabaseSession session) throws SQLException {
        open().reopened(session);
    }

    @Override
    public boolean hasLanded() {
        return open().hasLanded();
    }

    @Override
    public boolean isBroken(SQLException failure) {
        String state = String.valueOf(failure.getSQLState());
        return state.startsWith("08") || state.startsWith("57P");
    }

    @Override
    public Duration patience() {
        return patience;
    }

    @Override
    public Duration readPatience() {
        return SHORTEST_READ.compareTo(patience) > 0
                ? SHORTEST_READ
                : patience.compareTo(READ_PATIENCE) < 0 ? patience : READ_PATIENCE;
    }

    @Override
    public void unlimited(DatabaseSession session, SqlRun changes) throws SQLException {
        Connection connection = session.connection();
        int before = connection.getNetworkTimeout();
        session.once("SET LOCAL statement_timeout = 0");
        connection.setNetworkTimeout(Runnable::run, 0);
        try {
            changes.run();
            session.once("SET LOCAL statement_timeout = " + before / 6 * 5);
        } finally {
            if (!connection.isClosed()) {
                connection.setNetworkTimeout(Runnable::run, before);
            }
        }
    }

    @Override
    public boolean isMadeByAnother(DatabaseSession session, String module, int version) throws SQLException {
        if (!registration.isAtOnce()) {
            return false;
        }
        excludeStarts(session);
        return Migrations.version(session, module) >= version;
    }

    /** Has other hubs neither start nor make tables until the end of the transaction. */
    void excludeStarts(DatabaseSession session) throws SQLException {
        unlimited(session, () -> session.number(START_ALONE));
        session.once(LONGEST_IDLE);
    }

    @Override
    public boolean isShared() {
        return registration.isShared();
    }

    /** Others wait behind a lock for which this waits, so that it gives up early. */
    @Override
    public boolean changes(DatabaseSession session, SqlRun changes) throws SQLException {
        if (!registration.isAtOnce()) {
            unlimited(session, changes);
            return true;
        }
        session.once("SAVEPOINT tables");
        try {
            session.once(BRIEFLY);
            unlimited(session, changes);
            session.once("SET LOCAL lock_timeout = DEFAULT");
            return true;
        } catch (SQLException locked) {
            if (!IN_USE.equals(locked.getSQLState())) {
                throw locked;
            }
            session.once("ROLLBACK TO SAVEPOINT tables");
            return false;
        }
    }

    Release release() {
        return release;
    }

    // ---- SQL

    @Override
    public DatabaseKind kind() {
        return DatabaseKind.POSTGRESQL;
    }

    @Override
    public String spelled(String sql) {
        return sql.replace(" KEY PRIMARY KEY", " BIGINT PRIMARY KEY")
                .replace(") ROWLESS", ")")
                .replace(" BLOB", " BYTEA");
    }

    @Override
    public String jsonTexts() {
        return "json_array_elements_text(CAST(? AS JSON)) AS texts (value)";
    }

    @Override
    public long schema(DatabaseSession session) throws SQLException {
        return Migrations.version(session, Release.TASKS);
    }

    @Override
    public int currentSchema() {
        return release.tasks().scripts().size();
    }

    @Override
    public TaskTables taskTables(DatabaseSession session) throws SQLException {
        long version = schema(session);
        boolean isUsable = version >= currentSchema()
                && Migrations.readable(session, Release.TASKS) <= currentSchema()
                && Migrations.level(session) <= release.level();
        return new TaskTables(version, currentSchema(), isUsable);
    }

    @Override
    public void lockTimeout(DatabaseSession session, int millis) {
        // only one hub writes
    }
}
