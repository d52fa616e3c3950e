package dev.parley.gateway.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.engine.Agent;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardKeys.Algorithm;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A gateway with two callers, in front of an agent that may lie. */
@Timeout(60)
final class GatewayTest {
    private static final CardKeys KEYS = keys();
    private static Hub hub;
    private static Admin admin;

    private static CardKeys keys() {
        try {
            Path file = Files.createTempDirectory("gateway-keys").resolve("key.json");
            CardKeys.create(file, Algorithm.ES256, null);
            return CardKeys.read(List.of(file));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private FakeAgent agent;
    private AgentClient alice;
    private AgentClient bob;

    @BeforeEach
    void begin() throws Exception {
        agent = new FakeAgent();
        admin.add("fake", agent.url(), Map.of());
        alice = client("alice-key-0123456789");
        bob = client("bob-key-0123456789");
    }

    @AfterEach
    void end() throws Exception {
        alice.close();
        bob.close();
        admin.done("DELETE", "/fake", null);
        agent.close();
    }

    @BeforeAll
    static void start() {
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .cardKeys(KEYS)
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())))
                .set("gateway-allow", "localhost")
                .authentication(Authentication.named(List.of("required")))
                .callers(Callers.builder()
                        .apiKey("alice", "alice-key-0123456789")
                        .scopes("alice", List.of("metrics"))
                        .apiKey("bob", "bob-key-0123456789")
                        .build())
                .start();
        admin = Admin.of(hub);
    }

    @AfterAll
    static void stop() {
        hub.close();
    }

    private static AgentClient client(String key) {
        AgentClientBuilder builder = AgentClient.builder().apiKey(key).retries(0);
        return builder.connect(hub.agentUrl("fake"));
    }

    private static A2AException refusal(Runnable call) {
        return requireNonNull(catchThrowableOfType(A2AException.class, call::run));
    }

    private Task send(AgentClient caller, String taskId) {
        agent.results = request -> FakeAgent.task(taskId, "context-" + taskId, "of " + taskId);
        return (Task) caller.send("hello");
    }

    private byte[] shownCard() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.agentUrl("fake") + "/.well-known/agent-card.json"))
                .header("A2A-Version", "1.0")
                .build();
        return Admin.HTTP.send(request, BodyHandlers.ofByteArray()).body();
    }

    @Test
    @DisplayName("a task and its context exist for the caller that got them first only")
    void owners() {
        String id = send(alice, "t1").id();

        agent.results = request -> "\"result\":" + FakeAgent.bare("t1", "context-t1", "of t1");
        assertThat(alice.task(id).text()).isEqualTo("of t1");
        assertThat(refusal(() -> bob.task(id)).error()).isEqualTo(A2AError.TASK_NOT_FOUND);
        assertThat(refusal(() -> bob.cancel(id)).error()).isEqualTo(A2AError.TASK_NOT_FOUND);
        assertThat(refusal(() -> assertThat(bob.subscribe(id).hasNext()).isFalse())
                        .error())
                .isEqualTo(A2AError.TASK_NOT_FOUND);
        Message message = Message.user(Part.text("hello"));
        assertThat(refusal(() -> bob.send(message.in(null, id))).error()).isEqualTo(A2AError.TASK_NOT_FOUND);
        assertThat(refusal(() -> bob.send(message.in("context-t1", null))).error())
                .isEqualTo(A2AError.TASK_NOT_FOUND);
        assertThat(refusal(() -> bob.send(message.referringTo(id))).error()).isEqualTo(A2AError.TASK_NOT_FOUND);
        assertThat(refusal(() -> bob.task("unknown")).getMessage())
                .isEqualTo(refusal(() -> bob.task(id)).getMessage());
    }

    @Test
    @DisplayName("lists have the tasks of their caller only, and page tokens are of one caller")
    void lists() {
        for (String id : List.of("l1", "l2", "l3")) {
            send(alice, id);
        }
        agent.results = request -> {
            String id = String.valueOf(((Map<?, ?>) requireNonNull(request.get("params"))).get("id"));
            return "\"result\":" + FakeAgent.bare(id, "context-" + id, "x");
        };
        var two = new ListTasks(null, null, null, 2, null, null, null, false);

        var first = alice.tasks(two);

        assertThat(first.tasks()).hasSize(2);
        assertThat(first.totalSize()).isEqualTo(3);
        assertThat(alice.tasks(new ListTasks(null, null, TaskState.WORKING, 1, null, null, null, false))
                        .totalSize())
                .isEqualTo(3);
        assertThat(alice.tasks(new ListTasks(null, null, TaskState.FAILED, 1, null, null, null, false))
                        .totalSize())
                .isZero();
        assertThat(alice.tasks(two.from(first.nextPageToken())).tasks()).hasSize(1);
        assertThat(bob.tasks(two).tasks()).isEmpty();
        assertThat(refusal(() -> bob.tasks(two.from(first.nextPageToken()))).error())
                .isEqualTo(A2AError.INVALID_PARAMS);
        var others = new ListTasks(null, null, TaskState.FAILED, 2, null, null, null, false);
        assertThat(refusal(() -> alice.tasks(others.from(first.nextPageToken())))
                        .error())
                .isEqualTo(A2AError.INVALID_PARAMS);
    }

    @Test
    @DisplayName("an answer with the task of another principal, or another id, is an error that shows nothing of it")
    void lies() throws Exception {
        send(alice, "secret-task");

        A2AException stolen = refusal(() -> send(bob, "secret-task"));
        assertThat(stolen.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(stolen.getMessage()).doesNotContain("secret-task", "of secret-task");

        send(bob, "own");
        agent.results =
                request -> "\"result\":" + FakeAgent.bare("secret-task", "context-secret-task", "of secret-task");
        A2AException swapped = refusal(() -> bob.task("own"));
        assertThat(swapped.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);
        assertThat(swapped.getMessage()).doesNotContain("secret-task");
        agent.results = request -> "\"result\":" + FakeAgent.bare("own", "context-secret-task", "of secret-task");
        assertThat(refusal(() -> bob.task("own")).error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE);

        assertThat(metrics()).contains("gateway_foreign_answers_total{route=\"fake\"}");
    }

    private static String metrics() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + "/metrics"))
                .header("X-Api-Key", "alice-key-0123456789")
                .build();
        HttpResponse<String> answer = Admin.HTTP.send(request, BodyHandlers.ofString());
        return answer.body();
    }

    @Test
    @DisplayName("the card has our addresses and signature, the provenance of the original, and nothing of its origin")
    void card() throws Exception {
        byte[] bytes = shownCard();
        String text = new String(bytes, UTF_8);

        assertThat(CardTrust.of(new String(KEYS.published(), UTF_8))
                        .verify(bytes)
                        .isVerified())
                .isTrue();
        assertThat(text).doesNotContain(URI.create(agent.url()).getAuthority(), "inner.example", "X-Inner-Key");
        AgentCard card = alice.card();
        assertThat(card.supportedInterfaces())
                .allSatisfy(each -> assertThat(each.url()).startsWith(hub.agentUrl("fake")));
        AgentCard.Extension provenance = card.capabilities().extensions().stream()
                .filter(each -> each.uri().equals(RemoteCard.PROVENANCE))
                .findFirst()
                .orElseThrow();
        assertThat(provenance.params()).containsEntry("verdict", "unsigned");
        assertThat(String.valueOf(provenance.params().get("digest"))).startsWith("sha256:");
    }

    @Test
    @DisplayName("the extended card is rewritten like the public one")
    void extendedCard() {
        agent.results = request -> "\"result\":" + agent.card("true", "[]", "secret-skill");

        AgentCard card = alice.extendedCard();

        assertThat(card.skills()).extracting(AgentCard.Skill::id).containsExactly("secret-skill");
        assertThat(card.supportedInterfaces())
                .allSatisfy(each -> assertThat(each.url()).startsWith(hub.agentUrl("fake")));
        assertThat(card.description()).doesNotContain("127.0.0.1");
    }

    @Test
    @DisplayName("other security pauses the route until an operator confirms it, other skills do not")
    void changedCard() throws Exception {
        agent.card = agent.card("true", "[]", "sing");
        assertThat(admin.done("POST", "/fake/refresh", null).get("state")).isEqualTo("active");
        assertThat(new String(shownCard(), UTF_8)).contains("sing");

        agent.card = agent.card("true", "[{\"schemes\":{\"key\":{\"list\":[]}}}]", "sing");
        Map<?, ?> changed = admin.done("POST", "/fake/refresh", null);
        assertThat(changed.get("state")).isEqualTo("changed");
        assertThat(String.valueOf(changed.get("reason"))).contains("security requirements");
        A2AException paused = refusal(() -> alice.send("hello"));
        assertThat(paused.error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(paused.getMessage()).contains("paused until an operator resumes it");
        assertThat(metrics())
                .contains("gateway_card_changes_total{kind=\"security\",route=\"fake\"} 1.0")
                .contains("gateway_card_changes_total{kind=\"skills\",route=\"fake\"} 1.0");

        admin.done("POST", "/fake/resume", null);
        assertThat(send(alice, "after").id()).isEqualTo("after");
    }

    @Test
    @DisplayName("a paused route refuses calls")
    void paused() throws Exception {
        admin.done("POST", "/fake/pause", Map.of("reason", "maintenance"));

        assertThat(refusal(() -> alice.send("hello")).error()).isEqualTo(A2AError.UNAVAILABLE);
        assertThat(admin.show("fake").get("reason")).isEqualTo("maintenance");
    }

    @Test
    @DisplayName("errors show neither the address of the agent nor that it refuses the credentials of the gateway")
    void errors() {
        agent.results = request -> "\"error\":{\"code\":-32603,\"message\":\"no disk at " + agent.url() + "/x\"}";
        assertThat(refusal(() -> alice.send("hello")).getMessage()).doesNotContain("127.0.0.1");

        agent.close();
        A2AException gone = refusal(() -> alice.send("hello"));
        assertThat(gone.error()).isIn(A2AError.UNAVAILABLE, A2AError.INVALID_AGENT_RESPONSE);
        assertThat(gone.getMessage()).doesNotContain("127.0.0.1");
    }

    @Test
    @DisplayName("C4: redirects of calls and to private addresses are not followed; callers are told targets outside")
    void redirects() throws Exception {
        agent.redirect = "https://login.example/sign-in?key=secret";
        assertThat(refusal(() -> alice.send("hello")))
                .hasMessageContaining("redirected to https://login.example/sign-in")
                .hasMessageNotContaining("secret");

        agent.redirect = "http://10.0.0.1/elsewhere";
        A2AException refused = refusal(() -> alice.send("hello"));
        assertThat(refused.error()).isIn(A2AError.INVALID_AGENT_RESPONSE, A2AError.UNAVAILABLE);
        assertThat(refused.getMessage()).doesNotContain("10.0.0.1").contains("redirects to another address");
        HttpResponse<byte[]> card = admin.ask("POST", "/fake/refresh", null);
        assertThat(card.statusCode()).isEqualTo(503);
    }

    @Test
    @DisplayName("private addresses that the operator of the process has not named are refused")
    void privateAddresses() throws Exception {
        for (String url : List.of("http://10.0.0.1/", "http://169.254.169.254/", "http://192.168.1.1:80/")) {
            HttpResponse<byte[]> answer = admin.ask("POST", "", Map.of("name", "inner", "url", url));

            assertThat(answer.statusCode()).isEqualTo(400);
            assertThat(new String(answer.body(), UTF_8)).contains("gateway-allow");
        }
        HttpResponse<byte[]> grpc = admin.ask(
                "POST",
                "",
                Map.of("name", "inner", "url", agent.url(), "address", "http://10.0.0.1:1", "binding", "GRPC"));
        assertThat(grpc.statusCode()).isEqualTo(400);
    }

    @Test
    @DisplayName("a card without the required signature, names of agents and bad options are refused")
    void refusedRoutes() throws Exception {
        String keys = new String(KEYS.published(), UTF_8);
        HttpResponse<byte[]> unsigned =
                admin.ask("POST", "", Map.of("name", "signed", "url", agent.url(), "trust", keys));
        assertThat(unsigned.statusCode()).isEqualTo(400);
        assertThat(new String(unsigned.body(), UTF_8)).contains("not signed as required");

        HttpResponse<byte[]> verbatim =
                admin.ask("POST", "", Map.of("name", "same", "url", agent.url(), "verbatim", true));
        assertThat(new String(verbatim.body(), UTF_8)).contains("verbatim");
        assertThat(admin.ask("POST", "", Map.of("name", "echo", "url", agent.url()))
                        .statusCode())
                .isEqualTo(400);
        assertThat(admin.ask("POST", "", Map.of("name", "x", "url", agent.url(), "set", List.of("retries=99")))
                        .statusCode())
                .isEqualTo(400);
    }
}
