package dev.parley.store.database;

import dev.parley.store.Store;
import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** A schema of PostgreSQL that several stores have open, each for a hub that works at the same time as others. */
public final class SharedSchema {
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

    /** An empty schema whose clock shows a time at first. */
    public SharedSchema(Instant now) {
        String url;
        try {
            url = PostgresqlServer.url();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        this.schema = new PostgresqlUrl(url + ",pg_catalog"); // otherwise the functions of the server would come first
        run("CREATE FUNCTION clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql AS 'SELECT TIMESTAMPTZ ''" + now
                + "'' + (pg_catalog.clock_timestamp() - TIMESTAMPTZ ''" + Instant.now() + "'')'");
    }

    /** Opens it once more. */
    public Store store(InstantSource clock) {
        return store(clock, sql -> {});
    }

    /** @param before is told each statement before it is prepared, which is once for each connection */
    public Store store(InstantSource clock, Consumer<String> before) {
        return Store.in(shared(before), clock, EncryptionAtRest.PLAIN);
    }

    /** Opens it for a hub that has it alone. */
    public Store lone(InstantSource clock) {
        return Store.in(Database.open(schema), clock, EncryptionAtRest.PLAIN);
    }

    /** Opens it for a hub that works with it at the same time as others. */
    public Database shared() {
        return shared(sql -> {});
    }

    /** @param before is told each statement of the readers and the writer before it is prepared; what it throws is a failure of that */
    public Database shared(Consumer<String> before) {
        return shared(before, () -> List.of("echo"));
    }

    /** @param agents names of the agents that the hub hosts by now */
    public Database shared(Consumer<String> before, Supplier<List<String>> agents) {
        return Database.open(
                schema,
                connection -> told(connection, before),
                new Registration("1", agents, Sharing.AT_ONCE, 0, name -> {}));
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
        run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ltrim(query) LIKE '" + statement + "%'");
    }

    /** Does what another hub does when it takes the place of a store that has ended without a word. */
    public void end(Store ended) {
        long stream = ((PostgresqlSystem) ended.database().system()).stream();
        run("DELETE FROM stream WHERE stream_no = " + stream);
    }

    /** A connection whose statements are told. */
    private static Connection told(Connection connection, Consumer<String> before) {
        return proxy(
                Connection.class,
                connection,
                before,
                statement -> proxy(Statement.class, (Statement) statement, sql -> {}, any -> any));
    }

    /** @param results wraps a connection or a plain statement that a method returns */
    private static <T> T proxy(Class<T> type, T target, Consumer<String> before, UnaryOperator<Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    if (arguments != null && arguments.length > 0 && arguments[0] instanceof String sql) {
                        before.accept(sql);
                    }
                    try {
                        Object result = method.invoke(target, arguments);
                        return WRAPPED.contains(method.getName()) ? results.apply(result) : result;
                    } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                    }
                }));
    }
}
