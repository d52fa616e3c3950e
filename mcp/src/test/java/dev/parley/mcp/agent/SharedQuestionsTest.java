package dev.parley.mcp.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Engine;
import dev.parley.engine.spi.Once;
import dev.parley.mcp.client.PinnedClient;
import dev.parley.mcp.client.ScriptedServer;
import dev.parley.mcp.wire.Revision;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.Store;
import dev.parley.store.database.Database;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.Eventually;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Questions of a server of which two hubs have a process each, which work with one PostgreSQL database. */
@Timeout(120)
@Tag("heavy")
final class SharedQuestionsTest {
    private static final CallContext ALICE = CallContext.of("alice", new CallContext.Scope("default", "alice"));
    private static final String NAME = "server";

    private final SharedSchema schema = new SharedSchema();
    private final List<Hub> hubs = new ArrayList<>();

    @AfterEach
    void close() {
        hubs.forEach(Hub::close);
    }

    private final class Hub {
        final Store store;
        final Engine engine;
        final HostedServer server;
        final ToolAgent tools;
        final AgentEndpoint agent;

        Hub(String era) {
            store = Store.in(schema.shared(), InstantSource.system(), EncryptionAtRest.PLAIN, Once.CLAIM);
            schema.run("ALTER TABLE audit_part DROP CONSTRAINT IF EXISTS audit_part_pkey"); // of one chain
            var table = new ToolTable(store.database());
            Revision revision = era.equals("legacy") ? Revision.V2025_11_25 : Revision.V2026_07_28;
            var entry = new ServersFile.Entry(
                    NAME,
                    ScriptedServer.command(era),
                    Map.of(),
                    null,
                    null,
                    Map.of(),
                    null,
                    null,
                    Duration.ofSeconds(30),
                    List.of());
            server = new HostedServer(
                    entry, table, (to, log, exit) -> PinnedClient.stdio(to.command(), revision), () -> {});
            server.begin();
            Eventually.holds("the tools", () -> !server.tools().isEmpty());
            engine = Engine.builder(store.log()).grace(Duration.ZERO).build();
            tools = new ToolAgent(server, table, new OpenCalls(store.database(), name -> server));
            agent = engine.host(tools.agent());
            hubs.add(this);
        }

        Task send(Part part, @Nullable Task to, String id) {
            Message message = new Message(
                    id,
                    Role.USER,
                    List.of(part),
                    to == null ? null : to.contextId(),
                    to == null ? null : to.id(),
                    to == null ? Map.of("skillId", "ask") : Map.of(),
                    List.of(),
                    List.of());
            return (Task) agent.call(new SendMessage(null, message, SendConfiguration.DEFAULTS, Map.of()), ALICE);
        }

        void close() {
            engine.close();
            server.close();
            store.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"legacy", "modern"})
    void anAnswerAtOneHubReachesTheProcessOfTheOther(String era) {
        var one = new Hub(era);
        var other = new Hub(era);
        for (int i = 0; i < 5; i++) {
            Hub asking = i % 2 == 0 ? one : other;
            Hub answering = i % 2 == 0 ? other : one;
            Task own = answering.send(Part.data(Map.of("text", "own")), null, "own-" + i);
            Task asked = asking.send(Part.data(Map.of("text", "both")), null, "ask-" + i);
            assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);

            Task answered = answering.send(Part.data(Map.of("colour", "red")), asked, "answer-" + i);

            assertThat(answered.state())
                    .as(String.valueOf(answered.status().message()))
                    .isEqualTo(TaskState.COMPLETED);
            assertThat(answered.artifacts().toString()).contains("the user says accept", "red");
            assertThat(asking.agent.call(GetTask.of(asked.id()), ALICE).state()).isEqualTo(TaskState.COMPLETED);
            Task still = answering.agent.call(GetTask.of(own.id()), ALICE);
            assertThat(still.state()).as("the call of the hub itself").isEqualTo(TaskState.INPUT_REQUIRED);
        }
        assertThat(one.store.database().<Long>read(session -> session.number("SELECT count(*) FROM mcp_answer")))
                .isZero();
    }

    @Test
    void anAnswerToACallOfAHubThatHasEndedFailsItsTask() {
        var one = new Hub("legacy");
        var other = new Hub("legacy");
        Task own = other.send(Part.data(Map.of("text", "own")), null, "own");
        Task asked = one.send(Part.data(Map.of("text", "theirs")), null, "ask");

        schema.end(one.store);
        Task answered = other.send(Part.data(Map.of("colour", "red")), asked, "answer");

        assertThat(answered.state()).isEqualTo(TaskState.FAILED);
        assertThat(String.valueOf(answered.status().message())).contains("does not wait for an answer any more");
        assertThat(other.agent.call(GetTask.of(own.id()), ALICE).state()).isEqualTo(TaskState.INPUT_REQUIRED);
    }

    @Test
    void aTaskThatIsCanceledAtOneHubHasTheCallGivenUpAtTheOther() {
        var one = new Hub("legacy");
        var other = new Hub("legacy");
        Task asked = one.send(Part.data(Map.of("text", "theirs")), null, "ask");

        Task canceled = other.agent.call(CancelTask.of(asked.id()), ALICE);
        other.tools.abandon(asked.id()); // as an observer of the hub does

        assertThat(canceled.state()).isEqualTo(TaskState.CANCELED);
        Eventually.holds(
                "the row is taken",
                () -> other.store.database().<Long>read(session -> session.number("SELECT count(*) FROM mcp_answer"))
                        == 0);
    }

    @Test
    void aCallThatIsNotContinuedFails() throws Exception {
        try (Database first = schema.shared();
                Database second = schema.shared()) {
            var here = new OpenCalls(first, name -> {
                throw new IllegalStateException("no server can be looked up");
            });
            var there = new OpenCalls(second, name -> null);
            var call = new KeptCall(
                    new ToolCall("tool", Map.of(), false, Map.of()), Map.of(), null, null, Map.of(), here.hub());
            schema.run("INSERT INTO mcp_answer (id, from_hub, to_hub, server, content, taken) VALUES ('lost', 0, "
                    + here.hub() + ", 'server', '{}', true)");

            assertThatThrownBy(() -> there.goOn("lost", NAME, call).complete())
                    .hasMessageContaining("does not wait for an answer any more");
            assertThatThrownBy(() -> there.goOn("next", NAME, call).complete())
                    .hasMessageContaining("could not be continued");
        }
    }
}
