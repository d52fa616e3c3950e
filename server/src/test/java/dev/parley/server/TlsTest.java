package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.health.HealthCheckRequest;
import dev.parley.dialect.grpc.health.HealthCheckResponse.ServingStatus;
import dev.parley.dialect.grpc.health.HealthGrpc;
import dev.parley.server.limits.HandshakeContext;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.okhttp.SslSocketFactoryChannelCredentials;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(60)
class TlsTest {
    private static final char[] PASSWORD = "changeit".toCharArray();

    private final ScriptedEvents events = new ScriptedEvents();
    private Path pkcs12;
    private SSLContext trusting;
    private Server server;

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        pkcs12 = directory.resolve("server.p12");
        var keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        var made = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost",
                        "-keystore",
                        pkcs12.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD))
                .inheritIO()
                .start()
                .waitFor();
        assertThat(made).isZero();
        trusting = trusting(pkcs12);
        server = TestServer.builder()
                .tls(pkcs12, PASSWORD)
                .grpc(DialectSettings.DEFAULTS)
                .handler("/events", (request, body) -> events.answer())
                .start();
    }

    @AfterAll
    void stop() {
        server.close();
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void bothVersionsOfHttpAreServed(HttpClient.Version version) throws Exception {
        try (var http =
                HttpClient.newBuilder().sslContext(trusting).version(version).build()) {
            var request = HttpRequest.newBuilder(URI.create("https://localhost:" + server.port() + "/health"));

            var answer = http.send(request.build(), BodyHandlers.ofString());

            assertThat(answer.version()).isEqualTo(version);
            assertThat(answer.body()).isEqualTo("{\"status\":\"up\"}");
            assertThat(answer.headers().firstValue("Strict-Transport-Security")).contains("max-age=31536000");
            assertThat(server.url()).isEqualTo("https://127.0.0.1:" + server.port());
        }
    }

    @Test
    void theKeyIsNotDecryptedAtEachHandshake() throws Exception {
        var keys = TlsFiles.keys(KeyStore.getInstance(pkcs12.toFile(), PASSWORD), PASSWORD);

        assertThat(keys.getPrivateKey("server")).isNotNull().isSameAs(keys.getPrivateKey("server"));
    }

    @Test
    void otherFilesBesideACertificateDoNotHaveItReadAnew(@TempDir Path directory) throws Exception {
        var file = Files.copy(pkcs12, directory.resolve("server.p12"));
        var identity = TlsIdentity.pkcs12(file, PASSWORD);

        Files.writeString(directory.resolve("hub.log"), "a line");
        assertThat(identity.reloadIfChanged()).isFalse();

        Files.setLastModifiedTime(file, FileTime.fromMillis(1));
        assertThat(identity.reloadIfChanged()).isTrue();
        assertThat(identity.reloadIfChanged()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 9, 200, 10_000})
    void theFirstMessageOfAClientIsReadToItsEndAndNoFurther(int fragment) throws IOException {
        var random = new Random(1);
        var message = new byte[4 + 700];
        random.nextBytes(message);
        message[0] = 1;
        message[1] = 0;
        message[2] = (byte) (700 >> 8);
        message[3] = (byte) 700;
        var records = new ByteArrayOutputStream();
        for (int from = 0; from < message.length; from += fragment) {
            int length = Math.min(fragment, message.length - from);
            records.writeBytes(new byte[] {22, 3, 1, (byte) (length >> 8), (byte) length});
            records.write(message, from, length);
        }
        byte[] hello = records.toByteArray();
        records.write(17);

        var in = new ByteArrayInputStream(records.toByteArray());

        assertThat(HandshakeContext.hello(in)).isEqualTo(hello);
        assertThat(in.readAllBytes()).containsExactly(17);
    }

    @Test
    void connectionsWhoseHandshakeDoesNotGoOnHoldUpNoOther() throws Exception {
        var hostile = new ArrayList<Socket>();
        try {
            for (int i = 0; i < 50; i++) {
                var socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                hostile.add(socket);
                socket.getOutputStream()
                        .write(i % 2 == 0 ? new byte[] {22, 3} : new byte[] {22, 3, 1, 2, 0, 1, 0, 1, -4});
            }
            try (Socket socket = trusting.getSocketFactory().createSocket("localhost", server.port())) {
                ((SSLSocket) socket).startHandshake();
                assertThat(((SSLSocket) socket).getSession().isValid()).isTrue();
            }
        } finally {
            for (Socket socket : hostile) {
                socket.close();
            }
        }
    }

    @Test
    void grpcIsServedToo() throws Exception {
        var credentials = SslSocketFactoryChannelCredentials.create(trusting.getSocketFactory());
        var channel = OkHttpChannelBuilder.forTarget("localhost:" + server.port(), credentials)
                .build();
        try {
            var answer = HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance());

            assertThat(answer.getStatus()).isEqualTo(ServingStatus.SERVING);
        } finally {
            channel.shutdownNow();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void currentProtocolsAreSpoken(String protocol) throws IOException {
        try (var client = new RawClient(connect(protocol))) {
            client.send("GET /health HTTP/1.1\nHost: x\n\n");

            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void oldProtocolsAreNot() throws IOException {
        // A hello of TLS 1.1, by hand: the JDK of the test would not send one.
        try (var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(20_000);
            var hello = new byte[5 + 4 + 43];
            hello[0] = 22;
            hello[1] = 3;
            hello[2] = 1;
            hello[4] = 47;
            hello[5] = 1;
            hello[8] = 43;
            hello[9] = 3;
            hello[10] = 2;
            // No session, one cipher suite (TLS_RSA_WITH_AES_128_CBC_SHA), no compression.
            hello[45] = 2;
            hello[47] = 0x2f;
            hello[48] = 1;
            socket.getOutputStream().write(hello, 0, 5 + 47);

            var alert = socket.getInputStream().readNBytes(7);

            assertThat(alert[0]).isEqualTo((byte) 21);
            assertThat(alert[6]).isEqualTo((byte) 70);
        }
    }

    @Test
    void whoLeavesAStreamIsNoticed() throws Exception {
        try (var client = new RawClient(connect("TLSv1.3"))) {
            client.send("GET /events HTTP/1.1\nHost: x\n\n");
            assertThat(client.head().status()).isEqualTo(200);
            events.show(1);
            client.chunk();
            assertThat(client.chunk()).isEqualTo("id: 1\n\n");
        }

        assertThat(events.isClosedWithin(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void whoNeverShakesHandsIsCut() throws IOException {
        try (var other = TestServer.builder()
                        .tls(pkcs12, PASSWORD)
                        .headerTimeout(Duration.ofMillis(300))
                        .start();
                var client = RawClient.to(other)) {
            assertThat(client.isClosedByServer()).isTrue();
        }
    }

    @Test
    void keyAndCertificateMayBeTextFiles(@TempDir Path directory) throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        try (var in = new FileInputStream(pkcs12.toFile())) {
            store.load(in, PASSWORD);
        }
        var certificate = pem(
                directory.resolve("tls.crt"),
                "CERTIFICATE",
                store.getCertificate("server").getEncoded());
        var key = pem(
                directory.resolve("tls.key"),
                "PRIVATE KEY",
                store.getKey("server", PASSWORD).getEncoded());

        try (var other = TestServer.builder().tls(certificate, key).start();
                var client = new RawClient(
                        trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), other.port()))) {
            client.send("GET /health HTTP/1.1\nHost: x\n\n");

            assertThat(client.answer().status()).isEqualTo(200);
        }
    }

    @Test
    void filesThatHoldNoKeyAreNamed(@TempDir Path directory) throws IOException {
        var empty = Files.writeString(directory.resolve("empty.pem"), "");

        assertThatThrownBy(() -> TestServer.builder().tls(empty, empty))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("empty.pem");
        assertThatThrownBy(() -> TestServer.builder().tls(pkcs12, "wrong".toCharArray()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("server.p12");
    }

    private SSLSocket connect(String protocol) throws IOException {
        var socket =
                (SSLSocket) trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), server.port());
        socket.setEnabledProtocols(new String[] {protocol});
        return socket;
    }

    private static SSLContext trusting(Path pkcs12) throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        try (var in = new FileInputStream(pkcs12.toFile())) {
            store.load(in, PASSWORD);
        }
        var trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("server", store.getCertificate("server"));
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    private static Path pem(Path file, String what, byte[] encoded) throws IOException {
        var text = Base64.getMimeEncoder().encodeToString(encoded);
        return Files.writeString(file, "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(what, text, what));
    }
}
