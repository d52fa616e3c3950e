package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A balancer of Debian's packages in front of three hubs, with its configuration of {@code deploy/}. */
final class Balancer implements AutoCloseable {
    private static final Path DEPLOY = Path.of("..", "deploy");

    enum Kind {
        NGINX,
        HAPROXY
    }

    private final Process process;
    private final Path log;

    /**
     * Starts a balancer and waits until it listens.
     *
     * @param directory an empty one for its files
     * @param chain certificate of 127.0.0.1
     */
    Balancer(Kind kind, Path directory, Path chain, Path key, int port, List<Integer> hubs) throws IOException {
        Files.createDirectories(directory);
        this.log = directory.resolve("log");
        var changes = new LinkedHashMap<String, String>();
        for (int hub = 0; hub < hubs.size(); hub++) {
            changes.put("hub" + (hub + 1) + ".example.com:7420", "127.0.0.1:" + hubs.get(hub));
        }
        changes.put("agents.example.com", "127.0.0.1");
        List<String> command = switch (kind) {
            case NGINX -> nginx(directory, chain, key, port, changes);
            case HAPROXY -> haproxy(directory, chain, key, port, changes);
        };
        this.process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroy));
        Eventually.holds(kind + " listens", () -> {
            assertThat(process.isAlive()).as(log()).isTrue();
            return listens(port);
        });
    }

    private static List<String> nginx(Path directory, Path chain, Path key, int port, Map<String, String> changes)
            throws IOException {
        changes.put("/etc/ssl/certs/agents.pem", chain.toString());
        changes.put("/etc/ssl/private/agents.key", key.toString());
        changes.put("listen 443", "listen 127.0.0.1:" + port);
        // The rest of nginx.conf. Workers of a master that is root are root, too: others cannot enter the directory.
        String global = """
                daemon off;
                %s
                pid nginx.pid;
                error_log stderr;
                events {}
                http {
                access_log off;
                client_body_temp_path body;
                proxy_temp_path proxy;
                fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi;
                scgi_temp_path scgi;
                %s
                }
                """.formatted(
                        System.getProperty("user.name").equals("root") ? "user root;" : "",
                        configuration("nginx/parley.conf", changes));
        Path file = Files.writeString(directory.resolve("nginx.conf"), global);
        return List.of("nginx", "-p", directory.toString(), "-c", file.toString(), "-e", "stderr");
    }

    private static List<String> haproxy(Path directory, Path chain, Path key, int port, Map<String, String> changes)
            throws IOException {
        Path both = Files.writeString(directory.resolve("agents.pem"), Files.readString(chain) + Files.readString(key));
        changes.put("/etc/haproxy/agents.pem", both.toString());
        changes.put("bind :443", "bind 127.0.0.1:" + port);
        changes.put("abns@parley_once", "unix@once"); // a name that other tests on the machine do not take
        changes.put("    user haproxy\n    group haproxy\n", "");
        Path file = Files.writeString(directory.resolve("haproxy.cfg"), configuration("haproxy/haproxy.cfg", changes));
        return List.of("haproxy", "-db", "-f", file.toString());
    }

    /** Returns a file of {@code deploy/} with the ports and files of a test. */
    private static String configuration(String file, Map<String, String> changes) throws IOException {
        String text = Files.readString(DEPLOY.resolve(file));
        for (Map.Entry<String, String> change : new ArrayList<>(changes.entrySet())) {
            assertThat(text).contains(change.getKey());
            text = text.replace(change.getKey(), change.getValue());
        }
        assertThat(text).doesNotContain("example.com");
        return text;
    }

    private static boolean listens(int port) {
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    String log() {
        try {
            return Files.readString(log);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() {
        process.destroy(); // the master of nginx ends its workers
        process.onExit().join();
    }
}
