package dev.parley.store.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.store.connection.PostgresqlUrl;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hubs that work at once, one of which is cut off from the database for less than its lease. */
@Timeout(90)
@Tag("heavy")
final class CutHubTest {
    private static final Duration BEGINS_AGAIN = Duration.ofSeconds(10);

    private String url;
    private SilentProxy network;
    private Database cut;
    private Database other;

    @BeforeEach
    void open() throws IOException {
        url = PostgresqlServer.url();
        network = new SilentProxy(PostgresqlServer.port());
        cut = hub(url.replace("localhost:" + PostgresqlServer.port(), "127.0.0.1:" + network.port()));
        other = hub(url);
    }

    @AfterEach
    void close() throws IOException {
        network.close();
        cut.close();
        other.close();
    }

    private static Database hub(String url) {
        var registration = new Registration("1", () -> List.of("echo"), Sharing.AT_ONCE, 0, name -> {});
        return Database.open(new PostgresqlUrl(url), connection -> connection, registration);
    }

    private long number(String sql) {
        try (Connection connection = PostgresqlServer.connect(url);
                Statement statement = connection.createStatement()) {
            return number(statement, sql);
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static long number(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getLong(1) : 0;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aHubThatIsCutOffForFiveSecondsIsNotEnded(boolean requestsArrive) throws Exception {
        if (requestsArrive) {
            network.holdAnswers();
        } else {
            network.hold();
        }
        TimeUnit.SECONDS.sleep(5); // the fault
        assertThat(cut.access().obstacle()).isPresent();
        network.release();

        Eventually.within(
                BEGINS_AGAIN,
                "the hub answers again",
                () -> cut.access().obstacle().isEmpty());
        cut.write(session -> session.number("SELECT 1"));
        assertThat(cut.access().ending()).isEmpty();
        assertThat(other.access().ending()).isEmpty();
        assertThat(number("SELECT count(*) FROM hub WHERE ended_at IS NULL")).isEqualTo(2);
        assertThat(number("SELECT count(*) FROM stream")).isEqualTo(2);
        assertThat(number("SELECT max(hub_no) FROM hub")).isEqualTo(2);
    }

    @Test
    void aHubWhoseConnectionsEndAfterASilenceHasTimeForNewOnes() throws Exception {
        long hub =
                number("INSERT INTO hub (name, level, version, lease_until) VALUES ('third', 1, '1', clock_timestamp())"
                        + " RETURNING hub_no");
        String shown = "SELECT 1 FROM pg_advisory_lock_shared(" + PostgresqlSystem.HUB_LOCK
                + ", hashtext(current_schema() || '/' || " + hub + "))";
        String beat = "UPDATE hub SET beat_at = clock_timestamp() WHERE hub_no = " + hub
                + " AND ended_at IS NULL RETURNING 1";
        try (Connection before = PostgresqlServer.connect(url);
                Statement first = before.createStatement();
                Connection next = PostgresqlServer.connect(url);
                Statement second = next.createStatement()) {
            number(first, shown);
            number(first, beat);
            TimeUnit.SECONDS.sleep(4); // longer than a hub without a connection may be silent
            assertThat(number(second, "SELECT count(*) FROM hub WHERE ended_at IS NULL"))
                    .isEqualTo(3);
            before.close();
            TimeUnit.MILLISECONDS.sleep(600); // others look each 0.5 s
            assertThat(number(second, beat)).as("rows of hubs with a beat").isOne();
            number(second, shown);
            TimeUnit.SECONDS.sleep(2);
            assertThat(number(second, "SELECT count(*) FROM hub WHERE ended_at IS NULL"))
                    .isEqualTo(3);
        }
        Eventually.within(
                Duration.ofSeconds(5),
                "the hub is ended that has neither a beat nor a connection",
                () -> number("SELECT count(*) FROM hub WHERE ended_at IS NULL") == 2);
    }
}
