package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;

import com.sun.net.httpserver.HttpServer;
import dev.parley.agents.DemoAgents;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.interop.Check.Result;
import dev.parley.interop.ForeignSdk.Outcome;
import dev.parley.protocol.CardVerifier;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Signatures of cards, both ways with the official SDKs, and of webhooks, by the libraries of Standard Webhooks; all as they
 * are published. When it is skipped, and how the document is kept, is as with {@link InteropTest}.
 */
class SigningInteropTest {
    /** What the SDKs leave out of what they verify; {@code docs/signatures.md} tells more. */
    private static final Set<String> FAULTS_OF_CLIENTS = Set.of("verifies the card of an agent with API keys");

    private static final Map<ForeignSdk, Outcome> OUTCOMES = new HashMap<>();

    @TempDir
    static Path directory;

    private static final List<Hub> HUBS = new ArrayList<>();
    private static HttpServer server;

    @BeforeAll
    static void start() throws IOException, InterruptedException {
        OUTCOMES.clear();
        HUBS.clear();
        var given = new LinkedHashMap<String, Object>();
        BlockingQueue<Map<String, Object>> webhooks = new LinkedBlockingQueue<>();
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/webhook", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
            var headers = new LinkedHashMap<String, Object>();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
            webhooks.add(Map.of("body", body, "headers", headers));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.createContext("/given", exchange -> {
            byte[] json = Json.write(given);
            exchange.sendResponseHeaders(200, json.length);
            exchange.getResponseBody().write(json);
            exchange.close();
        });
        server.start();

        var hubs = new LinkedHashMap<String, Object>();
        hubs.put("ES256", hub(CardKeys.Algorithm.ES256).url());
        hubs.put("EdDSA", hub(CardKeys.Algorithm.EDDSA).url());
        given.put("hubs", hubs);
        given.put("keyed", HUBS.getFirst().agentUrl("keyed"));
        given.put("card", card());
        given.put("webhook", webhook(webhooks));
    }

    private static Hub hub(CardKeys.Algorithm algorithm) {
        Path key = directory.resolve(algorithm + ".json");
        CardKeys.create(key, algorithm, null);
        Hub hub = Hub.builder()
                .port(0)
                .data(directory.resolve(algorithm + "-data"))
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .agents(Agent.named("keyed", "Wants to know who calls")
                        .skill("nothing", "Does nothing", "test")
                        .handle((request, reply) -> reply.complete("")))
                .callers(Callers.builder().apiKey("alice", "key-of-alice-12345").build())
                .authentication("keyed", Authentication.of(Scheme.API_KEY))
                .cardKeys(CardKeys.read(List.of(key)))
                .webhookAllow(List.of("127.0.0.1"))
                .drain(Duration.ZERO)
                .start();
        HUBS.add(hub);
        return hub;
    }

    /** A card with whatever makes canonical JSON hard. */
    private static Map<?, ?> card() {
        return Json.read("""
                {"name":"Größe \\"L\\"","description":"\\ud83d\\ude00 \\u2028 \\u007f </script>","version":"1.0",
                 "supportedInterfaces":[{"url":"https://a.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
                 "provider":{"organization":"Ünïted","url":"https://a.example"},
                 "capabilities":{"streaming":false,"pushNotifications":true,"extensions":[{"uri":"urn:x","params":
                   {"\\ufb33":1.0,"\\ud83d\\ude00":1e21,"\\u20ac":-0.0,"b":[1e-7,0.000001,4.50,333333333.33333329],"a":false}}]},
                 "securitySchemes":{"sso":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://a.example/oidc"}}},
                 "securityRequirements":[{"schemes":{"sso":{"list":["openid"]}}}],
                 "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
                 "skills":[{"id":"s","name":"S","description":"d","tags":["t"],"examples":["1"]}]}""".getBytes(UTF_8), Map.class);
    }

    /** A webhook as it arrived, and the secret that its receiver was given. */
    private static Map<String, Object> webhook(BlockingQueue<Map<String, Object>> arrived)
            throws IOException, InterruptedException {
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/webhook";
        try (AgentClient client = AgentClient.connect(HUBS.getFirst().agentUrl("echo"))) {
            var told = new PushConfig(null, null, null, url, null, null);
            client.send(Message.user(Part.text("Größe")), new SendConfiguration(List.of(), told, null, false));
        }
        Map<String, Object> first = arrived.poll(20, TimeUnit.SECONDS);
        var webhook = new LinkedHashMap<String, Object>(first == null ? Map.of() : first);
        webhook.put("secret", WebhookSecrets.in(directory.resolve("ES256-data")).of("default"));
        return webhook;
    }

    @AfterAll
    static void stop() {
        HUBS.forEach(Hub::close);
        server.stop(0);
    }

    @TestFactory
    Stream<DynamicNode> everySigner() {
        return ForeignSdk.SIGNERS.stream()
                .map(client -> dynamicContainer(
                        client.name(),
                        Stream.of(client)
                                .map(SigningInteropTest::outcome)
                                .flatMap(it -> Results.tests(it, SigningInteropTest::assertExpected))));
    }

    @Test
    void theDocsTellWhatWasSeen() throws IOException {
        List<Check> checks = Results.checks(ForeignSdk.SIGNERS.stream().map(SigningInteropTest::outcome));

        Results.assertDocumented("signatures", ResultTable.table(checks));
    }

    private static void assertExpected(Check check) {
        if (FAULTS_OF_CLIENTS.contains(check.operation())) {
            assertThat(check.result()).as("a fault that is gone").isEqualTo(Result.FAILED);
            return;
        }
        assertThat(check.result()).as(check.detail()).isEqualTo(Result.PASSED);
        if (check.operation().startsWith("signs a card")) {
            assertVerified(Json.read(check.detail().getBytes(UTF_8), Map.class));
        }
    }

    private static void assertVerified(Map<?, ?> signed) {
        CardTrust trust = CardTrust.of(new String(Json.write(signed.get("keys")), UTF_8));
        byte[] card = Json.write(signed.get("card"));

        assertThat(trust.verify(card).outcome())
                .as(trust.verify(card).reason())
                .isEqualTo(CardVerifier.Outcome.VERIFIED);
        byte[] changed = new String(card, UTF_8).replace("Größe", "Grösse").getBytes(UTF_8);
        assertThat(trust.verify(changed).outcome()).isEqualTo(CardVerifier.Outcome.TAMPERED);
    }

    /** What became of a client; it is run once, by the first test that asks. */
    private static Outcome outcome(ForeignSdk client) {
        String given = "http://127.0.0.1:" + server.getAddress().getPort() + "/given";
        return OUTCOMES.computeIfAbsent(client, it -> it.call(List.of(given)));
    }
}
