package dev.parley.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.engine.spi.ConversationMemory;
import dev.parley.engine.spi.Memories;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.TaskLog.Subject;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What an engine removes of memories of conversations. */
final class MemoriesTest {
    private final CompletableFuture<Instant> removed = new CompletableFuture<>();
    private final CompletableFuture<Subject> erased = new CompletableFuture<>();

    private final Memories memories = new Memories() {
        @Override
        public Optional<String> read(Key key) {
            return Optional.empty();
        }

        @Override
        public long newestErasure() {
            return 0;
        }

        @Override
        public boolean write(Key key, String text, long begun, BooleanSupplier isWanted) {
            if (text.equals("too much")) {
                throw A2AException.of(A2AError.QUOTA_EXCEEDED, "The group is full");
            }
            return isWanted.getAsBoolean();
        }

        @Override
        public void remove(Key key) {}

        @Override
        public int removeUnchanged(Instant before, int limit) {
            removed.complete(before);
            return 0;
        }

        @Override
        public List<Memory> about(Subject subject, @Nullable Key after, int limit) {
            return List.of();
        }

        @Override
        public int erase(Subject subject) {
            erased.complete(subject);
            return 1;
        }
    };

    @Test
    void memoriesHaveTheRetentionOfTasks() throws Exception {
        Instant begin = Instant.now();
        try (Engine engine = Engine.builder(new MemoryTaskLog())
                .memories(memories)
                .retention(Duration.ofHours(1))
                .build()) {
            assertThat(engine).isNotNull();
            Instant before = removed.get(30, TimeUnit.SECONDS);

            assertThat(before)
                    .isBetween(begin.minusSeconds(3_601), Instant.now().minusSeconds(3_599));
        }
    }

    @Test
    void erasureOfASubjectErasesItsMemories() {
        try (Engine engine =
                Engine.builder(new MemoryTaskLog()).memories(memories).build()) {
            var subject = new Subject("T1", "alice", null);

            engine.erase(subject, CallContext.anonymous(), ids -> {});

            assertThat(erased).isCompletedWithValue(subject);
        }
    }

    @Test
    void aTaskThatIsCanceledWritesNoMemory() throws Exception {
        var begun = new CountDownLatch(1);
        var outcome = new CompletableFuture<Throwable>();
        try (Engine engine =
                Engine.builder(new MemoryTaskLog()).memories(memories).build()) {
            AgentEndpoint agent = engine.host(Agent.named("agent", "For a test").handle((request, reply) -> {
                ConversationMemory memory = request.memory().orElseThrow();
                memory.write("while it runs");
                reply.progress(1, "waits");
                begun.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException canceled) {
                    outcome.complete(catchThrowable(() -> memory.write("too late")));
                }
            }));
            var now = new SendConfiguration(List.of(), null, null, true);
            Task task = (Task) agent.call(
                    new SendMessage(null, Message.user(Part.text("go")), now, Map.of()), CallContext.anonymous());

            assertThat(begun.await(30, TimeUnit.SECONDS)).isTrue();
            agent.call(CancelTask.of(task.id()), CallContext.anonymous());

            assertThat(outcome.get(30, TimeUnit.SECONDS)).isInstanceOf(CancellationException.class);
        }
    }

    @Test
    void aMemoryThatDoesNotFitIntoTheQuotaFailsTheTaskWithTheReason() throws Exception {
        var outcome = new CompletableFuture<Throwable>();
        try (Engine engine =
                Engine.builder(new MemoryTaskLog()).memories(memories).build()) {
            AgentEndpoint agent = engine.host(Agent.named("agent", "For a test").handle((request, reply) -> {
                ConversationMemory memory = request.memory().orElseThrow();
                outcome.complete(catchThrowable(() -> memory.write("too much")));
                memory.write("too much");
            }));

            Task task = (Task) agent.call(SendMessage.of(Message.user(Part.text("go"))), CallContext.anonymous());

            assertThat(task.state()).isEqualTo(TaskState.FAILED);
            assertThat(requireNonNull(task.status().message()).text()).isEqualTo("The group is full");
            assertThat(outcome.get(30, TimeUnit.SECONDS)).isInstanceOf(TaskEndedException.class);
        }
    }

    @Test
    void aTextOfMoreThanFourMebiCharactersIsRefused() {
        var key = new Memories.Key(CallContext.anonymous().scope(), "agent", "c1");
        var memory = new ConversationMemory(memories, key, () -> true, full -> {});
        String longest = "x".repeat(ConversationMemory.MAX_CHARACTERS);
        memory.write(longest);

        assertThatThrownBy(() -> memory.write(longest + "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("4194305 characters (expected: at most 4194304)");
    }
}
