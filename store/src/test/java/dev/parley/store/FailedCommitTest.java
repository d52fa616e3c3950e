package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Engine;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Operation.SubscribeToTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.database.DatabaseSession;
import dev.parley.store.database.GroupListener;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.testkit.Eventually;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Commits that fail: nothing but their own work may suffer. */
@Timeout(60)
final class FailedCommitTest {
    private static final CallContext ALICE = CallContext.anonymous();

    @TempDir
    Path directory = Path.of("");

    private final Faults faults = new Faults();

    /** When a transaction fails. */
    enum Moment {
        BEFORE_COMMIT,
        COMMIT
    }

    /** Fails transactions of works at a moment, not those by which the database finds out whether it can write. */
    private static final class Faults implements GroupListener {
        volatile @Nullable Moment failing;

        private volatile boolean isOfWorks;

        @Override
        public void beforeCommit(DatabaseSession session) throws SQLException {
            Moment now = failing;
            if (now == Moment.BEFORE_COMMIT) {
                throw new SQLException("disk full");
            }
            isOfWorks = now == Moment.COMMIT;
        }

        @Override
        public void rolledBack() {
            isOfWorks = false;
        }

        Connection wrap(Connection connection) {
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("commit") && isOfWorks) {
                            throw new SQLException("disk full");
                        }
                        try {
                            return method.invoke(connection, arguments);
                        } catch (InvocationTargetException failure) {
                            throw failure.getCause();
                        }
                    });
        }
    }

    private Store storeWithFaults() {
        Store store = Store.open(directory, InstantSource.system(), EncryptionAtRest.PLAIN, faults::wrap);
        store.database().listen(faults);
        return store;
    }

    @ParameterizedTest
    @EnumSource
    void anAgentThatEmitsOnWhileItsFirstSegmentFailsDoesNotStopTheWriter(Moment moment) {
        Store store = storeWithFaults();
        var emitted = new CountDownLatch(1);
        try (Engine engine =
                Engine.builder(store.log()).grace(Duration.ofMillis(100)).build()) {
            AgentEndpoint agent =
                    engine.host(Agent.named("agent", "Emits 200 events").handle((request, reply) -> {
                        try {
                            for (int i = 0; i < 200; i++) {
                                reply.working("step " + i);
                            }
                        } finally {
                            emitted.countDown();
                        }
                        reply.complete("done");
                    }));

            faults.failing = moment;
            assertThatThrownBy(() -> send(agent)).isInstanceOf(A2AException.class);
            awaitOpen(emitted);
            faults.failing = null;

            assertThat(((Task) send(agent)).state()).isEqualTo(TaskState.COMPLETED);
            assertThat(agent.call(ListTasks.all(), ALICE).totalSize()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTaskThatAFailedCommitCutOffIsTakenUpAgain(Moment moment) throws Exception {
        Store store = storeWithFaults();
        var working = new CountDownLatch(1);
        var go = new CountDownLatch(1);
        try (Engine engine =
                Engine.builder(store.log()).grace(Duration.ofMillis(100)).build()) {
            AgentEndpoint agent =
                    engine.host(Agent.named("agent", "Goes on").resumable(true).handle((request, reply) -> {
                        reply.working("busy");
                        if (request.attempt() == 1) {
                            working.countDown();
                            go.await();
                            reply.working("still busy");
                        }
                        reply.complete("attempt " + request.attempt());
                    }));
            Task begun = (Task) agent.call(
                    new SendMessage(
                            null,
                            Message.user(Part.text("go")),
                            new SendConfiguration(List.of(), null, null, true),
                            Map.of()),
                    ALICE);
            working.await();

            faults.failing = moment;
            go.countDown();
            assertThatThrownBy(() -> await(agent, begun.id())).isInstanceOf(A2AException.class);
            faults.failing = null;

            await(agent, begun.id());
            assertThat(agent.call(GetTask.of(begun.id()), ALICE).text()).isEqualTo("attempt 2");
        }
    }

    @Test
    void aDamagedSegmentKeepsNeitherTheStartNorTheListOfItsOwnerFromWorking() throws Exception {
        AgentHandler stuck = (request, reply) -> {
            reply.working("busy");
            new CountDownLatch(1).await();
        };
        try (Engine engine =
                Engine.builder(Store.open(directory).log()).grace(Duration.ZERO).build()) {
            AgentEndpoint agent = engine.host(Agent.named("agent", "Is cut off").handle(stuck));
            for (int i = 0; i < 2; i++) {
                agent.call(
                        new SendMessage(
                                null,
                                Message.user(Part.text("go")),
                                new SendConfiguration(List.of(), null, null, true),
                                Map.of()),
                        ALICE);
            }
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE segment SET events = x'00' WHERE task_id = (SELECT min(task_id) FROM segment)");
        }

        try (Engine engine = Engine.builder(Store.open(directory).log()).build()) {
            AgentEndpoint agent = engine.host(Agent.named("agent", "Is there").handle(stuck));

            List<Task> tasks = agent.call(ListTasks.all(), ALICE).tasks();
            assertThat(tasks).hasSize(2);
            Eventually.asserted(
                    "the damaged task is reported",
                    () -> assertThat(engine.unreadable())
                            .singleElement()
                            .satisfies(task ->
                                    assertThat(task.reason()).contains("the segment of event 1 cannot be read")));
        }
    }

    /** Waits until the task ends. */
    private static void await(AgentEndpoint agent, String id) throws InterruptedException {
        try (Feed<LoggedEvent> stream = agent.watch(new SubscribeToTask(null, id, 0L), ALICE)) {
            for (var some = stream.next(Duration.ofSeconds(30));
                    some != null;
                    some = stream.next(Duration.ofSeconds(30))) {
                assertThat(some).as("events within 30 s").isNotEmpty();
            }
        }
    }

    private static Object send(AgentEndpoint agent) {
        return agent.call(SendMessage.of(Message.user(Part.text("go"))), ALICE);
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            throw new IllegalStateException(stopped);
        }
    }
}
