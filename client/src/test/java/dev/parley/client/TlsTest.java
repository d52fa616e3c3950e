package dev.parley.client;

import static dev.parley.client.TestAgent.rpc;
import static dev.parley.client.TestAgent.task;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.RawServer.Request;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.GetTask;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class TlsTest {
    private static final char[] PASSWORD = "password".toCharArray();

    private static KeyStore here;
    private static KeyStore elsewhere;

    @BeforeAll
    static void makeKeys(@TempDir Path folder) throws Exception {
        here = keys(folder.resolve("here.p12"), "ip:127.0.0.1");
        elsewhere = keys(folder.resolve("elsewhere.p12"), "dns:agents.example.com");
    }

    @Test
    void aCertificateThatNobodyVouchesForIsRefused() throws Exception {
        try (var server = server(here)) {
            ClientException refusal = catchThrowableOfType(
                    ClientException.class, () -> TestAgent.hasty().connect(url(server)));

            assertThat(refusal.problem()).isEqualTo(Problem.UNREACHABLE);
            assertThat(refusal).hasMessageContaining("TLS failed");
            assertThat(server.requests).isEmpty();
        }
    }

    @Test
    void aCertificateIsTrustedIfTheCallerVouchesForIt() throws Exception {
        try (var server = server(here);
                var client = TestAgent.hasty().sslContext(trusting(here)).connect(url(server))) {
            assertThat(client.card().name()).isEqualTo("test");
        }
    }

    @Test
    void aCertificateForAnotherHostIsRefused() throws Exception {
        try (var server = server(elsewhere)) {
            ClientException refusal = catchThrowableOfType(
                    ClientException.class,
                    () -> TestAgent.hasty().sslContext(trusting(elsewhere)).connect(url(server)));

            assertThat(refusal.problem()).isEqualTo(Problem.UNREACHABLE);
        }
    }

    @Test
    void whoAsksForItTrustsEverybody() throws Exception {
        try (var server = server(elsewhere);
                var client = TestAgent.hasty().insecure().connect(url(server))) {
            assertThat(client.card().name()).isEqualTo("test");
        }
    }

    @Test
    @DisplayName("T4: a connection is kept over TLS, unless it has unread bytes")
    void aConnectionIsKeptUnlessItHasUnreadBytes() throws Exception {
        var connections = new ConcurrentLinkedQueue<Integer>();
        var extra = new AtomicBoolean();
        try (var server = server(here, connection -> {
                    for (Request request = connection.request(); request != null; request = connection.request()) {
                        connections.add(connection.number);
                        String host = requireNonNull(request.header("Host"));
                        String card = TestAgent.card("https://" + host + "/agent", "JSONRPC", "");
                        String body = request.line().startsWith("GET") ? card : rpc(task("WORKING"));
                        String answer = "HTTP/1.1 200 X\nContent-Type: application/json\nContent-Length: "
                                + connection
                                        .answering(body)
                                        .replace("\n", "\r\n")
                                        .length() + "\n\n" + body;
                        connection.write(extra.get() ? answer + answer : answer);
                    }
                });
                var client = TestAgent.hasty().sslContext(trusting(here)).connect(url(server))) {
            for (int i = 0; i < 3; i++) {
                client.call(GetTask.of("t1"), CallContext.anonymous());
            }
            assertThat(connections).containsExactly(1, 2, 2, 2);

            extra.set(true);
            for (int i = 0; i < 3; i++) {
                client.call(GetTask.of("t1"), CallContext.anonymous());
            }
            assertThat(connections).containsExactly(1, 2, 2, 2, 2, 3, 4);
        }
    }

    @Test
    @DisplayName("a proxy of the platform gets requests in plain, and tunnels those over TLS")
    void proxiesOfThePlatformAreUsed() throws Exception {
        ProxySelector before = ProxySelector.getDefault();
        var lines = new ConcurrentLinkedQueue<String>();
        try (var server = server(here);
                var proxy = new TestProxy(lines);
                var plain = new RawServer(connection -> {
                    for (Request request = connection.request(); request != null; request = connection.request()) {
                        lines.add(request.line());
                        connection.answer(200, TestAgent.card("http://agent.example/agent", "JSONRPC", ""));
                    }
                })) {
            ProxySelector.setDefault(
                    ProxySelector.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), proxy.port())));
            try (var client = TestAgent.hasty().sslContext(trusting(here)).connect(url(server))) {
                assertThat(client.card().name()).isEqualTo("test");
            }
            assertThat(lines).containsExactly("CONNECT 127.0.0.1:" + server.port() + " HTTP/1.1");

            lines.clear();
            ProxySelector.setDefault(
                    ProxySelector.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), plain.port())));
            try (var client = TestAgent.hasty().plainHttp().connect("http://agent.example")) {
                assertThat(client.card().name()).isEqualTo("test");
            }
            assertThat(lines).containsExactly("GET http://agent.example/.well-known/agent-card.json HTTP/1.1");
        } finally {
            ProxySelector.setDefault(before);
        }
    }

    /** Tunnels one connection after the other. */
    private static final class TestProxy implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        private final Queue<String> lines;

        TestProxy(Queue<String> lines) throws IOException {
            this.lines = lines;
            Thread.ofVirtual().start(this::run);
        }

        int port() {
            return socket.getLocalPort();
        }

        private void run() {
            while (!socket.isClosed()) {
                try (Socket client = socket.accept()) {
                    var head = new StringBuilder();
                    while (!head.toString().endsWith("\r\n\r\n")) {
                        head.append((char) client.getInputStream().read());
                    }
                    String line = head.toString().lines().findFirst().orElseThrow();
                    lines.add(line);
                    int target = Integer.parseInt(line.replaceFirst("CONNECT .*:(\\d+) .*", "$1"));
                    try (Socket server = new Socket(InetAddress.getLoopbackAddress(), target)) {
                        client.getOutputStream().write("HTTP/1.1 200 Go on\r\n\r\n".getBytes(UTF_8));
                        Thread back = Thread.ofVirtual().start(() -> pump(server, client));
                        pump(client, server);
                        back.join();
                    }
                } catch (IOException closed) {
                    // by the client or the test
                } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        private static void pump(Socket from, Socket to) {
            try {
                from.getInputStream().transferTo(to.getOutputStream());
                to.shutdownOutput();
            } catch (IOException closed) {
                // by one of the sides
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    private static String url(RawServer server) {
        return "https://127.0.0.1:" + server.port();
    }

    private static RawServer server(KeyStore keys) throws Exception {
        return server(keys, connection -> {
            for (Request request = connection.request(); request != null; request = connection.request()) {
                String host = requireNonNull(request.header("Host"));
                connection.answer(200, TestAgent.card("https://" + host + "/agent", "JSONRPC", ""));
            }
        });
    }

    private static RawServer server(KeyStore keys, RawServer.Talk talk) throws Exception {
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return new RawServer(talk, 0, context.getServerSocketFactory());
    }

    private static SSLContext trusting(KeyStore keys) throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("server", keys.getCertificate("server"));
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    /** Makes a key and a certificate that it signs itself, by the tool that comes with the JDK. */
    private static KeyStore keys(Path file, String name) throws Exception {
        Path keytool = Path.of(System.getProperty("java.home"), "bin", "keytool");
        Process process = new ProcessBuilder(List.of(
                        keytool.toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=test",
                        "-ext",
                        "san=" + name,
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD)))
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD);
        }
        return keys;
    }
}
