package dev.parley.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.scheduling.Threads;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.engine.spi.TaskLog.Claim;
import dev.parley.engine.spi.TaskLog.MessageKey;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two engines that write to one log. */
@Timeout(30)
final class ClaimsTest {
    private static final CallContext CALLER = CallContext.anonymous();
    private static final Message MESSAGE = Message.user(Part.text("hello")).withId("m-1");
    private static final MessageKey KEY = new MessageKey(CALLER.scope(), "agent", "m-1");

    /** No time passes, so that an agent is never late with its first word. */
    private static final Threads TIMELESS = new Threads() {
        @Override
        public void start(String name, Runnable work) {
            PLATFORM.start(name, work);
        }

        @Override
        public ScheduledExecutorService timer(String name) {
            return PLATFORM.timer(name);
        }

        @Override
        public ReentrantLock lock() {
            return PLATFORM.lock();
        }

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public String id(Instant now) {
            return PLATFORM.id(now);
        }

        @Override
        public double random() {
            return PLATFORM.random();
        }
    };

    private final MemoryTaskLog log = new MemoryTaskLog(InstantSource.system(), Once.CLAIM);
    private final AtomicInteger runs = new AtomicInteger();

    private AgentEndpoint host(Engine engine, AgentHandler handler) {
        return engine.host(
                Agent.named("agent", "For a test").concurrency(1).queueLimit(1).handle((request, reply) -> {
                    runs.incrementAndGet();
                    handler.handle(request, reply);
                }));
    }

    private static SendResult send(AgentEndpoint agent, Message message) {
        var configuration = new SendConfiguration(List.of(), null, null, true);
        return agent.call(new SendMessage(null, message, configuration, Map.of()), CALLER);
    }

    @Test
    void aMessageThatTwoEnginesGetIsOneTask() throws Exception {
        try (Engine first = Engine.builder(log).build();
                Engine second = Engine.builder(log).build()) {
            AgentHandler handler = (request, reply) -> reply.complete("done");
            AgentEndpoint one = host(first, handler);
            AgentEndpoint other = host(second, handler);

            CompletableFuture<SendResult> sent = CompletableFuture.supplyAsync(() -> send(one, MESSAGE));
            var task = (Task) send(other, MESSAGE);

            assertThat(((Task) sent.get()).id()).isEqualTo(task.id());
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    void aMessageThatOneEngineRefusesIsFreeForTheOther() throws Exception {
        try (Engine first = Engine.builder(log).grace(Duration.ZERO).build();
                Engine second = Engine.builder(log).build()) {
            var never = new CountDownLatch(1);
            AgentEndpoint full = host(first, (request, reply) -> never.await());
            AgentEndpoint other = host(second, (request, reply) -> reply.complete("done"));
            send(full, Message.user(Part.text("runs")));
            send(full, Message.user(Part.text("waits")));

            assertThatThrownBy(() -> send(full, MESSAGE))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("too many tasks waiting");

            assertThat(send(other, MESSAGE)).isInstanceOf(Task.class);
        }
    }

    @Test
    void aMessageThatIsAnsweredWithoutATaskIsFree() {
        try (Engine first = Engine.builder(log).threads(TIMELESS).build();
                Engine second = Engine.builder(log).threads(TIMELESS).build()) {
            AgentHandler handler = (request, reply) -> reply.message("answer");
            send(host(first, handler), MESSAGE);
            // The claim is released when the run ends, and a wait for it would have no end while the clock stands
            // still.
            Calls.awaitUntil(
                    "the first engine is idle",
                    () -> new Engine.Load(0, 0).equals(first.load().get("agent")));

            assertThat(send(host(second, handler), MESSAGE)).isInstanceOf(Message.class);
            assertThat(runs).hasValue(2);
        }
    }

    @Test
    void aWaitForTheTaskOfAnotherEngineEndsWithTheEngine() {
        Engine engine = Engine.builder(log).grace(Duration.ZERO).build();
        AgentEndpoint agent = host(engine, (request, reply) -> reply.complete("done"));
        log.claim(new Claim(KEY, "task-1", null)).join();
        CompletableFuture<SendResult> waiting = CompletableFuture.supplyAsync(() -> send(agent, MESSAGE));

        engine.close();

        assertThat(waiting)
                .failsWithin(Duration.ofSeconds(9))
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(A2AException.class);
        assertThat(runs).hasValue(0);
    }
}
