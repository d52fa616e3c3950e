package dev.parley.mesh.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.TaskState;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Envelopes over HTTP, as a peer sees them. */
@Timeout(120)
@Tag("heavy")
final class MeshDialectTest {
    private final CountDownLatch released = new CountDownLatch(1);
    private final AtomicInteger runs = new AtomicInteger();
    private Hub hub;
    private Peer peer;

    @BeforeEach
    void start() {
        Agent echo = Agent.named("echo", "Echoes")
                .skill("say", "Says the text again", "talk")
                .handle((request, reply) -> {
                    runs.incrementAndGet();
                    reply.complete(request.text());
                });
        Agent slow = Agent.named("slow", "Waits").skill("wait", "Waits").handle((request, reply) -> {
            assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
            reply.complete("done");
        });
        Agent picky = Agent.named("picky", "Rejects")
                .skill("no", "Rejects")
                .handle((request, reply) -> reply.reject("not today"));
        Agent asking = Agent.named("asking", "Asks").skill("ask", "Asks").handle((request, reply) -> {
            if (request.text().equals("begin")) {
                reply.move(TaskState.INPUT_REQUIRED, Message.agent(Part.text("Which?")), Map.of());
            } else {
                reply.complete("took " + request.text());
            }
        });
        hub = Hub.builder().inMemory().port(0).agents(echo, slow, picky, asking).start();
        peer = new Peer(hub.url());
    }

    @AfterEach
    void stop() {
        released.countDown();
        hub.close();
    }

    @Test
    @DisplayName(
            "ONE03, ONE04 a delegation is accepted with a task, whose result can be read in envelopes and by GetTask")
    void delegation() throws Exception {
        Answer accepted = peer.delegate("m-1", "echo", "say", "hello");

        assertThat(accepted.status()).isEqualTo(202);
        assertThat(accepted.type()).isEqualTo("task_acceptance");
        assertThat(accepted.text("correlationId")).isEqualTo("c-m-1");
        assertThat(accepted.text("from", "agentId")).isEqualTo("echo");
        assertThat(accepted.text("from", "endpoint")).isEqualTo(hub.agentUrl("echo") + "/one");
        assertThat(accepted.text("to", "agentId")).isEqualTo("planner");
        assertThat(accepted.content("capabilities")).isEqualTo(List.of("say"));
        String taskId = String.valueOf(accepted.content("taskId"));

        Answer result = peer.send("m-2", "echo", "query", "{'query':'state','taskId':'" + taskId + "'}");
        assertThat(result.type()).isEqualTo("response");
        Answer task = peer.get("/agents/echo/one/tasks/" + taskId);
        assertThat(task.status()).isEqualTo(200);
        assertThat(task.text("correlationId")).isEqualTo("c-m-1");
        Answer asA2a = peer.get("/agents/echo/tasks/" + taskId, "A2A-Version", "1.0");
        assertThat(asA2a.text("id")).isEqualTo(taskId);
    }

    @Test
    @DisplayName("ONE02 answers have the headers of the protocol; a header that differs from the body is refused")
    void headers() throws Exception {
        Answer accepted = peer.delegate("m-1", "echo", "say", "hello", "X-A2A-Version", "1.0", "X-Message-Id", "m-1");

        assertThat(accepted.status()).isEqualTo(202);
        assertThat(accepted.header("X-A2A-Version")).isEqualTo("1.0");
        assertThat(accepted.header("X-Message-Id")).isEqualTo(accepted.text("messageId"));
        assertThat(accepted.header("X-Correlation-Id")).isEqualTo("c-m-1");
        assertThat(accepted.header("X-Agent-Id")).isEqualTo("echo");

        Answer otherId = peer.delegate("m-2", "echo", "say", "hello", "X-Message-Id", "m-3");
        assertThat(otherId.status()).isEqualTo(400);
        assertThat(otherId.content("code")).isEqualTo("invalid_message");
        assertThat(otherId.content("details", "path")).isEqualTo("messageId");
        Answer otherVersion = peer.delegate("m-2", "echo", "say", "hello", "X-A2A-Version", "2.0");
        assertThat(otherVersion.content("code")).isEqualTo("invalid_message");
        assertThat(otherVersion.content("details", "supported")).isEqualTo("1.0");
    }

    @Test
    @DisplayName("ONE07 a query is answered at once, with the correlation id of the query")
    void query() throws Exception {
        Answer answer = peer.send("m-1", "echo", "query", "{'query':'hello'}");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.type()).isEqualTo("response");
        assertThat(answer.text("correlationId")).isEqualTo("c-m-1");
        assertThat(answer.content("result")).isEqualTo("hello");
    }

    @Test
    @DisplayName("a preference for waiting gets the result in the answer, or the acceptance if the wait was too short")
    void waiting() throws Exception {
        Answer result = peer.delegate("m-1", "echo", "talk", "hello", "Prefer", "wait=30");
        assertThat(result.status()).isEqualTo(200);
        assertThat(result.type()).isEqualTo("task_result");
        assertThat(result.content("status")).isEqualTo("completed");
        assertThat(result.content("result")).isEqualTo("hello");

        Answer tooShort = peer.delegate("m-2", "slow", "wait", "", "Prefer", "respond-async, wait=1");
        assertThat(tooShort.status()).isEqualTo(202);
        assertThat(tooShort.type()).isEqualTo("task_acceptance");
    }

    @Test
    @DisplayName("ONE05 a task that the agent declines is a rejection, one without a skill a capability_mismatch")
    void rejections() throws Exception {
        Answer declined = peer.delegate("m-1", "picky", "no", "hello");
        if (declined.status() == 202) { // the agent took longer than the server waits for its first event
            declined = peer.get("/agents/picky/one/tasks/" + declined.content("taskId"));
        }
        assertThat(declined.status()).isEqualTo(409);
        assertThat(declined.type()).isEqualTo("task_rejection");
        assertThat(declined.content("reason")).isEqualTo("not today");
        assertThat(declined.content("code")).isEqualTo("task_rejected");

        Answer unable = peer.delegate("m-2", "echo", "cook", "soup");
        assertThat(unable.status()).isEqualTo(422);
        assertThat(unable.type()).isEqualTo("error");
        assertThat(unable.content("code")).isEqualTo("capability_mismatch");
        assertThat(unable.content("retryable")).isEqualTo(false);
        assertThat(unable.text("correlationId")).isEqualTo("c-m-2");
    }

    @Test
    @DisplayName("a task that asks its sender goes on with a response that names it")
    void questions() throws Exception {
        Answer asked = peer.delegate("m-1", "asking", "ask", "begin", "Prefer", "wait=30");
        assertThat(asked.type()).isEqualTo("task_acceptance");
        String taskId = String.valueOf(asked.content("taskId"));
        Answer waiting = peer.get("/agents/asking/one/tasks/" + taskId);
        assertThat(waiting.type()).isEqualTo("status_update");
        assertThat(waiting.content("state")).isEqualTo("input-required");
        assertThat(waiting.content("message")).isEqualTo("Which?");

        Answer taken = peer.send("m-2", "asking", "response", "{'result':'this','taskId':'" + taskId + "'}");
        assertThat(taken.status()).isEqualTo(202);
        Answer settled = peer.send("m-3", "asking", "query", "{'query':'','taskId':'" + taskId + "'}");
        assertThat(settled.status()).isEqualTo(200);
    }

    @ParameterizedTest
    @DisplayName("ONE03 reports of other agents are acknowledged")
    @CsvSource(
            delimiter = '|',
            value = {
                "task_acceptance|{'taskId':'t-1','capabilities':[]}",
                "task_rejection|{'reason':'no'}",
                "task_result|{'taskId':'t-1','status':'completed','result':'x'}",
                "status_update|{'taskId':'t-1','progress':50}",
                "response|{'result':'x'}",
                "error|{'code':'internal_error','message':'broken','retryable':true}"
            })
    void reports(String type, String content) throws Exception {
        Answer answer = peer.send("m-1", "echo", type, content.replace("\\'", "'"));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.type()).isEqualTo("response");
        assertThat(answer.content("result", "received")).isEqualTo(true);
    }

    @ParameterizedTest
    @DisplayName("ONE01, ONE14 a wrong member is an invalid_message with its path")
    @CsvSource(
            delimiter = '|',
            value = {
                "\"version\":\"1.0\",||version",
                "\"messageId\":\"m-1\",||messageId",
                "\"agentId\":\"planner\",||from.agentId",
                "\"type\":\"task_delegation\",||message.type",
                "task_delegation|task_order|message.type",
                "\"task\":\"say\",||message.content.task",
                "\"parameters\":{\"text\":\"x\"}|\"parameters\":7|message.content.parameters",
                "\"metadata\":{}|\"metadata\":{\"priority\":\"urgent\"}|metadata.priority"
            })
    void invalid(String part, String replacement, String path) throws Exception {
        String sound = Peer.envelope("m-1", "echo", "task_delegation", "{'task':'say','parameters':{'text':'x'}}", "{}")
                .replace('\'', '"');
        assertThat(sound).contains(part);

        Answer answer = peer.post("/agents/echo/one", sound.replace(part, replacement == null ? "" : replacement));

        assertThat(answer.status()).isEqualTo(400);
        assertThat(answer.type()).isEqualTo("error");
        assertThat(answer.content("code")).isEqualTo("invalid_message");
        assertThat(answer.content("details", "path")).isEqualTo(path);
        assertThat(answer.content("retryable")).isEqualTo(false);
    }

    @Test
    @DisplayName("ONE14 agents that do not exist are agent_not_found, deadlines in the past a timeout")
    void otherErrors() throws Exception {
        Answer noAgent = peer.delegate("m-1", "nobody", "say", "x");
        assertThat(noAgent.status()).isEqualTo(404);
        assertThat(noAgent.content("code")).isEqualTo("agent_not_found");
        Answer otherAgent =
                peer.post("/agents/echo/one", Peer.envelope("m-1", "slow", "task_delegation", "{'task':'wait'}", "{}"));
        assertThat(otherAgent.content("code")).isEqualTo("agent_not_found");

        Answer late = peer.send("m-2", "echo", "task_delegation", "{'task':'say','deadline':1000}");
        assertThat(late.status()).isEqualTo(504);
        assertThat(late.content("code")).isEqualTo("timeout");
        assertThat(late.content("retryable")).isEqualTo(true);

        Answer notJson = peer.delegate("m-3", "echo", "say", "x", "Content-Type", "text/plain");
        assertThat(notJson.status()).isEqualTo(415);
        assertThat(notJson.content("code")).isEqualTo("invalid_message");
        assertThat(peer.get("/agents/echo/one").status()).isEqualTo(405);
        assertThat(peer.get("/agents/echo/one/tasks/none").status()).isEqualTo(404);
    }

    @Test
    @DisplayName("ONE15 the same message twice has one effect and one answer, another message under its id is refused")
    void repetitions() throws Exception {
        Answer first = peer.delegate("m-1", "echo", "say", "hello");
        Answer second = peer.delegate("m-1", "echo", "say", "hello");
        Answer other = peer.delegate("m-1", "echo", "say", "hello you");

        assertThat(second.status()).isEqualTo(202);
        assertThat(second.body()).isEqualTo(first.body());
        assertThat(other.status()).isEqualTo(400);
        assertThat(other.content("code")).isEqualTo("invalid_message");
        assertThat(other.content("details", "path")).isEqualTo("messageId");
    }

    @ParameterizedTest
    @ValueSource(strings = {"task_delegation", "query"})
    @DisplayName("ONE15 a message that comes many times at once runs its agent once, and all get one answer")
    void repetitionsAtOnce(String type) throws Exception {
        String content = type.equals("query") ? "{'query':'hello'}" : "{'task':'say','parameters':{'text':'hello'}}";
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Answer>> answers = IntStream.range(0, 20)
                    .mapToObj(i -> threads.submit(() -> peer.send("m-1", "echo", type, content)))
                    .toList();
            String first = answers.getFirst().get().body();
            for (Future<Answer> answer : answers) {
                assertThat(answer.get().body()).isEqualTo(first);
            }
        }
        assertThat(peer.send("m-2", "echo", "query", "{'query':'again'}").status())
                .isEqualTo(200);
        assertThat(runs).hasValue(2);
    }
}
