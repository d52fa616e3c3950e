package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.Part;
import dev.parley.registry.Cards;
import dev.parley.registry.Target;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Probes of a registry, over HTTP. */
@Timeout(180)
@Tag("heavy")
final class HealthHubTest {
    private Target target;

    @BeforeEach
    void start() throws Exception {
        target = new Target();
    }

    @AfterEach
    void stop() {
        target.close();
    }

    private static HubBuilder hub() {
        return Hub.builder().inMemory().port(0).set("registry-probes", "200ms").set("fetch-allow", "127.0.0.1");
    }

    /** A card of an agent at the target. */
    private String card(String name, String... skills) {
        return Cards.v1(name, skills).replaceAll("https://[a-z]*\\.example/a2a", target.url() + "/a2a");
    }

    private static String registered(Caller web, String url) throws Exception {
        Answer answer = web.post("/registry/agents", "{'visibility':'public','url':'" + url + "'}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
        return answer.text("id");
    }

    @Test
    @DisplayName("probes tell drift, credentials, protocol and connections apart, and when it began")
    void probesTellWhatFailed() throws Exception {
        target.at("/card.json", Target.answering(200, card("Translator", "translate")));
        try (Hub hub = hub().start()) {
            var web = ExtensionKit.caller(hub.url());
            String path = "/registry/agents/" + registered(web, target.url() + "/card.json") + "/health";
            Eventually.value("status", () -> web.get(path).text("status"), "up"::equals);

            target.at("/card.json", Target.answering(200, card("Translator", "translate", "steal")));
            Answer drifted = Eventually.value(
                    "card-drift", () -> web.get(path), answer -> "card-drift".equals(answer.text("cause")));
            assertThat(drifted.text("status")).isEqualTo("degraded");
            assertThat(drifted.text("reason")).contains("skills");

            target.at("/card.json", Target.answering(401, "{}"));
            Eventually.value("cause", () -> web.get(path).text("cause"), "authentication"::equals);

            target.at("/card.json", Target.answering(503, "{}"));
            Answer broken = Eventually.value(
                    "protocol", () -> web.get(path), answer -> "protocol".equals(answer.text("cause")));
            assertThat(broken.text("status")).isEqualTo("down");

            target.close();
            Answer gone =
                    Eventually.value("connect", () -> web.get(path), answer -> "connect".equals(answer.text("cause")));
            assertThat(gone.text("status")).isEqualTo("down");
            assertThat(gone.text("since")).isEqualTo(broken.text("since"));
            assertThat((List<?>) gone.at("probes")).isNotEmpty();
            assertThat(web.get("/registry/agents?health=down").each("agents", "name"))
                    .containsExactly("Translator");
        }
    }

    @Test
    void theSameCardWithAnotherSignatureIsNoDrift() throws Exception {
        String card = card("Translator", "translate");
        target.at("/card.json", Target.answering(200, card));
        try (Hub hub = hub().start()) {
            var web = ExtensionKit.caller(hub.url());
            String path = "/registry/agents/" + registered(web, target.url() + "/card.json") + "/health";
            Eventually.value("status", () -> web.get(path).text("status"), "up"::equals);
            target.requests.clear();
            target.at(
                    "/card.json",
                    Target.answering(
                            200,
                            card.replaceFirst(
                                    "\\{", "{\"signatures\":[{\"protected\":\"e30\",\"signature\":\"AA\"}],")));
            Eventually.holds("three probes", () -> target.requests.size() >= 3);
            assertThat(web.get(path).text("status")).isEqualTo("up");
        }
    }

    @Test
    @DisplayName("an agent with cards of several versions is up, and unsigned without a trusted key")
    void cardsOfSeveralVersions() throws Exception {
        Agent echo = Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text()));
        try (Hub hub = hub().agents(echo).start()) {
            var web = ExtensionKit.caller(hub.url());
            String agent = "/registry/agents/" + registered(web, hub.agentUrl("echo"));

            Eventually.value("status", () -> web.get(agent + "/health").text("status"), "up"::equals);

            assertThat(web.get(agent).text("trust", "outcome")).isEqualTo("unsigned");
        }
    }

    @Test
    void anAgentAtAnUnknownHostOrWithoutTlsIsDownForThatReason() throws Exception {
        target.at("/card.json", Target.answering(200, Cards.v1("Nowhere", "translate")));
        try (Hub hub = hub().start()) {
            var web = ExtensionKit.caller(hub.url());
            String unknown = registered(web, target.url() + "/card.json");
            Eventually.value(
                    "cause",
                    () -> web.get("/registry/agents/" + unknown + "/health").text("cause"),
                    "dns"::equals);

            try (var plain = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
                Thread.ofVirtual().start(() -> answerPlainly(plain));
                target.at(
                        "/tls.json",
                        Target.answering(
                                200,
                                Cards.v1("Tls", "translate")
                                        .replaceAll(
                                                "https://[a-z]*\\.example/a2a",
                                                "https://127.0.0.1:" + plain.getLocalPort() + "/a2a")));
                String tls = registered(web, target.url() + "/tls.json");
                Eventually.value(
                        "cause",
                        () -> web.get("/registry/agents/" + tls + "/health").text("cause"),
                        "tls"::equals);
            }
        }
    }

    private static void answerPlainly(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                socket.getOutputStream().write("HTTP/1.0 400 no TLS\r\n\r\n".getBytes(US_ASCII));
            } catch (IOException closed) {
                return;
            }
        }
    }

    @Test
    @DisplayName("targets that never answer do not stop the probes of other agents")
    void silentTargetsDelayNoOthers() throws Exception {
        try (Hub hub = hub().start();
                var quick = new Target()) {
            var web = ExtensionKit.caller(hub.url());
            for (int i = 0; i < 20; i++) {
                target.at("/slow" + i + ".json", Target.answering(200, card("Slow" + i, "wait")));
                registered(web, target.url() + "/slow" + i + ".json");
                target.at("/slow" + i + ".json", Target.silent());
            }
            quick.at("/card.json", Target.answering(200, card("Quick", "run").replace(target.url(), quick.url())));
            String path = "/registry/agents/" + registered(web, quick.url() + "/card.json") + "/health";

            Eventually.value("status", () -> web.get(path).text("status"), "up"::equals);
        }
    }

    @Test
    @DisplayName("health of the hub's own agents comes from their runs")
    void ownAgentsHaveTheHealthOfTheirRuns() throws Exception {
        Agent failing = Agent.named("broken", "Fails").skill("fail", "Fails").handle((request, reply) -> {
            throw new IllegalStateException("broken");
        });
        Agent echo = Agent.named("sound", "Echoes")
                .skill("echo", "Echoes")
                .handle((request, reply) -> reply.complete(Part.text(request.text())));
        try (Hub hub = hub().start()) {
            hub.host(failing);
            hub.host(echo);
            var web = ExtensionKit.caller(hub.url());
            String broken = "/registry/agents/urn:air:agent.localhost:agents:broken";
            Eventually.value("health", () -> web.get(broken).text("health", "status"), "up"::equals);
            for (int i = 0; i < 6; i++) {
                web.post(
                        "/agents/broken",
                        "{'jsonrpc':'2.0','id':1,'method':'message/send','params':{'message':{'kind':'message','messageId':'m"
                                + i + "','role':'user','parts':[{'kind':'text','text':'x'}]}}}");
            }
            Answer down = Eventually.value(
                    "down", () -> web.get(broken), answer -> "down".equals(answer.text("health", "status")));
            assertThat(down.text("health", "cause")).isEqualTo("errors");
            assertThat(down.text("health", "reason")).contains("of", "runs failed");
            assertThat(web.get("/registry/agents/urn:air:agent.localhost:agents:sound")
                            .text("health", "status"))
                    .isEqualTo("up");
        }
    }
}
