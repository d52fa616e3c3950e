package dev.parley.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.engine.spi.ConversationMemory;
import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.store.database.SharedSchema;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.memories.JdbcMemories;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Erasure of the data of a caller whose task another hub runs, which works with the same PostgreSQL database. */
@Timeout(120)
@Tag("heavy")
final class ErasureOfRunsTest {
    private static final CallContext ALICE = CallContext.of("alice", new Scope("T1", "alice"));
    private static final CallContext OPERATOR = CallContext.of("admin", new Scope("ops", "admin"));

    private final SharedSchema schema = new SharedSchema();
    private final List<Engine> engines = new ArrayList<>();
    private final CountDownLatch begun = new CountDownLatch(1);
    /** How the run has ended: whether it was canceled, and how a write of its memory failed. */
    private final CompletableFuture<Ended> ended = new CompletableFuture<>();

    private record Ended(boolean isCanceled, @Nullable Throwable late) {}

    private record Hub(Engine engine, Store store, Memories memories, AgentEndpoint agent) {}

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
    }

    private Hub hub() {
        Store store = schema.store(InstantSource.system());
        var memories = new JdbcMemories(store.database(), InstantSource.system(), EncryptionAtRest.PLAIN);
        Engine engine = Engine.builder(store.log())
                .grace(Duration.ZERO)
                .memories(memories)
                .build();
        engines.add(engine);
        return new Hub(
                engine,
                store,
                memories,
                engine.host(Agent.named("desk", "Remembers").handle(this::handle)));
    }

    private void handle(Request request, Reply reply) {
        ConversationMemory memory = request.memory().orElseThrow();
        memory.write("begun");
        reply.progress(1, "waits");
        begun.countDown();
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException canceled) {
            ended.complete(new Ended(request.isCanceled(), catchThrowable(() -> memory.write("late"))));
        }
    }

    private TaskKey running(Hub owner) throws Exception {
        var now = new SendConfiguration(List.of(), null, null, true);
        Task task = (Task) owner.agent.call(new SendMessage(null, Message.user(Part.text("go")), now, Map.of()), ALICE);
        assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
        return new TaskKey(ALICE.scope(), "desk", task.id());
    }

    private void assertErased(Hub owner) throws Exception {
        Ended run = ended.get(30, TimeUnit.SECONDS);
        assertThat(run.isCanceled()).isTrue();
        assertThat(run.late()).isInstanceOf(CancellationException.class);
        assertThat(owner.memories.about(new Subject("T1", "alice", null), null, 9))
                .isEmpty();
    }

    @Test
    void anErasureCancelsTheTaskThatAnotherHubRuns() throws Exception {
        Hub owner = hub();
        Hub other = hub();
        TaskKey task = running(owner);

        assertThat(other.engine.erase(
                        new Subject("T1", "alice", null),
                        OPERATOR,
                        ids -> assertThat(ended)
                                .as("canceled before it is removed")
                                .succeedsWithin(Duration.ofSeconds(30))))
                .isEqualTo(1);

        assertErased(owner);
        assertThat(owner.store.log().find(task)).isEmpty();
    }

    @Test
    void aRunEndsWhoseTaskAnotherHubHasRemoved() throws Exception {
        Hub owner = hub();
        Hub other = hub();
        TaskKey task = running(owner);

        other.store.log().erase(List.of(task));
        other.memories.erase(new Subject("T1", "alice", null));

        assertErased(owner);
    }
}
