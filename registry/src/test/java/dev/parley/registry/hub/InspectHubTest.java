package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.dialect.served.CardPayload;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.registry.Cards;
import dev.parley.registry.Target;
import dev.parley.registry.trust.Signer;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Inspection of cards over HTTP. */
@Timeout(120)
@Tag("heavy")
final class InspectHubTest {
    private static final String PLACE = "/.well-known/agent-card.json";

    @TempDir
    Path directory;

    private static HubBuilder hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named("echo", "Echoes")
                        .skill("echo", "Echoes")
                        .handle((in, out) -> out.complete(in.text())));
    }

    private static String bytes(byte[] card) {
        return "{'bytes':'" + Base64.getEncoder().encodeToString(card) + "'}";
    }

    private static String legacy(String version, String url) {
        return """
            {"protocolVersion":"%s","name":"Old","description":"An older agent","url":"%s","version":"1",
             "capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
             "skills":[{"id":"a","name":"A","description":"Does a","tags":["a"]}],"security":[{"key":[]}]}""".formatted(version, url);
    }

    private static int unusedPort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Test
    void aCardOfEachDialectIsRecognizedWithItsFindings() throws Exception {
        try (Hub hub = hub().start()) {
            var web = ExtensionKit.caller(hub.url());
            Answer before = web.get("/registry/agents");

            Answer v1 = web.post("/registry/inspect", "{'card':" + Cards.v1("New", "add") + "}");
            Answer v03 = web.post("/registry/inspect", "{'card':" + legacy("0.3.0", "http://old.example/a2a") + "}");
            Answer v02 = web.post("/registry/inspect", "{'card':" + legacy("0.2.5", "https://old.example/a2a") + "}");
            Answer v01 = web.post(
                    "/registry/inspect",
                    "{'card':{'name':'Oldest','url':'https://old.example','version':'1','capabilities':{},'skills':"
                            + "[{'id':'a','name':'A'}],'authentication':{'schemes':['bearer']}}}");
            Answer vault = web.post(
                    "/registry/inspect", "{'card':{'humanReadableId':'a/b','schemaVersion':'1.0','authSchemes':[]}}");

            assertThat(v1.text("dialect")).as(v1.text()).isEqualTo("A2A 1.0");
            assertThat(v1.each("findings", "pointer")).containsExactly("/signatures");
            assertThat(v1.text("asV1", "name")).isEqualTo("New");
            assertThat(v03.text("dialect")).isEqualTo("A2A 0.3");
            assertThat(v03.each("findings", "pointer")).contains("/security/0/key", "/url");
            assertThat(v03.each("findings", "clause")).contains("A2A 0.3, 5.5.3", "A2A 0.3, 4.1");
            assertThat(v03.text("interfaces", 0, "binding")).isEqualTo("JSONRPC");
            assertThat(v02.text("dialect")).isEqualTo("A2A 0.2");
            assertThat(v01.text("dialect")).isEqualTo("A2A 0.1");
            assertThat(v01.text("asV1", "supportedInterfaces", 0, "url")).isEqualTo("https://old.example");
            assertThat(vault.text("dialect")).isEqualTo("AgentVault 0.2");
            assertThat(web.get("/registry/agents").each("agents", "id"))
                    .as("nothing is registered")
                    .isEqualTo(before.each("agents", "id"));
        }
    }

    @Test
    void findingsHaveSeverityClausePointerAndFix() throws Exception {
        try (Hub hub = hub().start()) {
            Answer answer = ExtensionKit.caller(hub.url())
                    .post(
                            "/registry/inspect",
                            "{'card':{'name':'Draft','description':'','supportedInterfaces':[{'url':'ftp://a'}],"
                                    + "'skills':[{'id':'a','name':'A','description':'a','tags':[]},{'id':'a','name':'B',"
                                    + "'description':'b','tags':['b']}],'password':'Zk3jQ9xR2vLp8mTw'}}");

            List<Object> findings = List.copyOf((List<?>) requireNonNull(answer.at("findings")));
            assertThat(findings)
                    .as(answer.text())
                    .contains(Map.of(
                            "severity",
                            "error",
                            "clause",
                            "A2A 1.0, 4.4.1",
                            "pointer",
                            "/version",
                            "message",
                            "is missing (expected: a text)",
                            "fix",
                            "Add \"version\": for example \"1.0.0\""));
            assertThat(answer.each("findings", "pointer"))
                    .contains(
                            "/password",
                            "/supportedInterfaces/0/url",
                            "/supportedInterfaces/0/protocolBinding",
                            "/skills/1/id",
                            "/skills/0/tags",
                            "/description",
                            "/signatures");
            assertThat(answer.each("findings", "severity")).containsSubsequence("error", "warning", "note");
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void signaturesAreVerifiedTamperedUnverifiableOrAbsent() throws Exception {
        var signer = new Signer();
        byte[] card = Cards.v1("Signed", "add").getBytes(UTF_8);
        Map<String, Object> members = Json.read(card, Map.class);
        byte[] signed = Json.write(signer.signed(members, CardPayload.of(card).whole(), "k1"));
        byte[] foreign =
                Json.write(new Signer().signed(members, CardPayload.of(card).whole(), "k2"));
        byte[] changed =
                new String(signed, UTF_8).replace("Does add", "Does evil").getBytes(UTF_8);
        Path keys = directory.resolve("keys.json");
        Files.write(keys, Json.write(Map.of("keys", List.of(signer.jwk("k1")))));
        try (Hub hub = hub().set("registry-trust", keys.toString()).start()) {
            var web = ExtensionKit.caller(hub.url());

            Answer good = web.post("/registry/inspect", bytes(signed));
            assertThat(good.text("signature", "outcome")).as(good.text()).isEqualTo("verified");
            assertThat(good.text("signature", "keyId")).isEqualTo("k1");
            assertThat(good.text("signature", "signatures", 0, "kid")).isEqualTo("k1");
            Answer tampered = web.post("/registry/inspect", bytes(changed));
            assertThat(tampered.text("signature", "outcome")).isEqualTo("tampered");
            assertThat(tampered.text("signature", "reason")).contains("key k1 has not signed this");
            Answer unknown = web.post("/registry/inspect", bytes(foreign));
            assertThat(unknown.text("signature", "outcome")).isEqualTo("unverifiable");
            Answer absent = web.post("/registry/inspect", bytes(card));
            assertThat(absent.text("signature", "outcome")).isEqualTo("unsigned");
        }
    }

    @Test
    void aCardAtAnAddressIsFetchedAndItsInterfacesAreProbedAtOnce() throws Exception {
        try (Target target = new Target();
                Hub hub = hub().start()) {
            String down = "http://127.0.0.1:" + unusedPort() + "/a2a";
            String card = Cards.v1("Remote", "add").replace("\"supportedInterfaces\":[", """
                            "supportedInterfaces":[{"url":"%s/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
                            {"url":"%s","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
                            {"url":"%s/never","protocolBinding":"JSONRPC","protocolVersion":"1.0"},
                            {"url":"%s/never2","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
                            {"url":"remote:443","protocolBinding":"GRPC","protocolVersion":"1.0"},""".formatted(
                            target.url(), down, target.url(), target.url()));
            var others = new CountDownLatch(2);
            Target.Reply never = exchange -> {
                others.countDown();
                Target.silent().to(exchange);
            };
            target.at(PLACE, Target.answering(200, card))
                    .at("/a2a", exchange -> {
                        others.await(); // not answered if the others are probed after it
                        Target.answering(405, "").to(exchange);
                    })
                    .at("/never", never)
                    .at("/never2", never);
            var web = ExtensionKit.caller(hub.url());

            Answer answer = web.post("/registry/inspect", "{'url':'" + target.url() + "'}");

            assertThat(answer.text("url")).as(answer.text()).isEqualTo(target.url() + PLACE);
            assertThat(answer.each("interfaces", "reachable").subList(0, 5))
                    .containsExactly("true", "false", "false", "false", "null");
            assertThat(answer.text("interfaces", 1, "cause")).isEqualTo("connect");
            assertThat(answer.text("interfaces", 2, "cause")).isEqualTo("latency");
            assertThat(answer.text("interfaces", 4, "reason")).isEqualTo("gRPC is not probed");
            assertThat(web.get("/registry/agents").each("agents", "name")).doesNotContain("Remote");

            target.requests.clear();
            Answer quiet = web.post("/registry/inspect", "{'card':" + card + ",'probe':false}");
            assertThat(quiet.text("interfaces", 0, "status")).as(quiet.text()).isEqualTo("unknown");
            assertThat(target.requests).isEmpty();
        }
    }

    @Test
    void aDocumentThatIsNoCardIsInspectedOrRefusedWithItsReason() throws Exception {
        try (Target target = new Target();
                Hub hub = hub().start()) {
            target.at(PLACE, Target.answering(200, "{\"name\":5,\"skills\":{}}"))
                    .at("/text.json", Target.answering(200, "no"));
            var web = ExtensionKit.caller(hub.url());

            Answer draft = web.post("/registry/inspect", "{'url':'" + target.url() + "'}");
            assertThat(draft.status()).as(draft.text()).isEqualTo(200);
            assertThat(draft.text("problem")).isNotEqualTo("null");
            assertThat(draft.each("findings", "pointer")).contains("/name", "/skills");

            Answer none = web.post("/registry/inspect", "{'url':'" + target.url() + "/text.json'}");
            assertThat(none.text()).contains("NOT_FETCHED", "no card");
            assertThat(web.post("/registry/inspect", bytes("[1]".getBytes(UTF_8)))
                            .text())
                    .contains("no JSON object");
            assertThat(web.post("/registry/inspect", "{'bytes':'!'}").text()).contains("expected: base64");
            assertThat(web.post("/registry/inspect", bytes(new byte[1024 * 1024 + 1]))
                            .text())
                    .contains("at most 1048576 bytes");
            for (String request : List.of("{}", "{'agent':'echo','url':'https://a.example'}")) {
                Answer refused = web.post("/registry/inspect", request);
                assertThat(refused.status()).as(request).isEqualTo(400);
                assertThat(refused.text()).contains("expected: one of url, card, bytes, agent, id");
            }
            assertThat(web.post("/registry/inspect", "{'agent':'echo','bogus':1}")
                            .text())
                    .contains("bogus: unknown");
        }
    }

    @Test
    void callersFromElsewhereInspectNoPrivateAddressAndNoEntryOfAnotherGroup() throws Exception {
        try (Target secret = new Target().at(PLACE, Target.answering(200, Cards.v1("Secret", "tell")));
                Hub hub = hub().authentication(Authentication.named(List.of("required")))
                        .start()) {
            var admin = ExtensionKit.caller(
                    hub.url(), "X-Api-Key", hub.bootstrapKey().orElseThrow());
            String redirecting = secret.at("/moved.json", Target.redirecting(secret.url() + PLACE))
                            .url() + "/moved.json";

            for (String url : List.of(secret.url(), redirecting, "http://10.0.0.1/card.json", "http://[::1]:1/")) {
                Answer refused = admin.post("/registry/inspect", "{'url':'" + url + "'}");
                assertThat(refused.status()).as(url).isEqualTo(400);
                assertThat(refused.text()).as(url).contains("NOT_FETCHED");
            }
            Answer given = admin.post(
                    "/registry/inspect",
                    "{'card':" + Cards.v1("A", "a").replace("https://a.example/a2a", secret.url() + "/a2a") + "}");
            assertThat(given.text("interfaces", 0, "reachable"))
                    .as(given.text())
                    .isEqualTo("false");
            assertThat(secret.requests).isEmpty();

            String id = admin.post("/registry/agents", Cards.registration(Cards.v1("Mine", "add"), "private"))
                    .text("id");
            String key = admin.post("/admin/keys", "{'group':'others','principal':'eve'}")
                    .text("key");
            var stranger = ExtensionKit.caller(hub.url(), "X-Api-Key", key);
            assertThat(admin.post("/registry/inspect", "{'card':" + Cards.v1("Mine", "add", "subtract") + "}")
                            .text("entry"))
                    .as("the entry that a registration would change")
                    .isEqualTo(id);
            assertThat(admin.post("/registry/inspect", "{'id':'" + id + "'}").text("entry"))
                    .isEqualTo(id);
            Answer hidden = stranger.post("/registry/inspect", "{'id':'" + id + "'}");
            assertThat(hidden.status()).as(hidden.text()).isEqualTo(404);
            assertThat(ExtensionKit.caller(hub.url())
                            .post("/registry/inspect", "{'agent':'echo'}")
                            .status())
                    .isEqualTo(401);
        }
    }

    @Test
    void anAgentOfTheHubIsInspectedByItsName() throws Exception {
        try (Hub hub = hub().start()) {
            var web = ExtensionKit.caller(hub.url());

            Answer answer = web.post("/registry/inspect", "{'agent':'echo'}");

            assertThat(answer.text("card", "name")).as(answer.text()).isEqualTo("echo");
            assertThat(answer.text("interfaces", 0, "reason")).isEqualTo("hosted by this hub");
            assertThat(answer.text("entry")).startsWith("urn:air:");
            assertThat(web.post("/registry/inspect", "{'agent':'nobody'}").status())
                    .isEqualTo(404);
        }
    }
}
