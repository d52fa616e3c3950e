package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.Request;
import dev.parley.hub.Outsider.Frame;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Promises of the AgentVault profile, as an outsider sees them over HTTP. Each test is named by the row it shows. */
@Timeout(30)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class VaultMatrixTest {
    private final MatrixAgents agents = new MatrixAgents();
    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .webhookAllow(List.of("127.0.0.1"))
            .agents(agents.all())
            .start();
    private final Outsider outsider = new Outsider(hub.url());

    @AfterAll
    void stop() {
        hub.close();
    }

    private static String at(String agent) {
        return "/agents/" + agent + "/agentvault";
    }

    private static String text(String text) {
        return "'message':{'role':'user','parts':[{'type':'text','content':'" + text + "'}]}";
    }

    private String send(String agent, String params) throws Exception {
        return outsider.result(at(agent), "tasks/send", "{" + params + "}")
                .at("id")
                .text();
    }

    private Shown task(String agent, String id) throws Exception {
        return outsider.result(at(agent), "tasks/get", "{'id':'" + id + "'}");
    }

    private Frames watch(String agent, String id) throws Exception {
        return outsider.stream(
                at(agent),
                "tasks/sendSubscribe",
                "{'id':'" + id + "'}",
                "Accept",
                "text/event-stream",
                "Cache-Control",
                "no-cache");
    }

    @Test
    @DisplayName("AV01: an agent on a local host is published as localhost, the one plain address that clients take")
    void localAgentsAreAtLocalhost() throws Exception {
        Shown card = Shown.of(outsider.get(at("echo") + "/agent-card.json").body());

        assertThat(card.at("url").text()).startsWith("http://localhost:").endsWith(at("echo"));
    }

    @Test
    @DisplayName("AV02: whoever sends no id gets no answer, and the message arrives all the same")
    void notificationsAreTaken() throws Exception {
        String body = "{'jsonrpc':'2.0','method':'tasks/send','params':{" + text("unanswered") + "}}";

        HttpResponse<String> answer = outsider.post(at("echo"), body);

        assertThat(answer.statusCode()).isEqualTo(202);
        assertThat(answer.body()).isEmpty();
        assertThat(heard("unanswered").text()).isEqualTo("unanswered");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'jsonrpc'                                                         | -32700",
                "{'jsonrpc':'1.0','id':1,'method':'tasks/get','params':{'id':'t'}}  | -32600",
                "{'id':1,'method':'tasks/get','params':{'id':'t'}}                  | -32600",
                "[]                                                                 | -32600",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/fetch','params':{}}        | -32601",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':{}}         | -32602",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/get','params':{}}          | -32602",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/get','params':{'id':'t'}}  | -32001",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/cancel','params':{'id':'t'}} | -32001",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/sendSubscribe','params':{'id':'t'}} | -32001"
            })
    @DisplayName("AV02, AV32: errors have their codes, with status 200 and data")
    void errorsHaveTheirCodes(String body, int code) throws Exception {
        HttpResponse<String> answer = outsider.post(at("echo"), body.replace('"', '\''));

        Shown shown = Shown.of(answer.body());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(shown.names()).containsExactly("jsonrpc", "id", "error");
        assertThat(shown.at("error", "code").value()).isEqualTo(code);
        assertThat(shown.at("error").has("data")).isTrue();
    }

    @Test
    @DisplayName("AV32: a role or a webhook that cannot be is named as callers call it")
    void errorsNameTheFieldsOfTheProfile() throws Exception {
        Shown role = outsider.rpc(at("echo"), "tasks/send", "{" + text("x").replace("'user'", "'emperor'") + "}");
        Shown hook = outsider.rpc(at("echo"), "tasks/send", "{'webhookUrl':'ftp://example.com'," + text("x") + "}");

        assertThat(role.at("error", "code").value()).isEqualTo(-32602);
        assertThat(role.at("error", "message").text())
                .contains("message.role: \"emperor\" (expected: user, assistant, system or tool)");
        assertThat(hook.at("error", "code").value()).isEqualTo(-32602);
        assertThat(hook.at("error", "message").text()).contains("webhookUrl: ");
    }

    @Test
    @DisplayName(
            "AV32: missing credentials have a code between -32000 and -32099, status 401 and the id of the request")
    void missingCredentialsHaveACodeOfTheRange() throws Exception {
        try (Hub closed = Hub.builder()
                .inMemory()
                .port(0)
                .callers(Callers.builder()
                        .apiKey("alice", "a-key-of-alice-0123456789")
                        .build())
                .authentication(Authentication.of(Authentication.Scheme.API_KEY))
                .agents(agents.all())
                .start()) {
            HttpResponse<String> answer = new Outsider(closed.url())
                    .post(at("echo"), "{'jsonrpc':'2.0','id':'q','method':'tasks/get','params':{'id':'x'}}");

            assertThat(answer.statusCode()).isEqualTo(401);
            assertThat(Shown.of(answer.body()).at("id").text()).isEqualTo("q");
            assertThat((Integer) Shown.of(answer.body()).at("error", "code").value())
                    .isBetween(-32099, -32000);
        }
    }

    @Test
    @DisplayName("AV03: tasks/send answers with an id, of a new task or of the one that it continues")
    void aSendAnswersWithAnId() throws Exception {
        Shown begun = outsider.result(at("asks"), "tasks/send", "{" + text("hello") + "}");
        String id = begun.at("id").text();
        ended("asks", id);

        Shown continued = outsider.result(at("asks"), "tasks/send", "{'id':'" + id + "'," + text("enough") + "}");

        assertThat(id).isNotEmpty();
        assertThat(continued.at("id").text()).isEqualTo(id);
        assertThat(ended("asks", id)).isEqualTo("COMPLETED");
    }

    @Test
    @DisplayName("AV03: a message that is answered with a message is a task all the same")
    void messagesAloneAreTasksToo() throws Exception {
        String id = send("says", text("hello"));

        assertThat(ended("says", id)).isEqualTo("COMPLETED");
        assertThat(task("says", id).at("messages").text()).contains("well: hello");
    }

    @Test
    @DisplayName("AV03: the address may end with a slash")
    void theAddressMayEndWithASlash() throws Exception {
        assertThat(outsider.result(at("echo") + "/", "tasks/send", "{" + text("slash") + "}")
                        .at("id")
                        .text())
                .isNotEmpty();
    }

    @Test
    @DisplayName("AV04: tasks/get shows the whole task, flat")
    void aTaskIsFlat() throws Exception {
        String id = send("echo", text("hello"));
        ended("echo", id);

        Shown task = task("echo", id);

        assertThat(task.names()).contains("id", "state", "createdAt", "updatedAt", "messages", "artifacts");
        assertThat(task.at("id").text()).isEqualTo(id);
        assertThat(task.at("state").text()).isEqualTo("COMPLETED");
        assertThat(task.at("createdAt").text()).endsWith("Z");
        assertThat(task.at("messages", 0, "role").text()).isEqualTo("user");
        assertThat(task.at("messages", 0, "parts", 0).value()).isEqualTo(Map.of("type", "text", "content", "hello"));
        assertThat(task.at("artifacts", 0, "content").text()).isEqualTo("hello");
        assertThat(task.at("artifacts", 0).names()).contains("id", "type");
    }

    @Test
    @DisplayName("AV05: a running task is canceled; one that has ended is not, which is not an error")
    void tasksAreCanceled() throws Exception {
        String id = send("states", text("wait"));

        Shown canceled = outsider.result(at("states"), "tasks/cancel", "{'id':'" + id + "'}");
        Shown again = outsider.result(at("states"), "tasks/cancel", "{'id':'" + id + "'}");

        assertThat(canceled.at("success").value()).isEqualTo(true);
        assertThat(task("states", id).at("state").text()).isEqualTo("CANCELED");
        assertThat(again.at("success").value()).isEqualTo(false);
        assertThat(again.at("message").text()).contains("ended");
    }

    @Test
    @DisplayName("AV06, AV07: a stream attaches to a task, shows what was, what comes, and ends with the task")
    void aStreamShowsTheWork() throws Exception {
        String id = send("gated", text("seven"));
        try (Frames frames = watch("gated", id)) {
            assertThat(frames.status()).isEqualTo(200);
            assertThat(frames.header("Content-Type")).startsWith("text/event-stream");
            assertThat(frames.header("Cache-Control")).isEqualTo("no-cache");
            Frame first = Objects.requireNonNull(frames.next());
            assertThat(first.event()).isEqualTo("task_status");
            assertThat(first.at("taskId").text()).isEqualTo(id);
            assertThat(first.at("timestamp").text()).endsWith("Z");
            frames.until(frame -> frame.data().has("artifact"));
            agents.gate("seven").countDown();

            List<Frame> rest = frames.all();

            assertThat(rest.getFirst().event()).isEqualTo("task_artifact");
            assertThat(rest.getFirst().at("artifact", "content").text()).isEqualTo("the second half");
            assertThat(rest.getFirst().at("taskId").text()).isEqualTo(id);
            assertThat(rest.getLast().event()).isEqualTo("task_status");
            assertThat(rest.getLast().at("state").text()).isEqualTo("COMPLETED");
        }
    }

    @Test
    @DisplayName("AV06: over HTTP/1.1 a stream has the three headers of the profile")
    void aStreamHasTheThreeHeaders() throws Exception {
        String id = send("echo", text("headers"));
        try (HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            HttpResponse<String> answer = http.send(
                    HttpRequest.newBuilder(URI.create(hub.url() + at("echo")))
                            .header("Content-Type", "application/json")
                            .POST(HttpRequest.BodyPublishers.ofString("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                                    + "\"tasks/sendSubscribe\",\"params\":{\"id\":\"" + id + "\"}}"))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());

            assertThat(answer.headers().firstValue("Content-Type")).contains("text/event-stream");
            assertThat(answer.headers().firstValue("Cache-Control")).contains("no-cache");
            assertThat(answer.headers().firstValue("Connection")).contains("keep-alive");
        }
    }

    @Test
    @DisplayName("AV06: who comes late sees messages and artifacts, then how the task ended, then the end")
    void anEndedTaskShowsHowItEnded() throws Exception {
        String id = send("echo", text("late"));
        ended("echo", id);

        try (Frames frames = watch("echo", id)) {
            List<Frame> all = frames.all();

            assertThat(all).extracting(Frame::event).containsExactly("task_message", "task_artifact", "task_status");
            assertThat(all.getFirst().at("message", "role").text()).isEqualTo("user");
            assertThat(all.getLast().at("state").text()).isEqualTo("COMPLETED");
        }
    }

    @Test
    @DisplayName("AV07: what the agent says is a message, and the status tells it as a string")
    void whatIsSaidIsAMessage() throws Exception {
        String id = send("asks", text("hello"));
        ended("asks", id);

        try (Frames frames = watch("asks", id)) {
            Frame status = frames.until(frame -> Objects.equals(frame.event(), "task_status"));
            Frame said =
                    frames.until(frame -> frame.at("message", "role").text().equals("assistant"));

            assertThat(status.at("state").text()).isEqualTo("INPUT_REQUIRED");
            assertThat(status.at("message").text()).isEqualTo("what else?");
            assertThat(said.event()).isEqualTo("task_message");
            assertThat(said.at("message", "parts", 0, "content").text()).isEqualTo("what else?");
        }
    }

    @Test
    @DisplayName("AV08: the webhook of a message is told how its task ended")
    void aWebhookIsTold() throws Exception {
        try (var hook = new Hook()) {
            Shown card = Shown.of(outsider.get(at("echo") + "/agent-card.json").body());
            assertThat(card.at("capabilities", "supportsPushNotifications").value())
                    .isEqualTo(true);

            String id = send("echo", "'webhookUrl':'" + hook.url() + "'," + text("hello"));

            Hook.Told told = hook.next();
            assertThat(told.headers())
                    .containsEntry("x-agentvault-event", "task_status")
                    .containsKey("webhook-signature");
            assertThat(told.body().at("taskId").text()).isEqualTo(id);
            assertThat(told.body().at("state").text()).isEqualTo("COMPLETED");
        }
    }

    @Test
    @DisplayName("AV09, AV14: the card asks for no credentials, which none are needed, and says the version")
    void theCardSaysWhatIsNeeded() throws Exception {
        HttpResponse<String> answer = outsider.get(at("echo") + "/agent-card.json");

        Shown card = Shown.of(answer.body());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(card.at("authSchemes").value()).isEqualTo(List.of(Map.of("scheme", "none")));
        assertThat(card.at("capabilities", "a2aVersion").text()).isEqualTo("0.2");
        assertThat(card.at("humanReadableId").text()).matches("[a-z0-9-]+/[a-z0-9-]+");
        assertThat(card.names()).contains("schemaVersion", "agentVersion", "name", "description", "provider", "skills");
        for (String place : List.of("", "/", "/.well-known/agent-card.json", "/.well-known/agent.json")) {
            assertThat(Shown.of(outsider.get(at("echo") + place).body()).value())
                    .isEqualTo(card.value());
        }
    }

    @Test
    @DisplayName("AV25: the context of a tool in a message's metadata reaches the agent")
    void toolContextReachesTheAgent() throws Exception {
        String context = "{'items':{'note':{'mediaType':'text/plain','content':'remember'}}}";

        send(
                "echo",
                "'message':{'role':'user','parts':[{'type':'text','content':'with context'}],"
                        + "'metadata':{'mcp_context':" + context + "}}");

        assertThat(heard("with context").message().metadata())
                .containsEntry(
                        "mcp_context", Shown.of(context.replace('\'', '"')).value());
    }

    @Test
    @DisplayName("AV32: a failed agent ends its task, and tells nobody its details")
    void failuresKeepTheirDetails() throws Exception {
        String id = send("states", text("throw"));

        assertThat(ended("states", id)).isEqualTo("FAILED");
        assertThat(task("states", id).text()).doesNotContain("nobody is told");
    }

    @Test
    @DisplayName("AV32: what the agent cannot take on now is refused with -32000, and the reason in data")
    void anAgentsOwnTroubleHasItsCode() throws Exception {
        var mayEnd = new CountDownLatch(1);
        hub.host(Agent.named("narrow", "Does one thing at a time")
                .concurrency(1)
                .queueLimit(0)
                .handle((request, reply) -> {
                    mayEnd.await();
                    reply.complete("done");
                }));
        String first = send("narrow", text("one"));

        Shown refused = outsider.rpc(at("narrow"), "tasks/send", "{" + text("two") + "}");

        assertThat(refused.at("error", "code").value()).isEqualTo(-32000);
        assertThat(refused.at("error", "data", 0, "reason").text()).isEqualTo("UNAVAILABLE");
        mayEnd.countDown();
        assertThat(ended("narrow", first)).isEqualTo("COMPLETED");
    }

    @Test
    @DisplayName("Files come as addresses, at which their bytes are, for those who have the address")
    void filesAreFetched() throws Exception {
        // An agent's bytes come from a caller who can send some.
        String parts = "[{'kind':'file','file':{'name':'a.bin','mimeType':'image/png','bytes':'AAEC'}}]";
        Shown sent = outsider.result(
                "/agents/parts",
                "message/send",
                "{'message':{'kind':'message','messageId':'f-1','role':'user','parts':" + parts + "}}");

        Shown artifact = task("parts", sent.at("id").text()).at("artifacts", 0);

        String url = artifact.at("url").text();
        assertThat(artifact.at("type").text()).isEqualTo("file");
        assertThat(artifact.at("mediaType").text()).isEqualTo("image/png");
        String target = url.replaceFirst("^http://localhost:\\d+", "");
        HttpResponse<String> file = outsider.get(target);
        assertThat(file.body()).isEqualTo("\u0000\u0001\u0002");
        assertThat(file.headers().firstValue("Content-Type")).contains("image/png");
        assertThat(outsider.get(target.replaceFirst("signature=.", "signature=x"))
                        .statusCode())
                .isEqualTo(403);
    }

    @Test
    @DisplayName("Our client finds the card, sends, follows and cancels")
    void ourClientDoesItAll() throws Exception {
        try (AgentClient client = AgentClient.connect(hub.url() + at("asks"))) {
            assertThat(client.address().protocolVersion()).isEqualTo("agentvault");

            Task asked = (Task) client.send("hello");

            assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(client.cancel(asked.id()).state()).isEqualTo(TaskState.CANCELED);
        }
    }

    /** Waits until a task has ended, or waits for its caller; returns its last state. */
    private String ended(String agent, String id) throws Exception {
        try (Frames frames = watch(agent, id)) {
            return frames.until(frame -> List.of("COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED")
                            .contains(frame.at("state").text()))
                    .at("state")
                    .text();
        }
    }

    private Request heard(String text) throws InterruptedException {
        for (Request request = agents.requests.poll(20, TimeUnit.SECONDS);
                request != null;
                request = agents.requests.poll(20, TimeUnit.SECONDS)) {
            if (request.text().equals(text)) {
                return request;
            }
        }
        throw new AssertionError("nobody said " + text);
    }
}
