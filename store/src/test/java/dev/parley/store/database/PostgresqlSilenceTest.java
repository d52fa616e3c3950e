package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.spi.OutageException;
import dev.parley.store.spi.ReadTimeoutException;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that does not answer, on connections that nobody closes, holds no thread for ever. */
@Timeout(120)
@Tag("heavy") // waits for time limits of connections
final class PostgresqlSilenceTest {
    private SilentProxy proxy;
    private Database database;

    @BeforeEach
    void open() throws IOException, SQLException {
        proxy = new SilentProxy(PostgresqlServer.port());
        database = Database.open(
                new PostgresqlUrl("postgresql://postgres@127.0.0.1:" + proxy.port()
                        + "/postgres?socketTimeout=2&currentSchema=" + PostgresqlServer.emptySchema()),
                connection -> connection,
                Duration.ofSeconds(60));
        database.migrate("notes", List.of("CREATE TABLE note (n BIGINT)"));
    }

    @AfterEach
    void close() throws IOException {
        proxy.close();
        database.close();
    }

    private long notes() {
        return database.read(session -> session.number("SELECT count(*) FROM note"));
    }

    @Test
    void theServerHasTheVersionThatTheBuildNames() {
        long version = database.read(
                session -> session.number("SELECT CAST(current_setting('server_version_num') AS INTEGER)"));

        assertThat(System.getProperty("postgres.version", version / 10_000 + "."))
                .startsWith(version / 10_000 + ".");
    }

    @Test
    void noSessionCompilesStatements() {
        String sql = "SELECT count(*) FROM pg_settings WHERE name = 'jit' AND setting = 'off'";

        assertThat(database.<Long>read(session -> session.number(sql))).isEqualTo(1);
        assertThat(database.<Long>write(session -> session.number(sql))).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aCommitWithoutAnAnswerIsMadeOnceAndNotRefused(boolean reachesTheServer) {
        var attempts = new AtomicInteger();

        int written = database.write(session -> {
            int rows = session.update("INSERT INTO note (n) VALUES (1)");
            if (attempts.incrementAndGet() == 1) {
                proxy.silence(reachesTheServer);
            }
            return rows;
        });

        assertThat(written).isEqualTo(1);
        assertThat(attempts).hasValue(reachesTheServer ? 1 : 2);
        assertThat(notes()).isEqualTo(1);
        assertThat(database.outage()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aStatementWithoutAnAnswerIsWrittenOnce(boolean reachesTheServer) {
        var attempts = new AtomicInteger();

        int written = database.write(session -> {
            if (attempts.incrementAndGet() == 1) {
                proxy.silence(reachesTheServer);
            }
            return session.update("INSERT INTO note (n) VALUES (1)");
        });

        assertThat(written).isEqualTo(1);
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void aReadWithoutAnAnswerIsRepeatedOnceByANewConnection() {
        assertThat(database.<Long>read(session -> {
                    proxy.silence(false);
                    return session.number("SELECT count(*) FROM note");
                }))
                .isZero();
    }

    @Test
    void anInterruptionThatTheServerDoesNotAnswerKeepsNoOtherWaiting() {
        assertThatThrownBy(() -> database.readers(1).snapshot(Duration.ofMillis(100), session -> {
                    proxy.silence(false);
                    return session.number("SELECT count(*) FROM note");
                }))
                .isInstanceOf(ReadTimeoutException.class);

        assertThat(notes()).isZero();
    }

    @Test
    void aStatementThatTakesTooLongIsEndedByTheServer() {
        assertThatThrownBy(() -> database.read(session -> session.list(row -> 1, "SELECT pg_sleep(100)")))
                .isInstanceOf(OutageException.class)
                .hasStackTraceContaining("statement timeout");
    }
}
