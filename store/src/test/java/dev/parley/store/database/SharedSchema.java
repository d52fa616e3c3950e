package dev.parley.store.database;

import dev.parley.engine.spi.Once;
import dev.parley.store.Store;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.Registration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A schema of PostgreSQL that several stores have open, each with a stream of its own: none takes the others' place when it starts. */
public final class SharedSchema {
    /** Statements of a start that end other hubs. */
    private static final List<String> ENDING =
            List.of("INSERT INTO stream_end", "DELETE FROM stream", "UPDATE hub SET ended_at", "UPDATE task SET owner");

    /** Methods whose results are wrapped, too. */
    private static final Set<String> WRAPPED = Set.of("getConnection", "createStatement");

    private final DataSource schema;

    public SharedSchema() {
        try {
            this.schema = PostgresqlServer.schema();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Opens it once more. */
    public Store store(InstantSource clock, Once once) {
        return store(clock, once, sql -> {});
    }

    /** @param before is told each statement before it is prepared, which is once for each connection */
    public Store store(InstantSource clock, Once once, Consumer<String> before) {
        Database database = Database.open(schema, connection -> peaceful(connection, before));
        Store store = Store.in(database, clock, EncryptionAtRest.PLAIN, once);
        // Each stream has a chain of its own, which begin alike.
        run("ALTER TABLE audit_part DROP CONSTRAINT IF EXISTS audit_part_pkey");
        return store;
    }

    /** Opens it for a hub that shares it, and works with it at the same time as others. */
    public Database shared() {
        return shared(sql -> {});
    }

    /** @param before is told each statement of the readers and the writer before it is prepared; what it throws is a failure of that */
    public Database shared(Consumer<String> before) {
        DataSource eager = proxy(
                DataSource.class,
                schema,
                UnaryOperator.identity(),
                sql -> {},
                connection ->
                        proxy(Connection.class, (Connection) connection, SharedSchema::eager, sql -> {}, any -> any));
        return Database.open(
                eager,
                connection -> peaceful(connection, before),
                new Registration("1", () -> List.of("echo"), true, 0, name -> {}));
    }

    /** A statement of a hub that waits for no other one. */
    private static String eager(String sql) {
        return sql.contains("FROM stream JOIN hub") ? sql.replace("hub_no <> ?", "hub_no <> ? AND false") : sql;
    }

    /** Opens a connection, as operators have one. */
    public Connection connect() throws SQLException {
        return schema.getConnection();
    }

    /** Runs a statement as another hub does. */
    public void run(String sql) {
        try (Connection connection = schema.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Cuts the connections whose latest statement begins so. */
    public void cut(String statement) {
        run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '" + statement + "%'");
    }

    /** Does what another hub does when it takes the place of a store that has ended without a word. */
    public void end(Store ended) {
        long stream = ((PostgresqlSystem) ended.database().system()).stream();
        run("DELETE FROM stream WHERE stream_no = " + stream);
    }

    /** A connection by which no hub is ended, and none keeps the database for itself. */
    private static Connection peaceful(Connection connection, Consumer<String> before) {
        return proxy(
                Connection.class,
                connection,
                SharedSchema::peaceful,
                before,
                statement ->
                        proxy(Statement.class, (Statement) statement, SharedSchema::peaceful, sql -> {}, any -> any));
    }

    /** @param results wraps a connection or a plain statement that a method returns */
    private static <T> T proxy(
            Class<T> type,
            T target,
            UnaryOperator<String> rewriting,
            Consumer<String> before,
            UnaryOperator<Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    @Nullable Object[] changed = arguments == null ? null : arguments.clone();
                    if (changed != null && changed.length > 0 && changed[0] instanceof String sql) {
                        before.accept(sql);
                        changed[0] = rewriting.apply(sql);
                    }
                    try {
                        Object result = method.invoke(target, changed);
                        return WRAPPED.contains(method.getName()) ? results.apply(result) : result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }

    private static String peaceful(String sql) {
        if (sql.contains("pg_try_advisory_lock")) {
            return "SELECT 1";
        }
        boolean ends =
                ENDING.stream().anyMatch(sql::startsWith) && !sql.contains("stream_no = ?") && !sql.contains(";");
        return ends ? sql + (sql.contains(" WHERE ") ? " AND false" : " WHERE false") : sql;
    }
}
