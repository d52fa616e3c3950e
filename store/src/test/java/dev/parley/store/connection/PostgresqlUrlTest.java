package dev.parley.store.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.NotOpenedException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** URLs of databases, as operators write them. */
final class PostgresqlUrlTest {
    private static int closedPort() throws IOException {
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    private static void connects(String url) throws SQLException {
        try (Connection connection = new PostgresqlUrl(url).getConnection()) {
            assertThat(connection.isValid(5)).as(url).isTrue();
        }
    }

    @Test
    void theFirstOfSeveralHostsThatAnswersIsTaken() throws IOException, SQLException {
        int port = PostgresqlServer.port();

        connects("postgresql://postgres@127.0.0.1:" + closedPort() + ",localhost:" + port + "/postgres");
        connects("postgres://postgres@localhost:" + port + ",127.0.0.1:" + closedPort() + "/postgres?connectTimeout=2");
        assertThat(new PostgresqlUrl("postgresql://me:s3cret@one:5433,[::1]:5434,three/db?sslmode=require"))
                .hasToString("PostgreSQL at one:5433,[::1]:5434,three/db");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "postgresql://me:s3cret@/db",
                "postgresql://me:s3cret@one,/db",
                "postgresql://me:s3cret@one:0/db",
                "postgresql://me:s3cret@one,two:65536/db",
                "postgresql://me:s3cret@one two/db",
                "postgresql://me:s3cret@[::1/db",
                "postgresql://me:s3cret@one",
                "postgresql://me:s3cret%@one/db",
                "postgresql://me:s3cret@pooler/db?direct=",
                "mysql://me:s3cret@one/db"
            })
    void aUrlThatIsNoneIsRefusedWithoutItsPassword(String url) {
        assertThatThrownBy(() -> new PostgresqlUrl(url))
                .isInstanceOf(NotOpenedException.class)
                .hasMessageContaining("expected: postgresql://user@host/database")
                .hasMessageNotContaining("s3cret");
    }

    @Test
    void thePoolerAndTheServerItselfHaveConnectionsOfTheirOwn() throws IOException, SQLException {
        var url = new PostgresqlUrl("postgresql://postgres@127.0.0.1:" + closedPort() + "/postgres?direct=localhost:"
                + PostgresqlServer.port() + "&connectTimeout=2");

        assertThat(url.isPooled()).isTrue();
        assertThatThrownBy(url::getConnection).isInstanceOf(SQLException.class);
        try (Connection connection = url.direct().getConnection()) {
            assertThat(connection.isValid(5)).isTrue();
        }
        var plain = new PostgresqlUrl("postgresql://one/db");
        assertThat(plain.isPooled()).isFalse();
        assertThat(plain.direct()).isSameAs(plain);
    }
}
