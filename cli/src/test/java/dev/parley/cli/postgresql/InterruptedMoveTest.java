package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.support.Sha256;
import dev.parley.store.Store;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley migrate}, killed while it copies. */
@Tag("heavy")
@Timeout(300)
final class InterruptedMoveTest {
    private static final int MESSAGES = Promise.LONG ? 2_000_000 : 100_000;
    private static final int KILLS = Promise.LONG ? 10 : 2;

    @TempDir
    private Path directory;

    /** A program that {@code parley migrate} runs in. */
    private Process migrate(DatabaseServer server) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Duser.home=" + directory,
                "-cp",
                System.getProperty("java.class.path"),
                "dev.parley.cli.Main",
                "migrate",
                "--data",
                directory.resolve("old").toString(),
                "--new",
                directory.resolve("hub/data").toString(),
                "--to",
                server.url()));
        return new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("migrate.log").toFile())
                .start();
    }

    private int await(Process process) throws InterruptedException {
        assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
        return process.exitValue();
    }

    private Map<String, String> files() throws IOException {
        var hashes = new TreeMap<String, String>();
        try (Stream<Path> all = Files.list(directory.resolve("old"))) {
            for (Path file : all.toList()) {
                hashes.put(
                        file.getFileName().toString(),
                        Sha256.hex(Base64.getEncoder().encodeToString(Files.readAllBytes(file))));
            }
        }
        return hashes;
    }

    private static long copied(DatabaseServer server) {
        try {
            return server.number("SELECT count(*) FROM message");
        } catch (SQLException noTable) {
            return 0;
        }
    }

    @Test
    void aMoveThatWasKilledIsRepeatedAndEndsWithAllRows() throws Exception {
        Path old = directory.resolve("old");
        try (Store store = Store.open(old)) {
            store.database().write(session -> {
                session.once("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < " + MESSAGES
                        + ") INSERT INTO message (day, lane_no, message_id, task_id, made_ms)"
                        + " SELECT 1, 1, 'message ' || i, 'task ' || i, i FROM n");
                return 0;
            });
        }
        Files.createDirectory(directory.resolve("hub"));
        Map<String, String> before = files();
        try (var server = DatabaseServer.primary()) {
            for (int kill = 1; kill <= KILLS; kill++) {
                long least = (long) MESSAGES * (kill - 1) / KILLS + 1;
                Process killed = migrate(server);
                Eventually.holds("some rows were copied", () -> !killed.isAlive() || copied(server) >= least);
                killed.destroyForcibly().onExit().join();
                assertThat(server.number("SELECT count(*) FROM pg_class WHERE relname = 'unfinished_move'"))
                        .isOne();
                assertThat(files()).isEqualTo(before);
                assertThat(directory.resolve("hub/data")).doesNotExist();
            }
            try (var hub = HubProcess.launch(directory.resolve("other"), server.url())) {
                assertThat(hub.exitStatus()).isNotZero();
                assertThat(hub.log()).contains("their move has not ended");
            }

            int status = await(migrate(server));

            String log = Files.readString(directory.resolve("migrate.log"));
            assertThat(status).as(log).isZero();
            assertThat(copied(server)).isEqualTo(MESSAGES);
            assertThat(files()).isEqualTo(before);
            try (var hub = HubProcess.start(directory.resolve("hub"), server.url())) {
                assertThat(hub.calls().send("after the move").sentTask()).isNotNull();
            }
            assertThat(await(migrate(server))).isNotZero();
            assertThat(copied(server)).isPositive();
        }
    }
}
