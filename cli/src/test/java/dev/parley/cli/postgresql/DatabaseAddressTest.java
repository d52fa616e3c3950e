package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** URLs of several servers, of which one is the primary, and of poolers. */
@Tag("heavy")
@Timeout(120)
final class DatabaseAddressTest {
    @TempDir
    private Path directory;

    private static String url(int first, int second) {
        return "postgresql://parley@127.0.0.1:" + first + ",127.0.0.1:" + second + "/parley";
    }

    @Test
    void theHubStartsOnThePrimaryBehindAStandbyOrADeadServer() throws Exception {
        try (var primary = DatabaseServer.primary();
                var standby = primary.standby()) {
            try (var hub = HubProcess.start(directory, url(standby.port(), primary.port()))) {
                assertThat(hub.calls().send("behind a standby").sentTask()).isNotNull();
            }
            standby.stopImmediately();
            try (var hub = HubProcess.start(directory, url(standby.port(), primary.port()))) {
                assertThat(hub.calls().send("behind a dead server").sentTask()).isNotNull();
                assertThat(hub.calls().tasks()).isEqualTo(2);
            }
        }
    }

    @Test
    void aPoolerInTransactionModeIsRefusedAtTheStart() throws Exception {
        try (var server = DatabaseServer.primary();
                var pooler = new Pooler(server);
                var hub = HubProcess.launch(directory, DatabaseServer.url(pooler.port()))) {
            assertThat(hub.exitStatus()).isNotZero();
            assertThat(hub.log()).contains("a pooler in transaction mode answers", "?direct=host:port");
        }
    }

    @Test
    void aHubBehindAPoolerWritesByTheServerThatItsUrlNames() throws Exception {
        try (var server = DatabaseServer.primary();
                var pooler = new Pooler(server);
                var hub = HubProcess.start(
                        directory, DatabaseServer.url(pooler.port()) + "?direct=127.0.0.1:" + server.port())) {
            HubCalls calls = hub.calls();
            try (var senders = new Senders(calls, 4)) {
                senders.await(100);
                server.terminateSessions();
                Promise.awaitReturn(hub, calls, senders);
                senders.verify();
            }
        }
    }
}
