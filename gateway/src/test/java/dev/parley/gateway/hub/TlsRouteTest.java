package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.protocol.Message;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Remote agents with certificates of a private authority, which the trust store of the JVM names. */
@Timeout(60)
@Tag("heavy")
final class TlsRouteTest {
    private static final String STORE = "javax.net.ssl.trustStore";
    private static final String PASSWORD = "password";
    private static final AtomicInteger CALLS = new AtomicInteger();

    @TempDir
    private static Path directory;

    private static KeyStore keys;
    private static Hub hub;

    @BeforeAll
    static void start() throws Exception {
        make("authority", "bc:critical=ca:true", List.of());
        make("here", "san=ip:127.0.0.1", List.of("-signer", "authority"));
        make("elsewhere", "san=dns:agents.example.com", List.of("-signer", "authority"));
        make("expired", "san=ip:127.0.0.1", List.of("-signer", "authority", "-startdate", "-10d", "-validity", "1"));
        keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(directory.resolve("keys.p12"))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyStore trusted = empty();
        trusted.setCertificateEntry("authority", keys.getCertificate("authority"));
        try (OutputStream out = Files.newOutputStream(directory.resolve("trusted.p12"))) {
            trusted.store(out, PASSWORD.toCharArray());
        }
        System.setProperty(STORE, directory.resolve("trusted.p12").toString());
        System.setProperty(STORE + "Password", PASSWORD);
        hub = Hub.builder().inMemory().port(0).drain(Duration.ZERO).start();
    }

    @AfterAll
    static void stop() {
        System.clearProperty(STORE);
        System.clearProperty(STORE + "Password");
        hub.close();
    }

    private static KeyStore empty() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    /** Makes a key and its certificate, by the tool that comes with the JDK. */
    private static void make(String alias, String extension, List<String> more) throws Exception {
        var line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                alias,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + alias,
                "-ext",
                extension,
                "-storetype",
                "PKCS12",
                "-keystore",
                directory.resolve("keys.p12").toString(),
                "-storepass",
                PASSWORD));
        line.addAll(more);
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
    }

    /** An agent with a certificate, which answers each call with a message. */
    private static HttpsServer agent(String alias) throws Exception {
        KeyStore own = empty();
        own.setKeyEntry(
                alias,
                keys.getKey(alias, PASSWORD.toCharArray()),
                PASSWORD.toCharArray(),
                keys.getCertificateChain(alias));
        var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(own, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/", exchange -> {
            boolean isCard = exchange.getRequestMethod().equals("GET");
            String request = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            CALLS.incrementAndGet();
            byte[] answer = (isCard
                            ? """
                    {"name":"private","description":"","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],
                    "skills":[],"supportedInterfaces":[{"url":"https://inner.example/a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}"""
                            : """
                    {"jsonrpc":"2.0","id":%s,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}}""".formatted(Json.read(request.getBytes(UTF_8), Map.class)
                                    .get("id")))
                    .getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static HttpResponse<byte[]> add(String name, HttpsServer server) throws Exception {
        String url = "https://127.0.0.1:" + server.getAddress().getPort();
        return Admin.of(hub).ask("POST", "", Map.of("name", name, "url", url));
    }

    @Test
    void anAgentWithACertificateOfATrustedAuthorityIsCalled() throws Exception {
        HttpsServer server = agent("here");
        try {
            assertThat(add("here", server).statusCode()).isEqualTo(200);
            try (AgentClient client = AgentClient.connect(hub.agentUrl("here"))) {
                assertThat(((Message) client.send("hello")).text()).isEqualTo("hi");
            }
        } finally {
            server.stop(0);
        }
    }

    @Test
    @DisplayName(
            "a certificate of another host or one that has expired is refused with the reason, and nothing is sent")
    void refused() throws Exception {
        for (Map.Entry<String, String> wrong : Map.of(
                        "elsewhere", "No subject alternative names matching", "expired", "certificate_expired")
                .entrySet()) {
            HttpsServer server = agent(wrong.getKey());
            try {
                int before = CALLS.get();
                HttpResponse<byte[]> answer = add(wrong.getKey(), server);

                assertThat(answer.statusCode()).isEqualTo(400);
                assertThat(new String(answer.body(), UTF_8)).contains(wrong.getValue());
                assertThat(CALLS).hasValue(before);
            } finally {
                server.stop(0);
            }
        }
    }
}
