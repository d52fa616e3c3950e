package dev.parley.gateway.upstream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Streams of a real hub that stops in the middle. */
@Timeout(60)
class ReplicaKilledTest {
    @TempDir
    Path data;

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void close() {
        timer.shutdownNow();
    }

    private Hub hub(int port) {
        var never = new CountDownLatch(1);
        Agent agent = Agent.named("worker", "Continues after a crash")
                .resumable(true)
                .handle((request, reply) -> {
                    if (request.attempt() == 1) {
                        reply.artifact("first", "one");
                        reply.artifact("second", "two");
                        never.await();
                    }
                    reply.artifact("third", "three");
                    reply.complete();
                });
        return Hub.builder()
                .data(data)
                .port(port)
                .drain(Duration.ZERO)
                .agents(agent)
                .start();
    }

    private Upstream upstream(String url, Map<String, Object> changes) {
        var json = new HashMap<String, Object>(changes);
        json.put("replicas", List.of(url));
        return Upstream.of(
                "worker",
                UpstreamSettings.read(json),
                new GatewayParts(ReplicaConnector.PLAIN, AgentClient::builder, null, timer, System::nanoTime));
    }

    private static Feed<LoggedEvent> stream(Upstream upstream) {
        var send = Operation.SendMessage.of(Message.user(Part.text("go")));
        return upstream.watch(
                        new Operation.SendStreamingMessage(null, send.message(), send.configuration(), Map.of()),
                        CallContext.anonymous(),
                        null)
                .value();
    }

    /** Reads until an artifact of this name, or the end. */
    private static List<LoggedEvent> until(Feed<LoggedEvent> feed, String artifact) throws InterruptedException {
        var all = new ArrayList<LoggedEvent>();
        while (true) {
            List<LoggedEvent> next = feed.next(Duration.ofSeconds(30));
            if (next == null) {
                return all;
            }
            all.addAll(next);
            if (names(all).contains(artifact)) {
                return all;
            }
        }
    }

    private static List<String> names(List<LoggedEvent> events) {
        return events.stream()
                .map(LoggedEvent::event)
                .filter(TaskArtifactUpdateEvent.class::isInstance)
                .map(event -> String.valueOf(
                        ((TaskArtifactUpdateEvent) event).artifact().name()))
                .toList();
    }

    @Test
    void aStreamGoesOnWhenItsReplicaIsBack() throws Exception {
        Hub before = hub(0);
        int port = java.net.URI.create(before.url()).getPort();
        try (Upstream upstream = upstream(before.url() + "/agents/worker", Map.of());
                Feed<LoggedEvent> feed = stream(upstream)) {
            List<LoggedEvent> events = until(feed, "second");

            before.close();
            try (Hub after = hub(port)) {
                assertThat(after.url()).endsWith(":" + port);
                events.addAll(until(feed, "none"));
            }

            assertThat(names(events)).containsExactly("first", "second", "third");
            List<Long> numbers = events.stream().map(LoggedEvent::sequence).toList();
            assertThat(numbers)
                    .as("no event comes twice")
                    .doesNotHaveDuplicates()
                    .isSorted();
            assertThat(events.getLast().event())
                    .isInstanceOfSatisfying(
                            TaskStatusUpdateEvent.class,
                            end -> assertThat(end.status().state()).isEqualTo(TaskState.COMPLETED));
            assertThat(events.getFirst().event()).isInstanceOf(Task.class);
        }
    }

    @Test
    void aStreamOfALostReplicaEndsWithAnError() throws Exception {
        Hub before = hub(0);
        try (Upstream upstream = upstream(before.url() + "/agents/worker", Map.of("resumes", 2));
                Feed<LoggedEvent> feed = stream(upstream)) {
            until(feed, "second");

            before.close();

            assertThatThrownBy(() -> until(feed, "none"))
                    .hasMessage("The stream of the agent broke; the task goes on")
                    .message()
                    .doesNotContain("127.0.0.1");
            assertThat(upstream.status().getFirst().outstanding()).isZero();
        }
    }
}
