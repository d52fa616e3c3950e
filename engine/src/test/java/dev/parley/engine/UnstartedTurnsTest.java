package dev.parley.engine;

import static dev.parley.engine.Calls.ALICE;
import static dev.parley.engine.Calls.await;
import static dev.parley.engine.Calls.awaitUntil;
import static dev.parley.engine.Calls.sendImmediately;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.scheduling.ScarceThreads;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.Priority;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Turns of an agent whose thread does not start, or whose priority cannot be computed, release their slots, and their tasks end. */
@Timeout(60)
final class UnstartedTurnsTest {
    private final ScarceThreads threads = new ScarceThreads();
    private final Engine engine =
            Engine.builder(new MemoryTaskLog()).threads(threads).build();
    private final CountDownLatch busy = new CountDownLatch(1);

    @AfterEach
    void close() {
        busy.countDown();
        engine.close();
    }

    private Agent agent() {
        return agent(message -> Priority.MEDIUM);
    }

    private Agent agent(Function<Message, Priority> priority) {
        return Agent.named("agent", "Asks first")
                .concurrency(1)
                .priority(priority)
                .handle((request, reply) -> {
                    if (request.text().equals("busy")) {
                        busy.await();
                    }
                    if (request.isFollowUp() || request.text().equals("busy")) {
                        reply.complete(request.text());
                    } else {
                        reply.askForInput("what?");
                    }
                });
    }

    private static Task ask(AgentEndpoint agent, String text) {
        Task task = sendImmediately(agent, text);
        awaitUntil(
                "the question", () -> agent.call(GetTask.of(task.id()), ALICE).state() == TaskState.INPUT_REQUIRED);
        return task;
    }

    private static Task answer(AgentEndpoint agent, Task asked, String text) {
        sendImmediately(agent, Message.user(Part.text(text)).in(null, asked.id()));
        return await(agent, asked.id());
    }

    @Test
    void aFollowUpWithoutAThreadEndsItsTask() {
        AgentEndpoint agent = engine.host(agent());
        Task asked = ask(agent, "hello");
        threads.fail("agent", 1);

        assertThat(answer(agent, asked, "bread").state()).isEqualTo(TaskState.FAILED);
        assertThat(answer(agent, ask(agent, "hello"), "butter").text()).isEqualTo("butter");
    }

    @Test
    void aTaskThatWaitsAndGetsNoThreadEnds() {
        AgentEndpoint agent = engine.host(agent());
        Task first = sendImmediately(agent, "busy");
        Task second = sendImmediately(agent, "hello");
        threads.fail("agent", 1);
        busy.countDown();

        assertThat(await(agent, first.id()).state()).isEqualTo(TaskState.COMPLETED);
        assertThat(await(agent, second.id()).state()).isEqualTo(TaskState.FAILED);
        assertThat(answer(agent, ask(agent, "hello"), "butter").text()).isEqualTo("butter");
    }

    @Test
    void aMessageWithoutAThreadLeavesNothing() {
        AgentEndpoint agent = engine.host(agent());
        threads.fail("agent", 1);

        assertThatThrownBy(() -> sendImmediately(agent, "hello")).isInstanceOf(OutOfMemoryError.class);

        assertThat(answer(agent, ask(agent, "hello"), "butter").text()).isEqualTo("butter");
    }

    @Test
    void aFollowUpGoesOnWithoutAPriority() {
        AgentEndpoint agent = engine.host(agent(message -> {
            if (message.text().equals("bread")) {
                throw new IllegalStateException("no priority, says a test");
            }
            return Priority.HIGH;
        }));

        assertThat(answer(agent, ask(agent, "hello"), "bread").text()).isEqualTo("bread");
        assertThatThrownBy(() -> sendImmediately(agent, "bread")).isInstanceOf(IllegalStateException.class);
    }
}
