package dev.parley.store.connection;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Opens connections, and closes those that failed. */
public interface Connector {
    /** Purpose of a connection. */
    enum Use {
        READ,
        WRITE,
        /** Renews the lease of a hub, by statements in transactions of their own. */
        RENEW,
        /** Writes, and is in no transaction unless a statement needs one. */
        MAINTAIN
    }

    Connection connect(Use use) throws SQLException;

    default void close(Connection connection) throws SQLException {
        connection.close();
    }

    /** A number that grows when a connection is opened for writing: those for reading that are older may be to another server. */
    default long generation() {
        return 0;
    }

    /** True if a statement that was {@linkplain #cancel canceled} may go on, because the network is silent. */
    default boolean mayHang() {
        return false;
    }

    /** Ends a statement that runs on another thread. Does not block. */
    default void cancel(PreparedStatement statement) throws SQLException {
        statement.cancel();
    }

    /** Returns a statement as the driver takes it. */
    default String text(String sql) {
        return sql;
    }

    /** Returns the parameters of a statement in the order in which the driver takes them. */
    default @Nullable Object[] values(String sql, @Nullable Object[] values) {
        return values;
    }

    /** A connector for one purpose. */
    record Opening(Connector connector, Use use) {
        public Connection open() throws SQLException {
            return connector.connect(use);
        }

        /** Opens a connection on a thread of its own, which an interrupt ends in all that it waits for; fails if that takes longer. */
        public Connection openWithin(long nanos) throws SQLException {
            var opened = new CompletableFuture<Connection>().orTimeout(nanos, TimeUnit.NANOSECONDS);
            Thread opener = Thread.startVirtualThread(() -> {
                try {
                    Connection connection = open();
                    if (!opened.complete(connection)) {
                        close(connection);
                    }
                } catch (SQLException | RuntimeException | Error failure) {
                    opened.completeExceptionally(failure);
                }
            });
            try {
                return opened.get();
            } catch (ExecutionException failure) {
                throw failure.getCause() instanceof SQLException cause ? cause : new SQLException(failure.getCause());
            } catch (InterruptedException stopped) {
                opened.completeExceptionally(stopped);
                Thread.currentThread().interrupt();
                throw new SQLException("interrupted while a connection was opened", stopped);
            } finally {
                opener.interrupt();
            }
        }

        public void close(Connection connection) throws SQLException {
            connector.close(connection);
        }
    }
}
