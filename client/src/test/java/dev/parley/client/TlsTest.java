package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.RawServer.Request;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
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

    private static String url(RawServer server) {
        return "https://127.0.0.1:" + server.port();
    }

    private static RawServer server(KeyStore keys) throws Exception {
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        return new RawServer(
                connection -> {
                    for (Request request = connection.request(); request != null; request = connection.request()) {
                        String host = requireNonNull(request.header("Host"));
                        connection.answer(200, TestAgent.card("https://" + host + "/agent", "JSONRPC", ""));
                    }
                },
                0,
                context.getServerSocketFactory());
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
