package dev.parley.cli.postgresql;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/** PgBouncer in transaction mode before a server. */
final class Pooler implements AutoCloseable {
    private final Process process;
    private final int port;

    Pooler(DatabaseServer server) throws IOException {
        DebianPostgresql installation = DebianPostgresql.shared();
        this.port = DebianPostgresql.freePort();
        Path settings = installation.path("pgbouncer");
        Files.write(
                settings,
                List.of(
                        "[databases]",
                        "parley = host=127.0.0.1 port=" + server.port() + " dbname=parley user=parley",
                        "[pgbouncer]",
                        "pool_mode = transaction",
                        "listen_addr = 127.0.0.1",
                        "listen_port = " + port,
                        "unix_socket_dir =",
                        "auth_type = any",
                        "ignore_startup_parameters = extra_float_digits"));
        Files.setPosixFilePermissions(settings, PosixFilePermissions.fromString("rw-r--r--"));
        this.process = installation.begin("pgbouncer", settings.toString());
        Eventually.holds("the pooler listens", this::listens);
    }

    private boolean listens() {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    int port() {
        return port;
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
