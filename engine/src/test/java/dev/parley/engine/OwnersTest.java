package dev.parley.engine;

import static dev.parley.engine.Calls.await;
import static dev.parley.engine.Calls.sendImmediately;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Once;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Engines that write to one log, each of which runs the tasks that it owns. */
@Timeout(60)
final class OwnersTest {
    private volatile Instant now = Instant.parse("2026-01-01T12:00:00Z");
    private final MemoryTaskLog log = new MemoryTaskLog(() -> now, Once.CLAIM);
    private final List<Engine> engines = new ArrayList<>();
    /** Engines and tasks of the runs that have begun. */
    private final LinkedBlockingQueue<String> begun = new LinkedBlockingQueue<>();

    private final LinkedBlockingQueue<String> steps = new LinkedBlockingQueue<>();

    @AfterEach
    void close() {
        engines.forEach(Engine::close);
    }

    private Engine engine(MemoryTaskLog log) {
        Engine engine = Engine.builder(log).grace(Duration.ZERO).build();
        engines.add(engine);
        return engine;
    }

    private AgentEndpoint host(Engine engine, String name) {
        return engine.host(Agent.named("agent", "Works until it is told to end")
                .resumable(true)
                .concurrency(1)
                .handle((request, reply) -> {
                    reply.working("busy");
                    begun.add(name + " " + request.taskId());
                    steps.take();
                    reply.complete(name + " " + request.attempt());
                }));
    }

    private String nextRun() throws InterruptedException {
        String run = begun.poll(30, TimeUnit.SECONDS);
        return run == null ? "none within 30 s" : run;
    }

    @Test
    void anEngineThatStartsBesideAnotherDoesNotRunItsTasks() throws Exception {
        AgentEndpoint one = host(engine(log), "one");
        Task working = sendImmediately(one, "hello");
        Task submitted = sendImmediately(one, "hello");
        assertThat(nextRun()).isEqualTo("one " + working.id());

        AgentEndpoint other = host(engine(log.share()), "other");
        assertThat(other.call(GetTask.of(working.id()), Calls.ALICE).state()).isEqualTo(TaskState.WORKING);
        assertThat(other.call(GetTask.of(submitted.id()), Calls.ALICE).state()).isEqualTo(TaskState.SUBMITTED);
        steps.add("end");

        assertThat(nextRun()).isEqualTo("one " + submitted.id());
        steps.add("end");
        assertThat(await(one, working.id()).text()).isEqualTo("one 1");
        assertThat(await(one, submitted.id()).text()).isEqualTo("one 1");
        assertThat(begun).isEmpty();
    }

    @Test
    void aLoneEngineTakesUpAllTasks() throws Exception {
        var alone = new MemoryTaskLog(() -> now);
        AgentEndpoint before = host(engine(alone), "before");
        Task working = sendImmediately(before, "hello");
        Task submitted = sendImmediately(before, "hello");
        assertThat(nextRun()).isEqualTo("before " + working.id());
        engines.removeFirst().close();

        host(engine(alone), "after");

        for (int i = 0; i < 2; i++) {
            assertThat(nextRun()).isIn("after " + working.id(), "after " + submitted.id());
            steps.add("end");
        }
    }
}
