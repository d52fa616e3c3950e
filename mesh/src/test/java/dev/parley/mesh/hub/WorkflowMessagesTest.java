package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.mesh.Envelope;
import dev.parley.mesh.EnvelopeModel;
import dev.parley.mesh.SignedForm;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Messages of the mesh at the address of workflows: the same checks as at the address of an agent. */
@Timeout(120)
final class WorkflowMessagesTest {
    private static final String WORKFLOW =
            "{'workflow':{'steps':[{'agent':'echo','task':'say','parameters':{'text':'x'}}]}}";
    private static final String[] VERSION = {"A2A-Version", "1.0"};

    @TempDir
    private Path directory;

    private static HubBuilder hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named("echo", "Echoes")
                        .skill("say", "Says it again")
                        .handle((request, reply) -> reply.complete(request.text())));
    }

    private static String coordination(String id, String content) {
        return Peer.envelope(id, "one", "coordination", content, "{}");
    }

    private CardKeys keys(String name) {
        Path file = directory.resolve(name + ".json");
        CardKeys.create(file, CardKeys.Algorithm.EDDSA, null);
        return CardKeys.read(List.of(file));
    }

    private static String signed(String id, String to, CardKeys keys) {
        String json = coordination(id, WORKFLOW)
                .replace("https://b.example/agents/one/one", to)
                .replace('\'', '"');
        Envelope envelope = EnvelopeModel.ENVELOPE
                .fromJson(Json.read(json.getBytes(UTF_8), Map.class))
                .at(Instant.now());
        return new String(
                Json.write(requireNonNull(EnvelopeModel.ENVELOPE.toJson(SignedForm.sign(envelope, keys::sign)))),
                UTF_8);
    }

    @Test
    @DisplayName(
            "ONE13, ONE36, T9 with required signatures, unsigned, forged and changed messages begin no run; a signed one begins one,"
                    + " once")
    void signatures() throws Exception {
        CardKeys planner = keys("planner");
        Path trusted = Files.write(
                directory.resolve("trusted.json"),
                CardTrust.entry(new String(planner.published(), UTF_8), List.of("a.example")));
        try (Hub hub = hub().set("one-trust", trusted.toString())
                .set("one-require-signatures", "true")
                .start()) {
            var peer = new Peer(hub.url());
            String to = hub.agentUrl("one") + "/one";

            assertRefused(post(peer, coordination("m-1", WORKFLOW)), "signature");
            assertRefused(post(peer, "{'type':'coordination'," + WORKFLOW.substring(1)), "signature");
            assertRefused(post(peer, signed("m-2", to, keys("mallory"))), "signature");
            assertRefused(post(peer, signed("m-3", to, planner).replace("\"x\"", "\"y\"")), "signature");
            assertRefused(post(peer, signed("m-4", "https://c.example/one", planner)), "to.endpoint");

            Answer first = post(peer, signed("m-5", to, planner));
            assertThat(first.status()).as(first.body()).isEqualTo(200);
            assertThat(post(peer, signed("m-5", to, planner)).at("workflowId")).isEqualTo(first.at("workflowId"));
            assertThat(post(peer, WORKFLOW).status())
                    .as("a document is not a message of the mesh")
                    .isEqualTo(200);
            assertThat(message(peer, coordination("m-6", WORKFLOW))).contains("REJECTED", "envelope");
        }
    }

    @Test
    @DisplayName("T9 a message in the name of another principal begins no run")
    void senders() throws Exception {
        Callers callers = Callers.builder().apiKey("ann", "key-of-ann-12345").build();
        try (Hub hub = hub().callers(callers)
                .authentication(Authentication.of(Scheme.API_KEY))
                .start()) {
            var peer = new Peer(hub.url());
            String[] ann = {"A2A-Version", "1.0", "X-API-Key", "key-of-ann-12345"};

            assertRefused(peer.post("/one/workflows", coordination("m-1", WORKFLOW), ann), "from.agentId");
            assertRefused(
                    peer.post("/one/workflows", "{'type':'coordination','from':'boss'," + WORKFLOW.substring(1), ann),
                    "from.agentId");
            assertThat(peer.post("/one/workflows", "{'type':'coordination','from':'ann'," + WORKFLOW.substring(1), ann)
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    @DisplayName("T9 messages without required signatures begin runs in each form; others are refused")
    void forms() throws Exception {
        try (Hub hub = hub().start()) {
            var peer = new Peer(hub.url());

            for (String form : List.of(
                    WORKFLOW,
                    "{'type':'coordination'," + WORKFLOW.substring(1),
                    "{'type':'coordination','from':'a','to':'one','messageId':'s'," + WORKFLOW.substring(1),
                    "{'version':'1.0','message':{'type':'coordination','content':" + WORKFLOW + "}}",
                    coordination("m-1", WORKFLOW))) {
                Answer answer = post(peer, form);
                assertThat(answer.status()).as(answer.body()).isEqualTo(200);
                assertThat(answer.text("steps", 0, "id")).isEqualTo("echo");
            }
            assertRefused(post(peer, "{'type':'response'," + WORKFLOW.substring(1)), "type");
            assertRefused(post(peer, Peer.envelope("m-2", "one", "query", "{'query':'x'}", "{}")), "message.type");
            assertRefused(
                    post(peer, coordination("m-3", "{'workflow':{'steps':[{'agent':'echo','taks':'say'}]}}")), "taks");
            assertThat(post(peer, Peer.envelope("m-4", "nobody", "coordination", WORKFLOW, "{}"))
                            .status())
                    .isEqualTo(404);
        }
    }

    private static Answer post(Peer peer, String body) throws Exception {
        return peer.post("/one/workflows", body, VERSION);
    }

    private static String message(Peer peer, String data) throws Exception {
        return peer.post(
                        "/one/message:send",
                        "{'message':{'messageId':'a','role':'ROLE_USER','parts':[{'data':" + data + "}]}}",
                        VERSION)
                .body();
    }

    private static void assertRefused(Answer answer, String place) {
        assertThat(answer.status()).as(answer.body()).isEqualTo(400);
        assertThat(answer.body()).contains(place);
    }
}
