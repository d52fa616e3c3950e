package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.shared.Epoch;
import dev.parley.testkit.Eventually;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Erasure of an owner while another hub writes for the same owner. */
@Timeout(60)
@Tag("heavy")
final class SharedErasureTest {
    private static final CallContext CALLER = CallContext.anonymous();

    private static final String EMPTY =
            "DELETE FROM segment; DELETE FROM task; DELETE FROM message; DELETE FROM tally;";

    /** Rows as a hub leaves them that removes those of an owner, hides the owner and ends. */
    private static final String HIDE =
            EMPTY + " UPDATE lane SET owner = 'hash#' || lane_no WHERE lane.owner = 'anonymous'";

    private static final String TELL = "INSERT INTO epoch (kind, n) VALUES (" + Epoch.ERASED_TASKS.number() + ", 1)"
            + " ON CONFLICT (kind) DO UPDATE SET n = epoch.n + 1";

    private static final String HIDDEN =
            "SELECT count(*) FROM task JOIN lane USING (lane_no) WHERE lane.owner LIKE 'hash#%'";

    private final SharedSchema schema = new SharedSchema();
    private Store writer;
    private Store reader;

    @BeforeEach
    void open() {
        writer = schema.store(InstantSource.system());
        reader = schema.store(InstantSource.system());
    }

    @AfterEach
    void close() {
        writer.close();
        reader.close();
    }

    private static AgentEndpoint host(Store store) {
        return Engine.builder(store.log())
                .build()
                .host(Agent.named("agent", "Completes").handle((request, reply) -> reply.complete("done")));
    }

    private static Task send(AgentEndpoint agent, String id) {
        Message message = Message.user(Part.text("hello")).withId(id);
        var send = new SendMessage(null, message, new SendConfiguration(List.of(), null, null, false), Map.of());
        return (Task) agent.call(send, CALLER);
    }

    private static boolean isFound(AgentEndpoint agent, Task task) {
        try {
            return agent.call(GetTask.of(task.id()), CALLER).id().equals(task.id());
        } catch (A2AException notFound) {
            return false;
        }
    }

    private long number(String sql) {
        return reader.database().read(session -> session.number(sql));
    }

    @Test
    void tasksForAnOwnerThatAHubHasHiddenBeforeItsEndAreFoundAgain() {
        List<AgentEndpoint> agents = List.of(host(writer), host(reader));
        send(agents.getFirst(), "known");
        send(agents.getLast(), "known, too");
        schema.run(HIDE);
        List<Task> tasks = List.of(send(agents.getFirst(), "first"), send(agents.getLast(), "second"));
        assertThat(number(HIDDEN)).isEqualTo(2);

        schema.run(TELL);

        Eventually.holds("tasks have their owner again", () -> number(HIDDEN) == 0);
        Eventually.holds(
                "all hubs find both tasks",
                () -> agents.stream().allMatch(agent -> tasks.stream().allMatch(task -> isFound(agent, task))));
        send(agents.getFirst(), "third");
        assertThat(send(agents.getLast(), "first").id())
                .isEqualTo(tasks.getFirst().id());
        assertThat(number("SELECT count(*) FROM task")).isEqualTo(3);
        assertThat(number("SELECT sum(tasks) FROM tally JOIN lane USING (lane_no) WHERE lane.owner = 'anonymous'"))
                .isEqualTo(3);
        assertThat(number("SELECT count(*) FROM tally JOIN lane USING (lane_no) WHERE lane.owner LIKE 'hash#%'"))
                .isZero();
    }

    @Test
    void otherHubsCompareTheirCopiesWithTheNewestEventsOfTasks() {
        Task task = send(host(writer), "stays");
        var newest = new CompletableFuture<Map<String, Long>>();
        reader.log().onOthers(() -> {}, existing -> newest.complete(existing.of(Set.of(task.id(), "erased"))));

        schema.run(TELL);

        assertThat(newest.orTimeout(20, TimeUnit.SECONDS).join())
                .isEqualTo(Map.of(task.id(), number("SELECT last_seq FROM task")))
                .doesNotContainValue(0L);
    }

    @Test
    void anOwnerIsHiddenAndToldOfInOneTransaction() {
        send(host(writer), "known");
        schema.run(EMPTY);

        reader.log().forget(CALLER.scope().group(), CALLER.scope().owner());

        assertThat(number(
                        "SELECT count(*) FROM lane JOIN epoch ON lane.xmin = epoch.xmin WHERE lane.owner LIKE '%#%' AND kind = "
                                + Epoch.ERASED_TASKS.number()))
                .isEqualTo(1);
    }
}
