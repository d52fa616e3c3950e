package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.StoreException;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server of which a new connection takes longer than works wait. */
@Timeout(60)
final class SlowConnectionTest {
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private final AtomicLong delayMillis = new AtomicLong();
    private final AtomicInteger interruptions = new AtomicInteger();

    private Database opened() throws IOException {
        Database database = Database.open(
                PostgresqlServer.schema(),
                connection -> {
                    delay();
                    return connection;
                },
                PATIENCE);
        database.migrate("notes", List.of("CREATE TABLE note (n BIGINT)"));
        return database;
    }

    private void delay() throws SQLException {
        try {
            assertThat(new CountDownLatch(1).await(delayMillis.get(), TimeUnit.MILLISECONDS))
                    .isFalse();
        } catch (InterruptedException interruption) {
            interruptions.incrementAndGet();
            throw new SQLException("interrupted", "08006", interruption);
        }
    }

    private static boolean isWritten(Database database) {
        try {
            return database.write(session -> session.update("INSERT INTO note (n) VALUES (2)")) == 1;
        } catch (OutageException refused) {
            return false;
        }
    }

    @Test
    void theWriterComesBackAlthoughEachConnectionTakesLongerThanWorksWait() throws IOException {
        try (Database database = opened()) {
            delayMillis.set(1_500);
            assertThatThrownBy(() ->
                            database.write(session -> session.update("SELECT pg_terminate_backend(pg_backend_pid())")))
                    .isInstanceOf(StoreException.class);

            Eventually.holds("a write", () -> isWritten(database));
            assertThat(interruptions)
                    .as("the works that waited were refused in time")
                    .hasPositiveValue();
        }
    }
}
