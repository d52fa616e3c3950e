package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.trust.Authentication;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** S28: agents that ask other agents on behalf of a caller. */
@Timeout(60)
final class DelegationTest {
    @TempDir
    private Path data;

    private final Map<String, AgentClient> clients = new ConcurrentHashMap<>();
    private final Queue<CallContext> calls = new ConcurrentLinkedQueue<>();
    private Hub hub;
    private Outsider outsider;
    private String admin;
    private String alice;
    private String robot;
    private String binding = Interface.JSONRPC;

    @BeforeEach
    void start() throws Exception {
        hub = Hub.builder()
                .data(data)
                .port(0)
                .grpcOnCards(true)
                .set("max-call-depth", "3")
                .authentication(Authentication.named(List.of("required")))
                .agents(
                        asking("asks"),
                        asking("b"),
                        asking("c"),
                        asking("d"),
                        Agent.named("elsewhere", "Asks from another thread, in the context of its call")
                                .handle((request, reply) -> {
                                    var answer = new String[1];
                                    Thread.ofVirtual()
                                            .start(() -> answer[0] = ask("elsewhere", " ", request.context()))
                                            .join();
                                    reply.complete(answer[0]);
                                }))
                .start();
        outsider = new Outsider(hub.url());
        admin = hub.bootstrapKey().orElseThrow();
        alice = key("alice");
        robot = key("robot");
    }

    /** An agent that is told whom to ask, one name after the other. */
    private Agent asking(String name) {
        return Agent.named(name, "Asks the next one").handle((request, reply) -> {
            calls.add(request.context());
            String[] names = request.text().split(" ", 2);
            reply.complete(names[0].isEmpty() ? "done" : ask(names[0], names[1], null));
        });
    }

    /** Asks an agent of the same hub by a client with credentials of its own, and returns what it says. */
    private String ask(String agent, String text, @Nullable CallContext context) {
        AgentClient client = clients.computeIfAbsent(
                agent,
                name -> AgentClient.builder().prefer(binding).apiKey(robot).connect(hub.agentUrl(name)));
        try {
            Message message = Message.user(Part.text(text));
            return ((Task) (context == null ? client.send(message) : client.call(SendMessage.of(message), context)))
                    .text();
        } catch (RuntimeException refused) {
            return String.valueOf(refused.getMessage());
        }
    }

    @AfterEach
    void stop() {
        clients.values().forEach(AgentClient::close);
        hub.close();
    }

    private String key(String principal) throws Exception {
        String body = "{'group':'T1','principal':'" + principal + "','scopes':[]}";
        return Shown.of(outsider.post("/admin/keys", body, "X-Api-Key", admin).body())
                .at("key")
                .text();
    }

    private String say(String agent, String text) {
        try (AgentClient caller = AgentClient.builder().apiKey(alice).connect(hub.agentUrl(agent))) {
            return ((Task) caller.send(text)).text();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {Interface.JSONRPC, Interface.HTTP_JSON, Interface.GRPC})
    @DisplayName("S28: an agent asks others as itself, and through which agents it went is known and written down")
    void theChainIsCarriedAndRecorded(String how) throws Exception {
        binding = how;

        assertThat(say("asks", "b c ")).isEqualTo("done");

        assertThat(calls).extracting(CallContext::caller).containsExactly("alice", "robot", "robot");
        assertThat(calls)
                .extracting(call -> call.chain().toString().replace(hub.url() + "/agents/", ""))
                .containsExactly("asks", "asks -> b", "asks -> b -> c");
        String audit = outsider.get("/admin/audit", "X-Api-Key", admin).body();
        String url = hub.url() + "/agents/";
        assertThat(audit.replace(" ", ""))
                .contains("\"agents\":[\"" + url + "asks\",\"" + url + "b\",\"" + url + "c\"]");
    }

    @Test
    @DisplayName("S28: a chain that is too long is refused, and whom it went through is written down")
    void longChainsEnd() throws Exception {
        assertThat(say("asks", "b c d ")).contains("The call goes through 4 agents (expected: at most 3)");

        assertThat(calls).hasSize(3);
        assertThat(outsider.get("/admin/audit", "X-Api-Key", admin).body())
                .contains("call.denied", "The call goes through 4 agents");
    }

    @Test
    @DisplayName("S28: a chain that comes back to an agent is refused")
    void loopsEnd() {
        String url = hub.url() + "/agents/";

        assertThat(say("asks", "b asks "))
                .contains("The call comes back to an agent that waits for it: " + url + "asks -> " + url + "b -> " + url
                        + "asks");
        assertThat(say("elsewhere", "")).contains("comes back to an agent");
    }
}
