package dev.parley.store;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * JDBC connections whose calls fail as those of a database do when its disk fails. Calls that reach the disk are numbered:
 * the opening of a connection, each execution of a statement, each step to a next row, each commit.
 *
 * <pre>{@code
 * var faults = new Faults();
 * Database database = Database.open(directory, faults::wrap);
 * faults.from(3, Faults.Fault.FULL, Faults.Side.WRITES);
 * // the third call of the connection that writes fails, and so do all further ones, until
 * faults.pass();
 * }</pre>
 *
 * <p>Safe for any thread.
 */
public final class Faults {
    /** Errors of a database. */
    public enum Fault {
        /** The disk is full. SQLite has undone the transaction by itself, and the statement is dead. */
        FULL(13, "[SQLITE_FULL] Insertion failed because database is full (database or disk is full)", true, true),
        /** The disk fails. SQLite has undone the transaction by itself, and the statement is dead. */
        IO(10, "[SQLITE_IOERR] Some kind of disk I/O error occurred (disk I/O error)", true, true),
        /** A page is damaged. The statement is dead. */
        CORRUPT(11, "[SQLITE_CORRUPT] The database disk image is malformed", false, true),
        /** Another process holds the lock. */
        BUSY(5, "[SQLITE_BUSY] The database file is locked (database is locked)", false, false),
        /** The statement was interrupted. SQLite has undone the transaction by itself, and the statement is dead. */
        INTERRUPT(9, "[SQLITE_INTERRUPT] Operation terminated by sqlite3_interrupt() (interrupted)", true, true),
        /** The disk does not answer until the fault {@linkplain Faults#pass passes}; then the call succeeds. */
        HANG(0, "", false, false),
        /** The connection to PostgreSQL breaks. */
        CUT("08006", "An I/O error occurred while sending to the backend.", true),
        /** The disk of PostgreSQL is full. */
        NO_SPACE("53100", "ERROR: could not extend file: No space left on device", false);

        /** Those of SQLite, but for {@link #HANG}. */
        public static final List<Fault> ERRORS = List.of(FULL, IO, CORRUPT, BUSY, INTERRUPT);

        private final int code;
        private final String message;
        private final boolean undoes;
        private final boolean kills;
        private final @Nullable String state;
        private final boolean cuts;

        Fault(int code, String message, boolean undoes, boolean kills) {
            this(code, message, undoes, kills, null, false);
        }

        Fault(String state, String message, boolean cuts) {
            this(0, message, false, false, state, cuts);
        }

        Fault(int code, String message, boolean undoes, boolean kills, @Nullable String state, boolean cuts) {
            this.code = code;
            this.message = message;
            this.undoes = undoes;
            this.kills = kills;
            this.state = state;
            this.cuts = cuts;
        }
    }

    /** Connections that a fault concerns. */
    public enum Side {
        READS,
        WRITES,
        ALL
    }

    private record Plan(
            Fault fault, Side side, Set<String> calls, long first, long last, boolean after, CountDownLatch over) {
        Plan(Fault fault, Side side, long first, long last, boolean after) {
            this(fault, side, CALLS, first, last, after, new CountDownLatch(1));
        }
    }

    private static final Set<Class<?>> WRAPPED = Set.of(Statement.class, PreparedStatement.class, ResultSet.class);

    private static final Set<String> CALLS = Set.of(
            "commit",
            "connect",
            "execute",
            "executeBatch",
            "executeLargeUpdate",
            "executeQuery",
            "executeUpdate",
            "next",
            "prepareStatement");

    private volatile @Nullable Plan plan;
    private long calls;
    private long hits;

    /** Has the {@code call}-th call from now on fail, before it has had an effect. */
    public synchronized void at(long call, Fault fault, Side side) {
        begin(new Plan(fault, side, call, call, false));
    }

    /** Has the {@code call}-th call from now on fail although it has had its effect. */
    public synchronized void after(long call, Fault fault, Side side) {
        begin(new Plan(fault, side, call, call, true));
    }

    /** Has all calls from the {@code call}-th on fail, until the fault {@linkplain #pass passes}. */
    public synchronized void from(long call, Fault fault, Side side) {
        begin(new Plan(fault, side, call, Long.MAX_VALUE, false));
    }

    /**
     * Has all commits fail, until the fault {@linkplain #pass passes}.
     *
     * @param durable whether they have had their effect: the database has a change that its caller takes for refused
     */
    public synchronized void commits(Fault fault, boolean durable) {
        begin(new Plan(fault, Side.WRITES, Set.of("commit"), 1, Long.MAX_VALUE, durable, new CountDownLatch(1)));
    }

    private void begin(Plan next) {
        pass();
        plan = next;
        calls = 0;
        hits = 0;
    }

    /** Ends the fault. */
    public synchronized void pass() {
        Plan past = plan;
        if (past != null) {
            past.over.countDown();
        }
        plan = null;
    }

    /** Returns how many calls have failed since the fault was planned. */
    public synchronized long hits() {
        return hits;
    }

    /** Returns a connection whose calls fail as planned, and those of its statements. */
    public Connection wrap(Connection connection) throws SQLException {
        Call opening = count(connection, "connect");
        if (opening != null && opening.fails(false)) {
            connection.close();
            strike(opening.plan, null, connection);
        }
        return proxy(Connection.class, connection, connection);
    }

    /** A call of a connection, and the plan that it is under. */
    private record Call(Plan plan, long number) {
        boolean fails(boolean afterwards) {
            return plan.first <= number && number <= plan.last && plan.after == afterwards;
        }
    }

    @SuppressWarnings("ReferenceEquality") // another plan that says the same begins its own count
    private @Nullable Call count(Connection connection, String method) throws SQLException {
        Plan active = plan;
        if (active == null || !active.calls.contains(method)) {
            return null;
        }
        boolean reads = connection.isReadOnly();
        synchronized (this) {
            Plan now = plan;
            return now == active && (now.side == Side.ALL || now.side == (reads ? Side.READS : Side.WRITES))
                    ? new Call(now, ++calls)
                    : null;
        }
    }

    private <T> T proxy(Class<T> type, Object target, Connection connection) {
        return type.cast(Proxy.newProxyInstance(
                Faults.class.getClassLoader(),
                new Class<?>[] {type},
                (self, method, arguments) -> call(target, connection, method, arguments)));
    }

    private @Nullable Object call(
            Object target, Connection connection, Method method, @Nullable Object @Nullable [] arguments)
            throws Throwable {
        Call call = count(connection, method.getName());
        if (call != null && call.fails(false)) {
            strike(call.plan, target, connection);
        }
        Object result;
        try {
            result = method.invoke(target, arguments);
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
        if (call != null && call.fails(true)) {
            strike(call.plan, target, connection);
        }
        // By what is promised: the driver's objects are several things at once.
        Class<?> type = method.getReturnType();
        return result != null && WRAPPED.contains(type) ? proxy(type, result, connection) : result;
    }

    /** Fails, and leaves the connection as the driver leaves it. */
    private void strike(Plan now, @Nullable Object target, Connection connection) throws SQLException {
        synchronized (this) {
            hits++;
        }
        if (now.fault == Fault.HANG) {
            try {
                now.over.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            return;
        }
        if (target != null && now.fault.undoes && !connection.getAutoCommit()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("ROLLBACK"); // of which the driver knows nothing
            } catch (SQLException none) {
                // there was no transaction
            }
        }
        if (target instanceof Statement statement && now.fault.kills) {
            statement.close();
        }
        if (now.fault.cuts) {
            connection.abort(Runnable::run);
        }
        throw new SQLException(now.fault.message, now.fault.state, now.fault.code);
    }
}
