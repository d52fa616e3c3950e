package dev.parley.registry.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.registry.Cards;
import dev.parley.registry.Target;
import dev.parley.testkit.Eventually;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import dev.parley.testkit.ExtensionKit.Caller;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Addresses of the machine of a hub, in the deployments of the manual. */
@Timeout(120)
@Tag("heavy")
final class LocalAddressesTest {
    private static final String PUBLIC_URL = "https://agents.example.com";
    private static final Authentication REQUIRED = Authentication.named(List.of("required"));

    /** Deployments of a hub on loopback whose callers are elsewhere. */
    enum Deployment {
        BEHIND_A_PROXY,
        WITH_AUTHENTICATION,
        WITH_AUTHENTICATION_OF_ONE_AGENT,
        WITH_A_PUBLIC_URL;

        HubBuilder hub(int port) {
            HubBuilder hub = Hub.builder()
                    .inMemory()
                    .port(port)
                    .set("registry-probes", "200ms")
                    .agents(Agent.named("echo", "Echoes").handle((in, out) -> out.complete(in.text())));
            return switch (this) {
                case BEHIND_A_PROXY -> hub.authentication(REQUIRED).publicUrl(PUBLIC_URL);
                case WITH_AUTHENTICATION -> hub.authentication(REQUIRED);
                case WITH_AUTHENTICATION_OF_ONE_AGENT -> hub.authentication("echo", REQUIRED);
                case WITH_A_PUBLIC_URL -> hub.publicUrl(PUBLIC_URL);
            };
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Caller caller(Hub hub, int port) {
        String local = "http://127.0.0.1:" + port;
        return hub.bootstrapKey()
                .map(key -> ExtensionKit.caller(local, "X-Api-Key", key))
                .orElseGet(() -> ExtensionKit.caller(local));
    }

    private static Target secret() throws Exception {
        return new Target()
                .at("/", Target.answering(200, "{\"name\":\"secret\"}"))
                .at("/.well-known/agent-card.json", Target.answering(200, Cards.v1("Secret", "tell")))
                .at("/registry/revocations", Target.answering(200, "{}"));
    }

    private static List<String> forms(int port) {
        return Stream.of(
                        "127.0.0.1",
                        "127.1",
                        "2130706433",
                        "0177.0.0.1",
                        "0x7f.0.0.1",
                        "localhost",
                        "LOCALHOST.",
                        "[::1]",
                        "[::ffff:127.0.0.1]",
                        "[::ffff:7f00:1]",
                        "0.0.0.0")
                .map(host -> "http://" + host + ":" + port + "/")
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("T3, S113: callers of a hub whose callers are elsewhere read no service of its machine")
    void callersFromElsewhereReadNoLocalService(Deployment deployment) throws Exception {
        int port = freePort();
        try (Target secret = secret();
                Hub hub = deployment.hub(port).start()) {
            Caller web = caller(hub, port);

            for (String url : forms(secret.port())) {
                for (String type : List.of("application/json", "application/a2a-agent-card+json")) {
                    Answer refused = web.post("/registry/agents", "{'url':'" + url + "','type':'" + type + "'}");

                    assertThat(refused.status()).as(url).isBetween(400, 499);
                    assertThat(refused.text()).as(url).doesNotContain("secret");
                }
            }
            // A card that the caller gives: its address, its interface and its attestation are probed.
            String id = register(web, secret);
            Eventually.value(
                    "status",
                    () -> web.get("/registry/agents/" + id + "/health").text("status"),
                    "down"::equals);
            assertThat(web.send("PUT", "/registry/agents/" + id, "{}").status()).isBetween(400, 499);
            if (hub.bootstrapKey().isPresent()) {
                Answer peer = web.send("PUT", "/admin/registry/peers/p", "{\"url\":\"" + secret.url() + "\"}");
                assertThat(peer.text()).doesNotContain("secret");
            }

            assertThat(secret.requests).isEmpty();
        }
    }

    private static String register(Caller web, Target secret) throws Exception {
        Map<?, ?> card = Json.read(
                Cards.v1("Given", "act")
                        .replace("https://given.example/a2a", secret.url() + "/a2a")
                        .replace(
                                "\"streaming\":true",
                                "\"streaming\":true,\"teeDetails\":{\"type\":\"SGX\",\"attestationEndpoint\":\""
                                        + secret.url() + "/attestation\"}")
                        .getBytes(UTF_8),
                Map.class);
        Answer registered = web.post(
                "/registry/agents", new String(Json.write(Map.of("card", card, "url", secret.url() + "/")), UTF_8));
        assertThat(registered.status()).as(registered.text()).isEqualTo(200);
        return registered.text("id");
    }

    @Test
    @DisplayName("T3: --fetch-allow permits them, and a hub for callers on its machine needs none")
    void allowedOnes() throws Exception {
        int port = freePort();
        try (Target secret = secret();
                Hub hub = Deployment.BEHIND_A_PROXY
                        .hub(port)
                        .set("fetch-allow", "127.0.0.1")
                        .start();
                Hub local = Hub.builder().inMemory().port(0).start()) {
            for (Caller web : List.of(caller(hub, port), ExtensionKit.caller(local.url()))) {
                Answer registered = web.post("/registry/agents", "{'url':'" + secret.url() + "/'}");

                assertThat(registered.status()).as(registered.text()).isEqualTo(200);
                assertThat(registered.text("name")).isEqualTo("Secret");
            }
        }
    }
}
