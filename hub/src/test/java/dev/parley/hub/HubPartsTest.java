package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.spi.TaskLog.Query;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubAgents;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parts of a hub as an extension has them. */
@Timeout(60)
final class HubPartsTest {
    @TempDir
    private Path directory;

    private final Queue<CallChain> chains = new ConcurrentLinkedQueue<>();

    /** An extension without operations. */
    private static final class Parts implements HubExtensionSource {
        private static final String URI = "https://example.com/extensions/parts";
        private @Nullable HubParts hub;
        private volatile @Nullable String problem;

        HubParts hub() {
            HubParts opened = hub;
            assertThat(opened).isNotNull();
            return opened;
        }

        @Override
        public String uri() {
            return URI;
        }

        @Override
        public HubExtension open(HubParts parts) {
            this.hub = parts;
            return new HubExtension() {
                @Override
                public AgentExtension of(String url, String agent, boolean streams) {
                    return AgentExtension.of(ExtensionProtocol.of(URI), "Keeps the parts of its hub");
                }

                @Override
                public String name() {
                    return "parts";
                }

                @Override
                public Optional<String> problem() {
                    return Optional.ofNullable(problem);
                }
            };
        }
    }

    private HubBuilder hub(Parts parts) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .extension(parts)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> {
                    if (request.text().equals("four")) {
                        chains.add(request.context().chain());
                    }
                    reply.complete(request.text());
                }));
    }

    @ParameterizedTest
    @CsvSource({
        "true, port, 0",
        "true, cors-origin, http://localhost:6274",
        "true, allowed-host, localhost",
        "false, auth, required",
        "false, auth, 'none,apiKey'",
        "false, agent-auth, echo=apiKey",
        "false, public-url, https://agents.example.com",
        "false, public-url, http://127.0.0.1:8080",
        "false, allowed-host, agents.example.com",
        "false, cors-origin, https://app.example.com",
        "false, cors-origin, *"
    })
    @DisplayName(
            "T3 only users of this machine call a hub on loopback without credentials, public name and foreign pages")
    void local(boolean isLocal, String setting, String value) {
        var parts = new Parts();

        try (Hub hub = hub(parts).set(setting, value).start()) {
            assertThat(parts.hub().isLocal()).as(hub.url()).isEqualTo(isLocal);
        }
    }

    @Test
    @DisplayName("/ready lists parts that are down with their reasons, while the hub serves the others")
    void down() throws Exception {
        var parts = new Parts();
        parts.problem = "the server at \"x\" does not answer";
        try (Hub hub = hub(parts).adminPort(0).start()) {
            for (String address : List.of(hub.url(), hub.adminUrl())) {
                var ready = new Outsider(address).get("/ready");

                assertThat(ready.statusCode()).isEqualTo(200);
                assertThat(Outsider.Shown.of(ready.body()).at("down", "parts").value())
                        .isEqualTo("the server at \"x\" does not answer");
            }
            parts.problem = null;
            assertThat(new Outsider(hub.url()).get("/ready").body()).isEqualTo("{\"status\":\"ready\"}");
        }
    }

    @Test
    @DisplayName("T3 callers of a hub in a container may be on other machines")
    void mounted() {
        var parts = new Parts();

        try (Platform platform = hub(parts).publicUrl("http://localhost:8080").platform()) {
            assertThat(parts.hub().isLocal()).as(platform.url()).isFalse();
        }
    }

    @Test
    @DisplayName("an extension lists the tasks of an agent in a group, and finds who began them")
    void tasks() throws Exception {
        var parts = new Parts();
        try (Hub hub = hub(parts).start()) {
            String message = "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'go'}]}}";
            new Outsider(hub.url()).result("/agents/echo", "SendMessage", message, "A2A-Version", "1.0");
            var tasks = parts.hub().tasks();

            var page = tasks.list(new Query("default", null, "echo", null, null, null, null, 10));

            assertThat(page.total()).isEqualTo(1);
            var key = page.heads().getFirst().key();
            assertThat(tasks.cause(key).orElseThrow().caller()).isEqualTo("anonymous");
            assertThat(tasks.read(key, 0, 10)).isNotEmpty();
            assertThat(tasks.list(new Query("default", "other", "echo", null, null, null, null, 10))
                            .total())
                    .isZero();
        }
    }

    @Test
    @DisplayName("limits of requests count calls in the process, but not the parts of a call")
    void limits() throws Exception {
        Path policy = Files.writeString(directory.resolve("policy.json"), "{\"limits\":{\"agent\":{\"perDay\":2}}}");
        var parts = new Parts();
        try (Hub hub = hub(parts).policy(PolicyFile.read(policy)).start()) {
            AgentEndpoint counted = parts.hub().agents().endpoint("echo");
            CallContext caller = CallContext.anonymous();
            counted.call(SendMessage.of(Message.user(Part.text("one"))), caller);
            counted.watch(SendStreamingMessage.of(Message.user(Part.text("two"))), caller)
                    .close();

            A2AException refused = catchThrowableOfType(
                    A2AException.class, () -> counted.call(SendMessage.of(Message.user(Part.text("three"))), caller));

            assertThat(refused.error()).isEqualTo(A2AError.RATE_LIMITED);
            assertThat(refused.retryAfter()).isNotNull();
            assertThat(new Outsider(hub.url())
                            .post("/agents/echo", "{}", "A2A-Version", "1.0")
                            .statusCode())
                    .isEqualTo(429);
            AgentEndpoint part = parts.hub().agents().within("echo");
            CallChain chain = CallChain.NONE.then(hub.agentUrl("echo"));
            for (CallContext within : List.of(caller, caller.through(chain))) {
                var unused = part.call(SendMessage.of(Message.user(Part.text("four"))), within);
                assertThat(chains.poll()).isEqualTo(chain);
            }
        }
    }

    @Test
    @DisplayName("an extension signs with the card keys of the hub, and verifies signatures by other key sets")
    void signatures() throws Exception {
        Path file = directory.resolve("key.json");
        CardKeys.create(file, CardKeys.Algorithm.EDDSA, null);
        Path foreign = directory.resolve("foreign.json");
        CardKeys.create(foreign, CardKeys.Algorithm.ES256, null);
        CardKeys others = CardKeys.read(List.of(foreign));
        byte[] payload = "an envelope".getBytes(UTF_8);
        var parts = new Parts();
        try (Hub hub = hub(parts).cardKeys(CardKeys.read(List.of(file))).start()) {
            var signatures = parts.hub().signatures();
            String published = new Outsider(hub.url()).get(CardKeys.PATH).body();

            String signature = signatures.sign(payload).orElseThrow();

            assertThat(signatures.keys()).contains(published);
            assertThat(CardTrust.of(published).verify(payload, signature, null).outcome())
                    .isEqualTo(Outcome.VERIFIED);
            String theirs = new String(others.published(), UTF_8);
            assertThat(signatures
                            .verify(payload, others.sign(payload), theirs, null)
                            .outcome())
                    .isEqualTo(Outcome.VERIFIED);
            assertThat(signatures.verify(payload, signature, theirs, null).outcome())
                    .isEqualTo(Outcome.UNVERIFIABLE);
        }
        try (Hub unsigned = hub(parts).start()) {
            assertThat(unsigned.url()).isNotEmpty();
            assertThat(parts.hub().signatures().sign(payload)).isEmpty();
            assertThat(parts.hub().signatures().keys()).isEmpty();
        }
    }

    @Test
    @DisplayName("a listener for hosted agents is called when the hub serves the card that it is called for")
    void announcements() {
        var parts = new Parts();
        try (Hub hub = hub(parts).start()) {
            HubAgents agents = parts.hub().agents();
            var served = new ConcurrentLinkedQueue<String>();
            agents.onHosted((agent, card) -> {
                if (new String(card, UTF_8).contains("Echoes twice")) {
                    try (AgentClient client = AgentClient.connect(hub.agentUrl(agent))) {
                        served.add(client.card().description());
                    }
                }
            });

            parts.hub().describe(Agent.named("echo", "Echoes twice").handle((request, reply) -> reply.complete("")));

            assertThat(served).containsExactly("Echoes twice");
        }
    }

    @Test
    @DisplayName("an endpoint of an extension is an agent behind the policy, until it is removed")
    void endpoint() {
        var parts = new Parts();
        Agent remote = Agent.named("remote", "Answers elsewhere").handle((request, reply) -> reply.complete("far"));
        try (Hub other = Hub.builder().inMemory().port(0).agents(remote).start();
                AgentClient client = AgentClient.connect(other.agentUrl("remote"));
                Hub hub = hub(parts).start()) {
            HubAgents agents = parts.hub().agents();
            agents.host(new HostedEndpoint("far", client.card(), client, null));

            assertThat(agents.url("far")).isEqualTo(hub.agentUrl("far"));
            for (String version : List.of("1.0", "0.3")) {
                try (AgentClient caller = AgentClient.builder().version(version).connect(hub.agentUrl("far"))) {
                    assertThat(((Task) caller.send("hello")).text()).isEqualTo("far");
                    assertThat(caller.card().supportedInterfaces())
                            .allSatisfy(each -> assertThat(each.url()).startsWith(hub.agentUrl("far")));
                }
            }
            assertThat(catchThrowableOfType(
                            IllegalArgumentException.class,
                            () -> agents.host(new HostedEndpoint("echo", client.card(), client, null))))
                    .hasMessage("agent \"echo\": duplicate name");
            assertThat(agents.remove("echo")).isFalse();
            assertThat(agents.remove("far")).isTrue();
            assertThat(catchThrowableOfType(ClientException.class, () -> AgentClient.connect(hub.agentUrl("far"))))
                    .hasMessageContaining("404");
        }
    }
}
