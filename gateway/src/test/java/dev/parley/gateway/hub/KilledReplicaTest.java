package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
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
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills one of two replicas, each a process of its own, while streams of both are open. */
@Timeout(180)
@Tag("heavy")
final class KilledReplicaTest {
    private static final int MOST_STREAMS = 60;

    @TempDir
    private Path data;

    /** An open stream of a task, up to its first artifact. */
    private record Held(String taskId, String contextId, Feed<LoggedEvent> feed) {
        static void begin(AgentClient client, Map<String, Held> byReplica) throws InterruptedException {
            var send = Operation.SendMessage.of(Message.user(Part.text("hold")));
            Feed<LoggedEvent> feed = client.watch(
                    new Operation.SendStreamingMessage(null, send.message(), send.configuration(), Map.of()),
                    CallContext.anonymous());
            for (List<LoggedEvent> next = feed.next(PATIENCE); next != null; next = feed.next(PATIENCE)) {
                for (LoggedEvent event : next) {
                    if (event.event() instanceof TaskArtifactUpdateEvent update) {
                        byReplica.put(text(update), new Held(update.taskId(), update.contextId(), feed));
                        return;
                    }
                }
            }
            throw new AssertionError("the stream ended");
        }

        /** The events up to the end. */
        List<LoggedEvent> rest() throws InterruptedException {
            var all = new ArrayList<LoggedEvent>();
            for (List<LoggedEvent> next = feed.next(PATIENCE); next != null; next = feed.next(PATIENCE)) {
                all.addAll(next);
            }
            return all;
        }
    }

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static String text(TaskArtifactUpdateEvent update) {
        return ((Part.Text) update.artifact().parts().getFirst()).text();
    }

    private Child replica(String name, int port) throws Exception {
        return new Child(KilledReplica.class, name, data.resolve(name).toString(), String.valueOf(port));
    }

    /** A stream at each replica. */
    private static Map<String, Held> held(AgentClient client) throws InterruptedException {
        var byReplica = new HashMap<String, Held>();
        for (int i = 0; i < MOST_STREAMS && byReplica.size() < 2; i++) {
            Held.begin(client, byReplica);
        }
        assertThat(byReplica).containsOnlyKeys("a", "b");
        return byReplica;
    }

    private static AgentClient client(Hub gateway, String route, int retries) {
        return AgentClient.builder().retries(retries).reconnects(0).connect(gateway.agentUrl(route));
    }

    private static String breaker(Hub gateway, String route, String replica) throws Exception {
        for (Object each :
                (List<?>) requireNonNull(Admin.of(gateway).show(route).get("replicas"))) {
            Map<?, ?> shown = (Map<?, ?>) each;
            if (String.valueOf(shown.get("url")).startsWith(replica)) {
                return String.valueOf(shown.get("breaker"));
            }
        }
        throw new AssertionError("no replica " + replica);
    }

    @Test
    @DisplayName("streams of a killed replica end with an error or go on after its start; those of the other one go on")
    void killed() throws Exception {
        try (Hub gateway = Hub.builder().inMemory().port(0).drain(Duration.ZERO).start();
                Child b = replica("b", 0)) {
            String urlOfA;
            Held lost;
            Held resumed;
            Held other;
            try (Child a = replica("a", 0)) {
                urlOfA = a.url;
                List<String> replicas = List.of(a.url + "/agents/worker", b.url + "/agents/worker");
                add(gateway, "ending", replicas, "resumes=0", "pause=1h");
                add(gateway, "resuming", replicas, "resumes=100", "pause=0.2s");
                AgentClient ending = client(gateway, "ending", 0);
                Map<String, Held> ofEnding = held(ending);
                lost = requireNonNull(ofEnding.get("a"));
                other = requireNonNull(ofEnding.get("b"));
                resumed = requireNonNull(held(client(gateway, "resuming", 0)).get("a"));
            }

            // The replica is dead.
            AgentClient ending = client(gateway, "ending", 0);
            A2AException end = catchThrowableOfType(A2AException.class, lost::rest);
            assertThat(end).hasMessageContaining("The stream of the agent broke; the task goes on");
            assertThat(end.getMessage()).doesNotContain("127.0.0.1");
            A2AException read = catchThrowableOfType(A2AException.class, () -> ending.task(lost.taskId()));
            assertThat(read.error()).as("no other replica was asked").isEqualTo(A2AError.UNAVAILABLE);
            assertThat(breaker(gateway, "ending", urlOfA)).isEqualTo("open");
            for (int i = 0; i < 10; i++) {
                assertThat(((Message) ending.send("quick")).text()).isEqualTo("b");
            }
            assertThat(((Message) ending.send(Message.user(Part.text("release")).in(other.contextId(), null))).text())
                    .isEqualTo("released");
            assertEnded(other.rest(), "b attempt 1");
            AgentClient resuming = client(gateway, "resuming", 30);
            assertThat(catchThrowableOfType(
                                    A2AException.class,
                                    () -> client(gateway, "resuming", 0).task(resumed.taskId()))
                            .error())
                    .isEqualTo(A2AError.UNAVAILABLE);

            try (Child again = replica("a", URI.create(urlOfA).getPort())) {
                assertThat(again.url).isEqualTo(urlOfA);
                assertEnded(resumed.rest(), "a attempt 2");
                Task task = resuming.task(resumed.taskId()); // the client waits as long as the breaker says
                assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
                assertThat(breaker(gateway, "resuming", urlOfA)).isEqualTo("closed");
            }
        }
    }

    private static void add(Hub gateway, String route, List<String> replicas, String... settings) throws Exception {
        var set = new ArrayList<>(List.of(settings));
        set.addAll(List.of("failures=1", "retries=0", "probe=1h"));
        Admin.of(gateway).add(route, replicas.getFirst(), Map.of("replicas", replicas, "set", set));
    }

    private static void assertEnded(List<LoggedEvent> events, String text) {
        assertThat(events.stream()
                        .map(LoggedEvent::event)
                        .filter(TaskArtifactUpdateEvent.class::isInstance)
                        .map(event -> text((TaskArtifactUpdateEvent) event)))
                .containsExactly(text);
        assertThat(events.getLast().event())
                .isInstanceOfSatisfying(
                        TaskStatusUpdateEvent.class,
                        last -> assertThat(last.status().state()).isEqualTo(TaskState.COMPLETED));
    }
}
