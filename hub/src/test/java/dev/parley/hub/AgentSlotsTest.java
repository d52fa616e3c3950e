package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Groups share the slots of an agent. */
@Timeout(60)
final class AgentSlotsTest {
    private static final int SLOTS = 16;
    private static final int GREEDY_SLOTS = 14; // 7/8
    private static final String GREEDY_KEY = "the-key-of-the-greedy-group";
    private static final String ORDINARY_KEY = "the-key-of-the-ordinary-group";

    @Test
    @DisplayName("S74: tasks that one group sends without waiting for them leave slots of the agent to another group")
    void tasksOfOneGroupThatRunWithoutACallerLeaveSlotsToAnotherGroup() throws Exception {
        var running = new CountDownLatch(GREEDY_SLOTS);
        var mayEnd = new CountDownLatch(1);
        Agent agent = Agent.named("slow", "Waits if it is asked to")
                .concurrency(SLOTS)
                .handle((request, reply) -> {
                    if (request.text().equals("wait")) {
                        running.countDown();
                        mayEnd.await();
                    }
                    reply.complete("done");
                });
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .agents(agent)
                .callers(Callers.builder()
                        .apiKey("mallory", GREEDY_KEY)
                        .group("mallory", "greedy")
                        .apiKey("alice", ORDINARY_KEY)
                        .group("alice", "ordinary")
                        .build())
                .authentication(Authentication.named(List.of("apiKey")))
                .start()) {
            var outsider = new Outsider(hub.url());
            try {
                for (int i = 0; i < 4 * SLOTS; i++) {
                    send(outsider, GREEDY_KEY, "wait", ",'configuration':{'returnImmediately':true}");
                }
                assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();

                // Answered while the tasks of the other group still run: they end only after this call.
                assertThat(send(outsider, ORDINARY_KEY, "hello", "")).isEqualTo("TASK_STATE_COMPLETED");
            } finally {
                mayEnd.countDown();
            }
        }
    }

    /** Sends a message, and returns the state of its task. */
    private static String send(Outsider outsider, String key, String text, String more) throws Exception {
        String message = "{'message':{'messageId':'" + UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'"
                + text + "'}]}" + more + "}";
        return outsider.result("/agents/slow", "SendMessage", message, "X-Api-Key", key, "A2A-Version", "1.0")
                .at("task", "status", "state")
                .text();
    }
}
