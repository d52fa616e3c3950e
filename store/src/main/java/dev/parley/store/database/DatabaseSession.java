package dev.parley.store.database;

import dev.parley.store.connection.Connector.Opening;
import dev.parley.store.connection.HangWatch;
import dev.parley.store.shared.Epochs;
import dev.parley.store.sql.StoredText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A connection and its prepared statements, for one thread at a time. After a failure both are {@linkplain #discard
 * discarded}, and the next use opens a new connection: SQLite may have ended the transaction by itself, and its driver
 * never runs a statement again that failed.
 */
public final class DatabaseSession implements Epochs.Numbers {
    private static final Logger LOG = System.getLogger("dev.parley.store");

    /** Limit of prepared statements of a connection; filters of callers have an unlimited number of forms. */
    private static final int MAX_STATEMENTS = 500;

    private final Opening opening;
    private final LinkedHashMap<String, PreparedStatement> statements = new LinkedHashMap<>(64, 0.75f, true);
    private volatile @Nullable Connection connection;

    private long generation;
    private volatile @Nullable PreparedStatement latest;
    volatile @Nullable Timeout timeout;
    /** Since when a caller reads by this session, as of {@link System#nanoTime}; null if none does, and for the writer. */
    @Nullable
    Long readingSince;

    /** Bound statements and the KiB of their values: a cost of a work that does not depend on the load of the machine. */
    long weight;

    @Nullable
    Deferred deferred;

    DatabaseSession(Opening opening) {
        this.opening = opening;
    }

    Connection connection() throws SQLException {
        Connection opened = connection;
        if (opened == null) {
            requireTime();
            generation = opening.connector().generation();
            Timeout limit = timeout;
            opened = limit != null && opening.connector().mayHang() ? opening.openWithin(limit.left()) : opening.open();
            connection = opened;
            requireTime(); // a limit that ended before this line has not seen the connection
        }
        return opened;
    }

    /** Opens a connection within a time, if there is none. */
    void open(Duration limit) throws SQLException {
        if (connection == null) {
            generation = opening.connector().generation();
            connection = opening.openWithin(limit.toNanos());
        }
    }

    private void requireTime() throws SQLException {
        Timeout limit = timeout;
        if (limit != null && limit.left() <= 0) {
            throw new SQLException("the time limit of the query is over", "57014"); // the state of a canceled statement
        }
    }

    boolean isConnected() {
        return connection != null;
    }

    /** True if a connection was opened for writing after this one. */
    boolean isOutdated() {
        return connection != null && generation != opening.connector().generation();
    }

    /**
     * True if this session may see the database as it was at a time, and not as it is now.
     *
     * @param nanoTime as of {@link System#nanoTime}
     */
    public boolean beganBefore(long nanoTime) {
        Long since = readingSince;
        return since != null && since - nanoTime <= 0;
    }

    /** Returns the statement for {@code sql}, prepared once, with its parameters bound to {@code values}. */
    public PreparedStatement bind(String sql, @Nullable Object... parameters) throws SQLException {
        flush();
        PreparedStatement statement = statements.get(sql);
        if (statement == null) {
            statement = connection().prepareStatement(opening.connector().text(sql));
            statements.put(sql, statement);
            if (statements.size() > MAX_STATEMENTS) {
                statements.pollFirstEntry().getValue().close();
            }
        }
        latest = statement;
        weight++;
        requireTime();
        @Nullable Object[] values = opening.connector().values(sql, parameters);
        for (int i = 0; i < values.length; i++) {
            weight += set(statement, i + 1, values[i]);
        }
        return statement;
    }

    /** Binds a value to a parameter, and returns its KiB. */
    static int set(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
        switch (value) {
            case String text -> {
                statement.setString(index, StoredText.encode(text));
                return text.length() >> 10;
            }
            case Long number -> statement.setLong(index, number);
            case Integer number -> statement.setInt(index, number);
            case Double number -> statement.setDouble(index, number);
            case Instant time -> statement.setLong(index, time.toEpochMilli());
            case byte[] bytes -> {
                statement.setBytes(index, bytes);
                return bytes.length >> 10;
            }
            case null, default -> statement.setObject(index, value);
        }
        return 0;
    }

    /** Runs {@code sql} with its parameters bound to {@code values}, and returns how many rows it changed. */
    public int update(String sql, @Nullable Object... values) throws SQLException {
        return bind(sql, values).executeUpdate();
    }

    /** Runs {@code sql} once for each list of values, in one round trip to a server. */
    public void updateAll(String sql, List<@Nullable Object[]> values) throws SQLException {
        if (values.isEmpty()) {
            return;
        }
        PreparedStatement statement = bind(sql, values.getFirst());
        statement.addBatch();
        for (@Nullable Object[] next : values.subList(1, values.size())) {
            bind(sql, next).addBatch();
        }
        statement.executeBatch();
    }

    /** Has rows written before the next statement, or before the commit. */
    public void defer(Deferred rows, int bytes) {
        deferred = rows;
        weight += 1 + (bytes >> 10);
    }

    /** Runs a statement at once, or with the rows that are kept back. Its count of changed rows is not returned. */
    public void later(String sql, @Nullable Object... values) throws SQLException {
        Deferred kept = deferred;
        if (kept == null) {
            update(sql, values);
        } else {
            kept.later(this, sql, values);
        }
    }

    /** Writes the rows that were kept back. */
    void flush() throws SQLException {
        Deferred rows = deferred;
        if (rows != null) {
            deferred = null;
            rows.flush(this);
        }
    }

    void commit() throws SQLException {
        flush();
        connection().commit();
    }

    /** Runs SQL that is not worth keeping. */
    public void once(String sql) throws SQLException {
        flush();
        try (Statement statement = connection().createStatement()) {
            statement.execute(sql);
        }
    }

    /** Closes the connection with all of its statements. The next use opens a new one. */
    void discard() {
        Connection failed = connection;
        connection = null;
        latest = null;
        deferred = null;
        statements.clear();
        if (failed != null) {
            try {
                opening.close(failed);
            } catch (SQLException | RuntimeException failure) {
                LOG.log(Level.DEBUG, "closing a connection that failed", failure);
            }
        }
    }

    /** Returns the text in a column, which may be null. {@link ResultSet#getString} would return it as the tables hold it. */
    @SuppressWarnings("NullAway") // as of getString: null only if the column may be
    public static String text(ResultSet row, int column) throws SQLException {
        String stored = row.getString(column);
        return stored == null ? null : StoredText.decode(stored);
    }

    /** Reads one row of an answer. */
    @FunctionalInterface
    public interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    /** Returns all rows of the answer to a query, in its order. */
    public <T> List<T> list(RowReader<T> reader, String sql, @Nullable Object... values) throws SQLException {
        var rows = new ArrayList<T>();
        try (ResultSet row = bind(sql, values).executeQuery()) {
            while (row.next()) {
                rows.add(reader.read(row));
            }
        }
        return rows;
    }

    /** Returns the first row of the answer to a query; empty if there is none, or its reader returns null. */
    public <T> Optional<T> first(RowReader<T> reader, String sql, @Nullable Object... values) throws SQLException {
        try (ResultSet row = bind(sql, values).executeQuery()) {
            return row.next() ? Optional.ofNullable(reader.read(row)) : Optional.empty();
        }
    }

    /** Reads a time, kept in milliseconds; null if the column is. */
    public static @Nullable Instant time(ResultSet row, int column) throws SQLException {
        long millis = row.getLong(column);
        return row.wasNull() ? null : Instant.ofEpochMilli(millis);
    }

    @Override
    public long number(String sql, @Nullable Object... values) throws SQLException {
        try (ResultSet row = bind(sql, values).executeQuery()) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    /** Rows that are kept back, so that one statement writes many. */
    interface Deferred {
        /** Keeps a statement back, too. */
        void later(DatabaseSession session, String sql, @Nullable Object... values);

        void flush(DatabaseSession session) throws SQLException;
    }

    /**
     * Time limit of one use of a session: of the opening of its connection and of all statements. Once the use has ended it interrupts
     * nothing: the next user's statement may be running by then.
     */
    static final class Timeout {
        /** Time for a statement that was canceled to end, before its connection is ended. */
        private static final long GRACE_SECONDS = 1;

        private final DatabaseSession session;
        private final long end; // of System.nanoTime()
        private final boolean isHard;
        private boolean ended;

        /** @param isHard whether the connection is ended at once, which needs no answer of a server */
        Timeout(DatabaseSession session, long end, boolean isHard) {
            this.session = session;
            this.end = end;
            this.isHard = isHard;
        }

        /** Nanoseconds until the end. */
        long left() {
            return end - System.nanoTime();
        }

        /** Ends the statement that runs, which then fails, and so do all further ones. */
        void expire() {
            if (isHard) {
                endConnection();
                return;
            }
            synchronized (this) {
                PreparedStatement running = session.latest;
                if (ended) {
                    return;
                }
                if (running != null) {
                    cancel(running);
                }
            }
            if (session.opening.connector().mayHang()) {
                ScheduledFuture<?> unused =
                        HangWatch.TIMER.schedule(this::endConnection, GRACE_SECONDS, TimeUnit.SECONDS);
            }
        }

        private void cancel(PreparedStatement running) {
            try {
                session.opening.connector().cancel(running);
            } catch (SQLException failure) {
                LOG.log(Level.WARNING, "a statement could not be interrupted", failure);
            }
        }

        /** Another use may end, too, that begins at this moment by the same connection: it is repeated by a new one. */
        private void endConnection() {
            Connection used;
            synchronized (this) {
                used = ended ? null : session.connection;
            }
            if (used != null) {
                try {
                    used.abort(Runnable::run);
                } catch (SQLException failure) {
                    LOG.log(Level.WARNING, "a connection could not be ended", failure);
                }
            }
        }

        /** Returns whether the time was over before the use ended. By the thread of the use. */
        synchronized boolean end() {
            ended = true;
            return left() <= 0;
        }
    }
}
