package dev.parley.gateway.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.ListTasks;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a gateway with open tasks of several callers. */
@Timeout(180)
@Tag("heavy")
final class GatewayCrashTest {
    private static final int CALLERS = 10;
    private static final int TASKS = 100;

    @TempDir
    private Path data;

    @Test
    @DisplayName("each caller finds its own of 100 open tasks after the gateway was killed, and no other")
    void killed() throws Exception {
        var end = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "Waits for the test")
                .concurrency(TASKS)
                .handle((request, reply) -> {
                    reply.working("waiting");
                    end.await();
                    reply.complete("of " + request.text());
                });
        var ids = new ArrayList<String>();
        try (Hub remote = Hub.builder()
                .inMemory()
                .port(0)
                .agents(slow)
                .drain(Duration.ZERO)
                .start()) {
            try (var gateway = new Child(
                    CrashedGateway.class, data.toString(), remote.agentUrl("slow"), String.valueOf(CALLERS))) {
                var immediately = new SendConfiguration(List.of(), null, null, true);
                for (int i = 0; i < TASKS; i++) {
                    try (AgentClient caller = client(gateway.url, i % CALLERS)) {
                        Message message = Message.user(Part.text("caller-" + i % CALLERS));
                        ids.add(((Task) caller.send(message, immediately)).id());
                    }
                }
            }
            try (var gateway = new Child(
                    CrashedGateway.class, data.toString(), remote.agentUrl("slow"), String.valueOf(CALLERS))) {
                end.countDown();
                for (int i = 0; i < CALLERS; i++) {
                    try (AgentClient caller = client(gateway.url, i)) {
                        var found = new ArrayList<String>();
                        caller.allTasks(ListTasks.all()).forEach(task -> found.add(task.id()));
                        var own = new ArrayList<String>();
                        for (int task = i; task < TASKS; task += CALLERS) {
                            own.add(ids.get(task));
                        }
                        assertThat(found).containsExactlyInAnyOrderElementsOf(own);
                        String foreign = ids.get((i + 1) % CALLERS);
                        assertThat(catchThrowableOfType(A2AException.class, () -> caller.task(foreign))
                                        .error())
                                .isEqualTo(A2AError.TASK_NOT_FOUND);
                        try (var stream = caller.subscribe(own.getFirst())) {
                            while (stream.hasNext()) {
                                assertThat(stream.next()).isNotNull();
                            }
                        } catch (A2AException ended) {
                            assertThat(ended.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
                        }
                        assertThat(caller.task(own.getFirst()).text()).isEqualTo("of caller-" + i);
                    }
                }
            }
        }
    }

    private static AgentClient client(String url, int caller) {
        return AgentClient.builder()
                .apiKey("caller-" + caller + CrashedGateway.SECRET)
                .connect(url + "/agents/far");
    }
}
