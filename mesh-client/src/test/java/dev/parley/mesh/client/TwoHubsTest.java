package dev.parley.mesh.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.hub.Hub;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MeshContent.Delegation;
import dev.parley.mesh.MeshContent.Result;
import dev.parley.mesh.MeshContent.Status;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.TaskState;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two hubs with TLS, whose agents delegate to each other. */
@Timeout(180)
@Tag("heavy")
final class TwoHubsTest {
    private static final String SECRET = "moonlight-sonata";
    private static final String PUBLIC = "well-known-waltz";
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    private Path directory;

    /** An organization: a hub with one agent, and the keys of both. */
    private final class Side implements AutoCloseable {
        final String name;
        final String agent;
        final CardKeys signing;
        final ContentKeys content;
        final Path data;
        private @Nullable Hub hub;

        Hub hub() {
            return requireNonNull(hub);
        }

        Side(String name, String agent) {
            this.name = name;
            this.agent = agent;
            this.data = directory.resolve(name);
            CardKeys.create(file("sig"), CardKeys.Algorithm.ES256, null);
            ContentKeys.create(file("enc"));
            this.signing = CardKeys.read(List.of(file("sig")));
            this.content = ContentKeys.read(file("enc"));
        }

        Path file(String kind) {
            return directory.resolve(name + "-" + kind + ".json");
        }

        /** Public keys that are trusted for the host of this test. */
        Path trusted() throws IOException {
            byte[] keys = CardTrust.entry(new String(signing.published(), UTF_8), List.of("localhost"));
            return Files.write(file("trusted"), keys);
        }

        ContentKeys publicContent() {
            return ContentKeys.of(new String(content.published(), UTF_8));
        }

        OneIdentity identity(Side other) throws IOException {
            return OneIdentity.of(agent, hub().agentUrl(agent) + "/one")
                    .signing(signing)
                    .decrypting(content)
                    .trusting(CardTrust.read(List.of(other.trusted())));
        }

        /** Answers in the words that it gets, in capitals; encrypted if the task is. */
        void start(Side other) throws IOException {
            AgentHandler handler = (request, reply) -> {
                boolean isEncrypted = request.parts().getFirst().mediaType() != null;
                if (!isEncrypted) {
                    reply.progress(50, "half");
                    reply.complete("waltz done");
                    return;
                }
                var delegation = (Delegation) identity(other).decrypted(request.message());
                Object answer = Map.of("heard", "the " + delegation.parameters().get("topic"));
                reply.complete(identity(other).encrypted(answer, request.message(), other.publicContent()));
            };
            hub = Hub.builder()
                    .data(data)
                    .port(0)
                    .bind("localhost")
                    .tls(directory.resolve("cert.pem"), directory.resolve("key.pem"))
                    .cardKeys(signing)
                    .auditCalls(true)
                    .webhookAllow(List.of("127.0.0.1"))
                    .set("one-trust", other.trusted().toString())
                    .drain(Duration.ofMillis(200))
                    .agents(Agent.named(agent, "Works")
                            .skill("work", "Works")
                            .inputModes("text/plain", "application/jose")
                            .handle(handler))
                    .start();
        }

        OneClient client(Side receiver) throws Exception {
            return OneClient.connect(
                    identity(receiver),
                    AgentClient.builder()
                            .sslContext(tls())
                            .connect(receiver.hub().agentUrl(receiver.agent)));
        }

        @Override
        public void close() {
            hub().close();
        }
    }

    private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
    private final Handler recorder = new Handler() {
        @Override
        public void publish(LogRecord entry) {
            log.add(entry.getMessage() + " "
                    + List.of(entry.getParameters() == null ? new Object[0] : entry.getParameters()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final Logger root = Logger.getLogger("dev.parley");
    private final Logger requests = Logger.getLogger("dev.parley.requests");
    private Side north;
    private Side south;

    @BeforeEach
    void start() throws Exception {
        certificate();
        root.setLevel(Level.ALL);
        recorder.setLevel(Level.ALL);
        root.addHandler(recorder);
        requests.setLevel(Level.INFO); // quiet without a configuration
        north = new Side("north", "planner");
        south = new Side("south", "researcher");
        north.start(south);
        south.start(north);
    }

    @AfterEach
    void stop() {
        root.removeHandler(recorder);
        requests.setLevel(null);
        north.close();
        south.close();
    }

    @Test
    @DisplayName("ONE13, ONE30: two hubs delegate to each other over TLS with signed and encrypted envelopes, and keep"
            + " only ciphertext in databases, logs and audits")
    void delegateToEachOther() throws Exception {
        for (List<Side> sides : List.of(List.of(north, south), List.of(south, north))) {
            Side sender = sides.getFirst();
            Side receiver = sides.getLast();
            try (OneClient client = sender.client(receiver).encrypting(receiver.publicContent());
                    Delegated delegated = client.send(TaskDelegation.of("work").parameter("topic", SECRET))) {
                Result result = delegated.result().get(60, TimeUnit.SECONDS);

                assertThat(result.result()).isEqualTo(Map.of("heard", "the " + SECRET));
            }
            // In clear text, as a control of the search below.
            try (OneClient client = sender.client(receiver);
                    Delegated delegated = client.send(TaskDelegation.of("work").parameter("topic", PUBLIC))) {
                assertThat(delegated.result().get(60, TimeUnit.SECONDS).result())
                        .isEqualTo("waltz done");
            }
        }

        String logged = String.join("\n", log);
        assertThat(logged).contains("one/send").doesNotContain(SECRET);
        for (Side side : List.of(north, south)) {
            List<Path> files = files(side.data);
            assertThat(files).extracting(path -> path.getFileName().toString()).anyMatch(file -> file.endsWith("-wal"));
            assertThat(files).anyMatch(file -> contains(file, PUBLIC));
            assertThat(files).noneMatch(file -> contains(file, SECRET));
            side.close();
            assertThat(files(side.data)).noneMatch(file -> contains(file, SECRET));
        }
    }

    @Test
    @DisplayName(
            "ONE06, ONE08, ONE13: callbacks of a hub are signed by its card key, and arrive in order at the listener")
    void callbacksAreSigned() throws Exception {
        try (OneListener listener = OneListener.of(north.identity(south)).start();
                OneClient client = north.client(south).listening(listener);
                Delegated delegated = client.send(TaskDelegation.of("work").parameter("topic", PUBLIC))) {
            assertThat(delegated.result().get(60, TimeUnit.SECONDS).result()).isEqualTo("waltz done");
            var updates = new ArrayList<MeshContent>();
            try (var feed = delegated.updates()) {
                for (List<MeshContent> next = feed.next(Duration.ofSeconds(60));
                        next != null;
                        next = feed.next(Duration.ofSeconds(60))) {
                    updates.addAll(next);
                }
            }
            assertThat(updates.stream().filter(Status.class::isInstance).map(update -> ((Status) update).progress()))
                    .isSorted();
        }
    }

    @Test
    @DisplayName("ONE30: callbacks of an encrypted delegation reach a listener that decrypts them")
    void callbacksAreEncrypted() throws Exception {
        try (OneListener listener = OneListener.of(north.identity(south)).start();
                OneClient client = north.client(south).listening(listener).encrypting(south.publicContent());
                Delegated delegated = client.send(TaskDelegation.of("work").parameter("topic", SECRET))) {
            Result result = delegated.result().get(60, TimeUnit.SECONDS);

            assertThat(result.result()).isEqualTo(Map.of("heard", "the " + SECRET));
            try (var updates = delegated.updates()) {
                assertThat(updates.next(Duration.ofSeconds(60)))
                        .as("callbacks, which a reader of the task does not get")
                        .anyMatch(update -> update instanceof Status status && status.progress() == 100);
            }
        }
    }

    @Test
    @DisplayName(
            "ONE13, ONE22: a signature by a key that the hub does not trust is refused; a task of an envelope is read by A2A")
    void otherKeysAreRefused() throws Exception {
        Path file = directory.resolve("mallory.json");
        CardKeys.create(file, CardKeys.Algorithm.ES256, null);
        OneIdentity mallory = north.identity(south).signing(CardKeys.read(List.of(file)));
        try (OneClient client = OneClient.connect(
                mallory,
                AgentClient.builder().sslContext(tls()).connect(south.hub().agentUrl("researcher")))) {
            assertThatThrownBy(() -> client.send(TaskDelegation.of("work")))
                    .isInstanceOfSatisfying(OneException.class, refused -> {
                        assertThat(refused.code()).isEqualTo("invalid_message");
                        assertThat(refused.details()).containsEntry("path", "metadata.security.signature");
                    });
        }
        try (OneClient client = north.client(south);
                AgentClient reader = AgentClient.builder()
                        .sslContext(tls())
                        .connect(south.hub().agentUrl("researcher"));
                Delegated delegated = client.send(TaskDelegation.of("work").parameter("topic", PUBLIC))) {
            var unused = delegated.result().get(60, TimeUnit.SECONDS);

            assertThat(reader.call(GetTask.of(delegated.taskId()), CallContext.anonymous())
                            .state())
                    .isEqualTo(TaskState.COMPLETED);
        }
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private static boolean contains(Path file, String text) {
        try {
            return new String(Files.readAllBytes(file), ISO_8859_1).contains(text);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private KeyStore keys() throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(directory.resolve("keys.p12"))) {
            keys.load(in, PASSWORD);
        }
        return keys;
    }

    /** A certificate for this machine, in PEM for the hubs. */
    private void certificate() throws Exception {
        String keytool = Path.of(requireNonNull(System.getProperty("java.home")), "bin", "keytool")
                .toString();
        Process process = new ProcessBuilder(
                        keytool,
                        "-genkeypair",
                        "-alias",
                        "hub",
                        "-keyalg",
                        "EC",
                        "-groupname",
                        "secp256r1",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        directory.resolve("keys.p12").toString(),
                        "-storepass",
                        "changeit")
                .redirectErrorStream(true)
                .start();
        String printed = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor()).as(printed).isZero();
        KeyStore keys = keys();
        pem("cert.pem", "CERTIFICATE", keys.getCertificate("hub").getEncoded());
        pem("key.pem", "PRIVATE KEY", keys.getKey("hub", PASSWORD).getEncoded());
    }

    private void pem(String file, String label, byte[] der) throws IOException {
        Files.writeString(
                directory.resolve(file),
                "-----BEGIN " + label + "-----\n" + Base64.getMimeEncoder().encodeToString(der) + "\n-----END " + label
                        + "-----\n");
    }

    private SSLContext tls() throws Exception {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("hub", keys().getCertificate("hub"));
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }
}
