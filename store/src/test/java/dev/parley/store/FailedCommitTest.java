package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.store.Database.Session;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commits that fail: nothing but their own work may suffer. */
@Timeout(60)
final class FailedCommitTest {
    private static final CallContext ALICE = CallContext.anonymous();

    @TempDir
    Path directory = Path.of("");

    /** Fails commits while it is told to. */
    private static final class Faults implements Database.GroupListener {
        volatile boolean failing;

        @Override
        public void beforeCommit(Session session) throws SQLException {
            if (failing) {
                throw new SQLException("disk full");
            }
        }

        @Override
        public void committed(int works) {}

        @Override
        public void rolledBack() {}
    }

    @Test
    void anAgentThatEmitsOnWhileItsFirstSegmentFailsDoesNotStopTheWriter() {
        Store store = Store.open(directory);
        var faults = new Faults();
        store.database().listen(faults);
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

            faults.failing = true;
            assertThatThrownBy(() -> send(agent)).isInstanceOf(A2AException.class);
            awaitOpen(emitted);
            faults.failing = false;

            assertThat(((Task) send(agent)).state()).isEqualTo(TaskState.COMPLETED);
            assertThat(agent.call(ListTasks.all(), ALICE).totalSize()).isEqualTo(1);
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
