package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.SignedForm;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.protocol.Part;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Signatures and encryption of messages, as a peer sees them. */
@Timeout(120)
@Tag("heavy")
final class MessageSecurityTest {
    private static final String SIGNATURE_PATH = "metadata.security.signature";

    @TempDir
    private Path directory;

    private final CountDownLatch released = new CountDownLatch(1);
    private CardKeys planner;
    private CardKeys own;
    private Hub hub;
    private Peer peer;

    @BeforeEach
    void start() throws Exception {
        planner = keys("planner");
        own = keys("hub");
        Path trusted = Files.write(
                directory.resolve("trusted.json"),
                CardTrust.entry(new String(planner.published(), UTF_8), List.of("a.example")));
        Agent echo = Agent.named("echo", "Echoes").skill("say", "Says it again").handle((request, reply) -> {
            if (request.text().equals("later")) {
                assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
            }
            reply.complete(request.text());
        });
        Agent sealed = Agent.named("sealed", "Hands back ciphertext")
                .skill("say", "Says it again")
                .inputModes("text/plain", Envelope.ENCRYPTED)
                .handle((request, reply) ->
                        reply.complete(Part.text(request.parts().getFirst().mediaType() + " " + request.text())));
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .cardKeys(own)
                .set("webhook-allow", "127.0.0.1")
                .set("one-trust", trusted.toString())
                .agents(echo, sealed)
                .start();
        peer = new Peer(hub.url());
    }

    @AfterEach
    void stop() {
        released.countDown();
        hub.close();
    }

    @Test
    @DisplayName("ONE13: a message that a trusted key has signed is accepted; the hub signs its answer")
    void signed() throws Exception {
        Answer answer = post(signed("m-1", "https://a.example/agents/planner", planner, Instant.now()));

        assertThat(answer.status()).isEqualTo(202);
        Map<?, ?> message = Json.read(answer.body().getBytes(UTF_8), Map.class);
        assertThat(CardTrust.of(new String(own.published(), UTF_8))
                        .verify(SignedForm.of(message), answer.text("metadata", "security", "signature"), "b.example")
                        .isVerified())
                .isTrue();
    }

    @Test
    @DisplayName(
            "ONE13: changed, stale and undated messages, and those of other keys and hosts, are refused with the path")
    void refused() throws Exception {
        String endpoint = "https://a.example/agents/planner";
        var changed = new LinkedHashMap<>(signed("m-1", endpoint, planner, Instant.now()));
        changed.put("correlationId", "other");
        var undated = new LinkedHashMap<>(signed("m-2", endpoint, planner, Instant.now()));
        undated.remove("timestamp");

        assertRefused(post(changed), SIGNATURE_PATH);
        assertRefused(post(undated), "timestamp");
        assertRefused(post(signed("m-3", endpoint, planner, Instant.now().minusSeconds(400))), "timestamp");
        assertRefused(post(signed("m-4", endpoint, keys("mallory"), Instant.now())), SIGNATURE_PATH);
        assertRefused(post(signed("m-5", "https://c.example/x", planner, Instant.now())), SIGNATURE_PATH);
        assertThat(peer.delegate("m-6", "echo", "say", "unsigned").status()).isEqualTo(202);
    }

    @Test
    @DisplayName("ONE13: a message that was signed for an agent of another hub is refused, whatever its name")
    void signedForAnother() throws Exception {
        String sender = "https://a.example/agents/planner";
        String elsewhere = "https://b.example/agents/echo/one";

        assertRefused(post(signed("m-1", sender, elsewhere, planner, Instant.now())), "to.endpoint");
        assertRefused(post(signed("m-2", sender, hub.url() + "/agents/sealed", planner, Instant.now())), "to.endpoint");
        assertThat(post(signed("m-3", sender, hub.agentUrl("echo"), planner, Instant.now()))
                        .status())
                .isEqualTo(202);
    }

    @Test
    @DisplayName(
            "ONE13: the keys of this hub count for its own agents, and published ones for the hub that the operator names")
    void keysOfTheSender() throws Exception {
        assertThat(post(signed("m-1", hub.agentUrl("echo"), own, Instant.now())).status())
                .isEqualTo(202);
        assertRefused(post(signed("m-2", "https://b.example/agents/planner", own, Instant.now())), SIGNATURE_PATH);

        Agent echo = Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> reply.complete("x"));
        try (Hub named = Hub.builder()
                .inMemory()
                .port(0)
                .set("one-trust-hosts", hub.url())
                .set("one-require-signatures", "true")
                .agents(echo)
                .start()) {
            peer = new Peer(named.url());
            String endpoint = hub.agentUrl("planner");

            assertThat(post(signed("m-3", endpoint, own, Instant.now())).status())
                    .isEqualTo(202);
            assertRefused(post(signed("m-4", endpoint, keys("mallory"), Instant.now())), SIGNATURE_PATH);
            assertRefused(post(signed("m-5", "https://b.example/x", own, Instant.now())), SIGNATURE_PATH);
            assertRefused(peer.delegate("m-6", "echo", "say", "unsigned"), SIGNATURE_PATH);

            String unsigned = Peer.envelope("m-7", "echo", "query", "{'query':'x'}", "{}");
            String forged = Peer.envelope(
                    "m-8", "echo", "query", "{'query':'x'}", "{'security':{'encrypted':false,'signature':'a..b'}}");
            for (String envelope : List.of(unsigned, forged)) {
                Answer refused = peer.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'one/send','params':" + envelope + "}",
                        "A2A-Version",
                        "1.0");
                assertThat(refused.body()).as("T9 over JSON-RPC").contains("\"error\"", "sign");
            }
        }
    }

    @Test
    @DisplayName("ONE13: a hub whose keys cannot be fetched delays only messages of its agents")
    void unreachableKeys() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").skill("say", "Says").handle((request, reply) -> reply.complete("x"));
        String closed = "http://127.0.0.1:1";
        try (Hub named = Hub.builder()
                .inMemory()
                .port(0)
                .set("one-trust-hosts", closed + "," + hub.url())
                .agents(echo)
                .start()) {
            peer = new Peer(named.url());

            Answer unavailable = post(signed("m-1", closed + "/agents/planner", planner, Instant.now()));
            Answer other = post(signed("m-2", hub.agentUrl("planner"), own, Instant.now()));

            assertThat(unavailable.status()).as(unavailable.body()).isEqualTo(503);
            assertThat(unavailable.content("retryable")).isEqualTo(true);
            assertThat(unavailable.header("Retry-After")).isEqualTo("10");
            assertThat(other.status()).isEqualTo(202);
        }
    }

    private static void assertRefused(Answer answer, String path) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(answer.content("code")).isEqualTo("invalid_message");
        assertThat(answer.content("details", "path")).isEqualTo(path);
    }

    @Test
    @DisplayName(
            "ONE30: encrypted content reaches an agent that takes it, unread; others, and other forms, are refused")
    void encrypted() throws Exception {
        ContentKeys.create(directory.resolve("enc.json"));
        String jwe = ContentKeys.read(directory.resolve("enc.json"))
                .encrypt("{\"task\":\"say\",\"parameters\":{}}".getBytes(UTF_8), "planner", "sealed");
        String encrypted = "{'security':{'encrypted':true}}";

        Answer taken = encrypted("e-1", "sealed", "query", jwe, "application/jose", encrypted);
        assertThat(taken.status()).as(taken.body()).isEqualTo(200);
        assertThat(taken.content("result")).isEqualTo("application/jose " + jwe);
        assertThat(encrypted("e-2", "sealed", "task_delegation", jwe, "application/jose", encrypted)
                        .status())
                .isEqualTo(202);
        Answer unable = encrypted("e-3", "echo", "task_delegation", jwe, "application/jose", encrypted);
        assertThat(unable.status()).isEqualTo(422);
        assertThat(unable.content("code")).isEqualTo("capability_mismatch");
        assertThat(encrypted("e-4", "sealed", "query", jwe, "application/jose", "{}")
                        .content("details", "path"))
                .isEqualTo("message.mimeType");
        assertThat(encrypted("e-5", "sealed", "query", "no jwe", "application/jose", encrypted)
                        .content("details", "path"))
                .isEqualTo("message.content");
        assertThat(encrypted("e-6", "sealed", "feedback", jwe, "application/jose", encrypted)
                        .content("details", "path"))
                .isEqualTo("message.type");
    }

    @Test
    @DisplayName("ONE30: callbacks of an encrypted delegation whose sender names a key are encrypted for the sender")
    void encryptedCallbacks() throws Exception {
        Path file = directory.resolve("enc.json");
        ContentKeys.create(file);
        ContentKeys keys = ContentKeys.read(file);
        String jwe = keys.encrypt("{\"task\":\"say\"}".getBytes(UTF_8), "planner", "sealed");
        try (var sink = new Sink(0)) {
            String security = "{'security':{'encrypted':true,'callback':'%s','key':%s}}"
                    .formatted(sink.url(), Files.readString(file).replace('"', '\''));
            Answer accepted = encrypted("k-1", "sealed", "task_delegation", jwe, "application/jose", security);
            assertThat(accepted.status()).as(accepted.body()).isEqualTo(202);

            List<Sink.Callback> all = sink.until(callback -> callback.type().equals("task_result"));

            for (Sink.Callback callback : all) {
                assertThat(callback.message().get("mimeType")).isEqualTo("application/jose");
                assertThat(callback.envelope().toString()).contains("encrypted=true");
            }
            byte[] content = keys.decrypt(String.valueOf(all.getLast().message().get("content")), "sealed", "planner");
            assertThat(Json.read(content, Map.class).get("result")).isEqualTo("application/jose " + jwe);
            String task = String.valueOf(accepted.content("taskId"));
            assertThat(peer.get("/agents/sealed/tasks/" + task, "A2A-Version", "1.0")
                            .body())
                    .as("the task does not keep the private key that was sent by mistake")
                    .contains("\"key\"")
                    .doesNotContain("\"d\"");
        }
    }

    @Test
    @DisplayName("ONE30: a callback of encrypted content needs a key, and a key for encryption")
    void incompleteReplies() throws Exception {
        String jwe = "eyJ9.a.b.c.d";
        String callback = "'callback':'https://a.example/cb'";
        for (String security : List.of(
                "{'encrypted':true," + callback + "}",
                "{'encrypted':true," + callback + ",'key':{'kty':'OKP'}}",
                "{'encrypted':true,'key':{'kty':'EC'}}")) {
            Answer refused = encrypted(
                    "k-1", "sealed", "task_delegation", jwe, "application/jose", "{'security':" + security + "}");

            assertThat(refused.status()).as(security).isEqualTo(400);
            assertThat(refused.text("message", "content", "details", "path")).startsWith("metadata.security");
        }
    }

    @Test
    @DisplayName("reading a task with Prefer: wait answers when the task has ended")
    void readingWaits() throws Exception {
        String task =
                String.valueOf(peer.delegate("w-1", "echo", "say", "later").content("taskId"));
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var reading = threads.submit(() -> peer.get("/agents/echo/one/tasks/" + task, "Prefer", "wait=60"));
            released.countDown();

            Answer read = reading.get(60, TimeUnit.SECONDS);

            assertThat(read.type()).isEqualTo("task_result");
            assertThat(read.content("result")).isEqualTo("later");
        }
    }

    private Answer encrypted(String id, String to, String type, String content, String mimeType, String metadata)
            throws Exception {
        String body = Peer.envelope(id, to, type, "'" + content + "'", metadata)
                .replace("'mimeType':'application/json'", "'mimeType':'" + mimeType + "'");
        return peer.post("/agents/" + to + "/one", body);
    }

    private Answer post(Map<?, ?> message) throws Exception {
        return peer.post("/agents/echo/one", new String(Json.write(message), UTF_8));
    }

    private Map<String, Object> signed(String id, String endpoint, CardKeys keys, Instant at) {
        return signed(id, endpoint, peer.caller().base() + "/agents/echo/one", keys, at);
    }

    private static Map<String, Object> signed(String id, String from, String to, CardKeys keys, Instant at) {
        String json = Peer.envelope(id, "echo", "task_delegation", "{'task':'say','parameters':{'text':'x'}}", "{}")
                .replace("https://a.example/agents/planner", from)
                .replace("https://b.example/agents/echo/one", to)
                .replace('\'', '"');
        Envelope envelope = EnvelopeModel.ENVELOPE
                .fromJson(Json.read(json.getBytes(UTF_8), Map.class))
                .at(at);
        Map<?, ?> signed =
                (Map<?, ?>) requireNonNull(EnvelopeModel.ENVELOPE.toJson(SignedForm.sign(envelope, keys::sign)));
        var members = new LinkedHashMap<String, Object>();
        signed.forEach((name, value) -> members.put(String.valueOf(name), value));
        return members;
    }

    private CardKeys keys(String name) {
        Path file = directory.resolve(name + ".json");
        CardKeys.create(file, CardKeys.Algorithm.EDDSA, null);
        return CardKeys.read(List.of(file));
    }
}
