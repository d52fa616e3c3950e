package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Steps at agents of other hubs. */
@Timeout(120)
@Tag("heavy")
final class ForeignStepsTest {
    @TempDir
    private Path data;

    private final ConcurrentLinkedQueue<String> calls = new ConcurrentLinkedQueue<>();

    private static HubBuilder hub() {
        return Hub.builder().port(0).inMemory();
    }

    private static HubBuilder open() {
        return hub().webhookAllow(List.of("127.0.0.1", "localhost"));
    }

    private Agent echo(String name) {
        return Agent.named(name, "Echoes").handle((request, reply) -> {
            calls.add(name + ":" + request.text());
            reply.complete(name + "(" + request.text() + ")");
        });
    }

    private static Message document(String... steps) {
        String json = "{'workflow':{'steps':[" + String.join(",", steps) + "]}}";
        return Message.user(Part.data(Json.read(json.replace('\'', '"').getBytes(UTF_8), Map.class)));
    }

    private static Task run(Hub hub, String... steps) {
        try (AgentClient one = AgentClient.connect(hub.url() + "/one")) {
            return (Task) one.send(document(steps));
        }
    }

    private static String reason(Task run) {
        return run.status().message() == null ? "" : run.status().message().text();
    }

    private static String result(Task run) {
        return ((Part.Text) run.artifacts().getFirst().parts().getFirst()).text();
    }

    @Test
    @DisplayName("ONE36 steps run at agents of other hubs, of 1.0 and of 0.3, and hand results on")
    void dialects() {
        try (Hub newer = hub().dialects(List.of("1.0")).agents(echo("a")).start();
                Hub older = hub().dialects(List.of("0.3")).agents(echo("b")).start();
                Hub hub = open().agents(echo("c")).start()) {
            Task run = run(
                    hub,
                    "{'id':'1','agent':'" + newer.url() + "/agents/a','task':'x','parameters':{'text':'t'}}",
                    "{'id':'2','agent':'" + older.url() + "/agents/b','task':'x','depends':['1']}",
                    "{'id':'3','agent':'c','task':'x','depends':['2']}");

            assertThat(run.state()).as(reason(run)).isEqualTo(TaskState.COMPLETED);
            assertThat(result(run)).isEqualTo("c(b(a(t)))");
        }
    }

    @Test
    @DisplayName("a step that is a workflow runs at another hub")
    void workflowElsewhere() {
        try (Hub other = hub().agents(echo("a")).start();
                Hub hub = open().start()) {
            Task run = run(
                    hub,
                    "{'agent':'" + other.url() + "/one','task':'workflow','parameters':{'workflow':{'steps':["
                            + "{'agent':'a','task':'x','parameters':{'text':'t'}}]}}}");

            assertThat(run.state()).as(reason(run)).isEqualTo(TaskState.COMPLETED);
            assertThat(result(run)).isEqualTo("a(t)");
        }
    }

    @Test
    @DisplayName("a step at a private address is refused unless the operator allows it, and nothing is sent")
    void privateAddresses() {
        try (Hub other = hub().agents(echo("a")).start();
                Hub hub = hub().start()) {
            Task run = run(hub, "{'id':'far','agent':'" + other.url() + "/agents/a','task':'x'}");

            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).startsWith("far: ").contains("webhook-allow");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    @DisplayName("a URL that no agent can have is refused with its place")
    void malformed() {
        try (Hub hub = open().start()) {
            Task run = run(hub, "{'agent':'http://user:secret@example.com/agents/a','task':'x'}");

            assertThat(run.state()).isEqualTo(TaskState.REJECTED);
            assertThat(reason(run)).contains("workflow.steps[0].agent");
        }
    }

    @Test
    @DisplayName("a task that the agent of another hub cannot do fails the step before anything is sent")
    void skills() {
        Agent able = Agent.named("able", "Sings").skill("sing", "Sings").handle((request, reply) -> {
            calls.add(request.text());
            reply.complete("la");
        });
        try (Hub other = hub().agents(able).start();
                Hub hub = open().start()) {
            Task run = run(hub, "{'agent':'" + other.url() + "/agents/able','task':'dance'}");

            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).contains("dance", "sing");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    @DisplayName("a step at a hub that is down is repeated with onError retry, and fails with the reason")
    void down() throws IOException {
        // A port that is bound, but does not listen, refuses connections, and no other program gets it.
        try (var port = new Socket();
                Hub hub = open().start()) {
            port.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            String url = "http://127.0.0.1:" + port.getLocalPort() + "/agents/a";
            Task run = run(
                    hub,
                    "{'id':'far','agent':'" + url
                            + "','task':'x','onError':'retry','retryPolicy':{'maxRetries':1,'backoff':'linear'}}");

            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).contains("far: ", "cannot reach");
            assertThat((Map<?, ?>) run.metadata().get(WorkflowRun.KEY + "far"))
                    .extracting(record -> String.valueOf(record.get("attempt")))
                    .isEqualTo("2");
        }
    }

    @Test
    @DisplayName("a step goes on with its task after the hub of its agent has restarted")
    void restart() throws Exception {
        var begun = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "Waits at its first attempt")
                .resumable(true)
                .handle((request, reply) -> {
                    calls.add(request.taskId());
                    if (request.attempt() == 1) {
                        begun.countDown();
                        new CountDownLatch(1).await();
                    }
                    reply.complete("done");
                });
        Hub first = Hub.builder()
                .drain(Duration.ofMillis(200))
                .port(0)
                .data(data)
                .agents(slow)
                .start();
        int port = URI.create(first.url()).getPort();
        try (first;
                Hub hub = open().start();
                AgentClient one = AgentClient.connect(hub.url() + "/one");
                var events = one.stream(document("{'agent':'" + first.url() + "/agents/slow','task':'x'}"))) {
            String run = ((Task) events.next()).id();
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

            first.close();
            try (Hub second = Hub.builder().port(port).data(data).agents(slow).start()) {
                assertThat(second.url()).endsWith(":" + port);
                events.forEachRemaining(event -> {});
            }

            Task ended = one.task(run);
            assertThat(ended.state()).as(reason(ended)).isEqualTo(TaskState.COMPLETED);
            assertThat(calls).hasSize(2);
            assertThat(calls.stream().distinct()).hasSize(1);
        }
    }

    @Test
    @DisplayName("canceling a run cancels its steps at other hubs")
    void cancel() throws Exception {
        var begun = new CountDownLatch(1);
        var canceled = new CountDownLatch(1);
        Agent sleeper = Agent.named("sleeper", "Waits until it is canceled").handle((request, reply) -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stop) {
                canceled.countDown();
                throw stop;
            }
        });
        try (Hub other = hub().agents(sleeper).start();
                Hub hub = open().start();
                AgentClient one = AgentClient.connect(hub.url() + "/one");
                var events = one.stream(document("{'agent':'" + other.url() + "/agents/sleeper','task':'x'}"))) {
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

            var unused = one.cancel(((Task) events.next()).id());

            assertThat(canceled.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("ONE36 a step at a hub that is down when its run is canceled is canceled as soon as the hub is back")
    void canceledWhileDown() throws Exception {
        var begun = new CountDownLatch(1);
        var step = new AtomicReference<String>();
        Agent sleeper = Agent.named("sleeper", "Waits until it is canceled")
                .resumable(true)
                .handle((request, reply) -> {
                    step.set(request.taskId());
                    begun.countDown();
                    new CountDownLatch(1).await();
                });
        Hub first = Hub.builder()
                .drain(Duration.ofMillis(200))
                .port(0)
                .data(data)
                .agents(sleeper)
                .start();
        int port = URI.create(first.url()).getPort();
        try (first;
                Hub hub = open().start();
                AgentClient one = AgentClient.connect(hub.url() + "/one");
                var events = one.stream(document("{'agent':'" + first.url() + "/agents/sleeper','task':'x'}"))) {
            String run = ((Task) events.next()).id();
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
            while (events.hasNext() && !events.next().toString().contains("state=running")) {
                // until the run has noted the task of the step
            }
            first.close();

            assertThat(one.cancel(run).state()).isEqualTo(TaskState.CANCELED);

            try (Hub second =
                            Hub.builder().port(port).data(data).agents(sleeper).start();
                    AgentClient far = AgentClient.connect(second.url() + "/agents/sleeper")) {
                assertThat(end(far, requireNonNull(step.get())).state()).isEqualTo(TaskState.CANCELED);
            }
        }
    }

    /** Waits for the end of a task, which may have ended already. */
    private static Task end(AgentClient agent, String task) {
        if (!agent.task(task).state().isTerminal()) {
            try (var events = agent.subscribe(task)) {
                events.forEachRemaining(event -> {});
            } catch (A2AException ended) {
                assertThat(ended.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
            }
        }
        return agent.task(task);
    }
}
