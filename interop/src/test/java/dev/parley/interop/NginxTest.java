package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A hub behind nginx, as {@code docs/deployment.md} configures it. When it is skipped is as with {@link InteropTest}. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class NginxTest {
    private static final String KEY = "alices-key-of-32-characters-00001";
    private static final Path DOCUMENT = Path.of("..", "docs", "deployment.md");

    @TempDir
    static Path directory;

    private final Semaphore mayGoOn = new Semaphore(0);
    private Hub hub;
    private Nginx nginx;
    private SSLContext trust;
    private String url;

    @BeforeAll
    void start() throws Exception {
        try {
            run("nginx", "-v");
            makeCertificate();
        } catch (IOException notInstalled) {
            Requirement.missing(String.valueOf(notInstalled.getMessage()));
        }
        int port = Nginx.freePort();
        int hubPort = Nginx.freePort();
        url = "https://localhost:" + port;
        hub = Hub.builder()
                .port(hubPort)
                .bind("0.0.0.0")
                .set("behind-proxy", "true")
                .set("trusted-proxy", "127.0.0.2")
                .authentication(Authentication.of(Scheme.API_KEY))
                .callers(Callers.builder().apiKey("alice", KEY).build())
                .inMemory()
                .grpcOnCards(true)
                .publicUrl(url)
                .agents(
                        Agent.named("echo", "Says the same").handle((request, reply) -> reply.complete(request.text())),
                        Agent.named("address", "Tells the address of its caller")
                                .handle((request, reply) ->
                                        reply.complete(request.context().address())),
                        Agent.named("patient", "Waits between two events").handle((request, reply) -> {
                            reply.artifact("first", "1");
                            mayGoOn.acquire();
                            reply.complete("2");
                        }))
                .drain(Duration.ZERO)
                .start();
        nginx = Nginx.start(directory, configuration(port, hubPort));
        trust = trust();
    }

    @AfterAll
    void stop() {
        if (nginx != null) { // else it is not installed
            nginx.close();
            hub.close();
        }
    }

    @Test
    void browsersAndClientsAreServedByHttp2() throws Exception {
        try (HttpClient http = HttpClient.newBuilder().sslContext(trust).build()) {
            HttpResponse<byte[]> card = http.send(
                    HttpRequest.newBuilder(URI.create(url + "/agents/echo/.well-known/agent-card.json"))
                            .build(),
                    BodyHandlers.ofByteArray());

            assertThat(card.version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(Json.readCard(card.body()).supportedInterfaces())
                    .extracting(AgentCard.Interface::url)
                    .contains(url + "/agents/echo", url.substring("https://".length()));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC})
    void messagesOfAnySizeGoThrough(String binding) {
        String large = "Größe ".repeat(200_000);

        try (AgentClient client = client(binding, "echo")) {
            assertThat(((Task) client.send("small")).text()).isEqualTo("small");
            assertThat(((Task) client.send(large)).text()).isEqualTo(large);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC})
    void anEventIsSeenBeforeTheNextOneHappens(String binding) {
        try (AgentClient client = client(binding, "patient");
                var stream = client.stream("hello")) {
            TaskEvent event = stream.next();
            while (!(event instanceof TaskArtifactUpdateEvent)) {
                event = stream.next();
            }
            mayGoOn.release();

            stream.forEachRemaining(left -> {});
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {AgentCard.Interface.JSONRPC, AgentCard.Interface.HTTP_JSON, AgentCard.Interface.GRPC})
    @DisplayName("S67 the proxy names the client, whatever the client writes into the header")
    void theProxyNamesTheClient(String binding) {
        try (AgentClient client = AgentClient.builder()
                .sslContext(trust)
                .apiKey(KEY)
                .header("X-Forwarded-For", "203.0.113.7")
                .prefer(binding)
                .connect(url + "/agents/address")) {
            assertThat(((Task) client.send("go")).text()).isEqualTo("127.0.0.1");
        }
    }

    private AgentClient client(String binding, String agent) {
        AgentClient client = AgentClient.builder()
                .sslContext(trust)
                .apiKey(KEY)
                .prefer(binding)
                .connect(url + "/agents/" + agent);
        assertThat(client.address().protocolBinding()).isEqualTo(binding);
        return client;
    }

    /** The one of the document, with ports, name and files of this test. */
    private String configuration(int port, int hubPort) throws IOException {
        var block = Pattern.compile("```nginx\n(.*?)```", Pattern.DOTALL).matcher(Files.readString(DOCUMENT));
        assertThat(block.find()).isTrue();
        String server = block.group(1);
        for (var change : List.of(
                List.of("listen 443", "listen 127.0.0.1:" + port),
                List.of("agents.example.com", "localhost"),
                List.of("127.0.0.1:7420", "127.0.0.1:" + hubPort),
                List.of("/etc/ssl/certs/agents.pem", "proxy.pem"),
                List.of("/etc/ssl/private/agents.key", "proxy.key"))) {
            assertThat(server).contains(change.getFirst());
            server = server.replace(change.getFirst(), change.getLast());
        }
        return "proxy_bind 127.0.0.2;\ngrpc_bind 127.0.0.2;\n" + server;
    }

    private static void makeCertificate() throws IOException, InterruptedException {
        run(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost",
                "-keyout",
                "proxy.key",
                "-out",
                "proxy.pem");
    }

    private static void run(String... command) throws IOException, InterruptedException {
        int ended = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
        assertThat(ended).as(command[0]).isZero();
    }

    /** For clients that trust the certificate of the proxy, and no other. */
    private static SSLContext trust() throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        try (InputStream certificate = Files.newInputStream(directory.resolve("proxy.pem"))) {
            store.setCertificateEntry(
                    "proxy", CertificateFactory.getInstance("X.509").generateCertificate(certificate));
        }
        var trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trusted.getTrustManagers(), null);
        return context;
    }
}
