package dev.parley.mcp.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog;
import dev.parley.hub.Hub;
import dev.parley.mcp.hub.RawPeer.Answer;
import dev.parley.mcp.server.FixtureHub;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.store.Store;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.EncryptionAtRest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of MCP that call two hubs, whose engines work with one PostgreSQL database, in turn. */
@Timeout(120)
@Tag("heavy")
final class SharedMcpTest {
    private static final String AGENT = "asker";
    private static final AgentCard CARD = Agent.named(AGENT, "Asks")
            .skill("order", "Takes an order")
            .handle((request, reply) -> {})
            .card(List.of(new AgentCard.Interface("http://hub/agents/asker", "JSONRPC", null, "1.0")));

    private final SharedSchema schema = new SharedSchema();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Semaphore permits = new Semaphore(0);

    @SuppressWarnings("NullAway.Init") // by start
    private RawPeer one;

    @SuppressWarnings("NullAway.Init") // by start
    private RawPeer other;

    /** @param budget after which a call returns with a task that goes on */
    private void start(Duration budget) {
        one = peer(budget);
        other = peer(budget);
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private RawPeer peer(Duration budget) {
        Store store = Store.in(schema.shared(), InstantSource.system(), EncryptionAtRest.PLAIN, Once.CLAIM);
        open.add(store);
        schema.run("ALTER TABLE audit_part DROP CONSTRAINT IF EXISTS audit_part_pkey"); // of one chain
        Engine engine = Engine.builder(store.log()).grace(Duration.ZERO).build();
        open.add(engine);
        AgentEndpoint agent = engine.host(Agent.named(AGENT, "Asks")
                .skill("order", "Takes an order")
                .handle((request, reply) -> {
                    if (request.text().startsWith("wait")) {
                        permits.acquire();
                        reply.complete("waited");
                    } else if (request.isFollowUp()) {
                        reply.complete("ordered: " + request.text());
                    } else {
                        reply.askForInput("Which size?");
                    }
                }));
        Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .extension(new FixtureHub(new AgentProvider(new Offer(agent, store.log()), budget)))
                .start();
        open.add(hub);
        return new RawPeer(hub.url() + FixtureHub.PATH);
    }

    private record Offer(AgentEndpoint agent, TaskLog log) implements OfferedAgents {
        @Override
        public Map<String, AgentCard> cards(CallContext caller) {
            return Map.of(AGENT, CARD);
        }

        @Override
        public AgentEndpoint endpoint(String name) {
            return agent;
        }

        @Override
        public Optional<String> agentOf(String taskId, CallContext caller) {
            return log.find(caller.scope().group(), taskId)
                    .map(head -> head.key().agent());
        }
    }

    @Test
    void aQuestionOfOneHubIsAnsweredAtTheOther() throws Exception {
        start(Duration.ofSeconds(30));
        for (int i = 0; i < 5; i++) {
            RawPeer asking = i % 2 == 0 ? one : other;
            RawPeer answering = i % 2 == 0 ? other : one;
            Map<String, Object> order = Map.of("name", "asker__order", "arguments", Map.of("message", "pizza " + i));
            Answer asked = asking.modern("tools/call", order, RawPeer.FORMS);
            assertThat(asked.result().get("resultType")).isEqualTo("input_required");

            Map<?, ?> requests = (Map<?, ?>) asked.member("inputRequests");
            Map<String, Object> round = Map.of(
                    "name",
                    "asker__order",
                    "arguments",
                    Map.of("message", "pizza " + i),
                    "requestState",
                    asked.member("requestState"),
                    "inputResponses",
                    Map.of(
                            requireNonNull(requests.keySet().iterator().next()),
                            Map.of("action", "accept", "content", Map.of("answer", "large"))));
            Answer answered = answering.modern("tools/call", round, RawPeer.FORMS);
            Answer repeated = asking.modern("tools/call", round, RawPeer.FORMS);

            assertThat(answered.text()).isEqualTo("ordered: large");
            assertThat(repeated.structured()).isEqualTo(answered.structured());
        }
    }

    @Test
    void aTaskOfOneHubIsReadAndCanceledAtTheOther() throws Exception {
        start(Duration.ofMillis(300));
        Object first = one.call("asker__order", Map.of("message", "wait"), RawPeer.TASKS)
                .member("taskId");
        Answer working = other.modern("tasks/get", Map.of("taskId", first), RawPeer.TASKS);
        permits.release();
        Answer done = other.call("task_result", Map.of("taskId", first), Map.of());
        for (int i = 0; i < 10 && !done.text().contains("waited"); i++) {
            done = other.call("task_result", Map.of("taskId", first), Map.of());
        }
        Object second = one.call("asker__order", Map.of("message", "wait again"), RawPeer.TASKS)
                .member("taskId");
        other.modern("tasks/cancel", Map.of("taskId", second), RawPeer.TASKS);
        Answer canceled = one.modern("tasks/get", Map.of("taskId", second), RawPeer.TASKS);

        assertThat(working.result().get("status")).isEqualTo("working");
        assertThat(done.text()).contains("waited");
        assertThat(canceled.result().get("status")).isEqualTo("cancelled");
    }

    @Test
    void aSessionOfOneHubIsUnknownToTheOtherWhereTheClientBeginsAnew() throws Exception {
        start(Duration.ofSeconds(30));
        Map<String, Object> begin = Map.of(
                "protocolVersion",
                "2025-11-25",
                "capabilities",
                Map.of(),
                "clientInfo",
                Map.of("name", "t", "version", "1"));
        String session = one.legacy("initialize", begin)
                .http()
                .headers()
                .firstValue("Mcp-Session-Id")
                .orElseThrow();
        assertThat(one.legacy("tools/list", Map.of()).result().get("tools")).isNotNull();

        var elsewhere = new RawPeer(other.url(), "Mcp-Session-Id", session);
        assertThat(elsewhere.plain("tools/list", Map.of()).http().statusCode()).isEqualTo(404);

        assertThat(other.legacy("initialize", begin).http().statusCode()).isEqualTo(200);
        assertThat(other.legacy("tools/list", Map.of()).result().get("tools")).isNotNull();
    }
}
