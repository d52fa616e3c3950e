package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Outsider.Frame;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers of 0.3, 0.2 and 0.1 get from a hub, and that a task is the same one in every dialect. */
@Timeout(30)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LegacyMatrixTest {
    private static final String MIXED = "[{'kind':'text','text':'hi','metadata':{'k':1}},"
            + "{'kind':'file','file':{'name':'a.bin','mimeType':'image/png','bytes':'AAEC'}},"
            + "{'kind':'file','file':{'name':'b.txt','mimeType':'text/plain','uri':'https://example.com/b.txt'}},"
            + "{'kind':'data','data':{'n':[1,{'deep':null}]}}]";

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
        return "/agents/" + agent;
    }

    /** A message of 0.3. */
    private static String kind(String id, String text) {
        return "'message':{'kind':'message','messageId':'" + id + "','role':'user','parts':[{'kind':'text','text':'"
                + text + "'}]}";
    }

    /** A message of 0.1. */
    private static String type(String text) {
        return "'message':{'role':'user','parts':[{'type':'text','text':'" + text + "'}]}";
    }

    private Shown call(String agent, String method, String params) throws Exception {
        return outsider.result(at(agent), method, params);
    }

    // ---- 0.3 and 0.2

    @Test
    @DisplayName("GEM01: messages, parts and tasks of 0.3 come back as they went")
    void dataComeBack() throws Exception {
        Shown task = call(
                "parts",
                "message/send",
                "{'message':{'kind':'message','messageId':'m-1','role':'user','contextId':'c-1','parts':" + MIXED
                        + ",'metadata':{'a':1},'extensions':['urn:x'],'referenceTaskIds':['t-0']},"
                        + "'configuration':{'blocking':true,'historyLength':5}}");

        assertThat(task.names()).contains("kind", "id", "contextId", "status", "history", "artifacts");
        assertThat(task.at("kind").text()).isEqualTo("task");
        assertThat(task.at("contextId").text()).isEqualTo("c-1");
        Shown message = task.at("history", 0);
        assertThat(message.at("parts").value())
                .isEqualTo(Shown.of(MIXED.replace('\'', '"')).value());
        assertThat(message.at("metadata").value()).isEqualTo(Map.of("a", 1));
        assertThat(message.at("extensions").value()).isEqualTo(List.of("urn:x"));
        assertThat(message.at("referenceTaskIds").value()).isEqualTo(List.of("t-0"));
        assertThat(task.at("artifacts", 0, "parts").value())
                .isEqualTo(message.at("parts").value());
    }

    @Test
    @DisplayName("GEM01: members of a message that nobody knows come back at their place, and in the metadata of 1.0")
    void membersThatNobodyKnowsComeBack() throws Exception {
        Shown task = call(
                "parts",
                "message/send",
                "{'message':{'kind':'message','messageId':'m-2','role':'user','x-own':{'n':1},"
                        + "'parts':[{'kind':'text','text':'hi','x-part':[2]}]}}");
        Shown newer = call("parts", "GetTask", "{'id':'" + task.at("id").text() + "'}");

        Shown message = task.at("history", 0);
        assertThat(message.at("x-own").value()).isEqualTo(Map.of("n", 1));
        assertThat(message.at("parts", 0, "x-part").value()).isEqualTo(List.of(2));
        assertThat(message.names()).doesNotContain("metadata");
        assertThat(task.at("artifacts", 0, "parts", 0, "x-part").value()).isEqualTo(List.of(2));
        assertThat(newer.at("history", 0, "metadata", "a2a_others", "x-own").value())
                .isEqualTo(Map.of("n", 1));
    }

    @Test
    @DisplayName("GEM02: message/send, tasks/get, tasks/cancel")
    void aTaskIsSentReadAndCanceled() throws Exception {
        Shown asked = call("asks", "message/send", "{" + kind("g2-1", "hello") + "}");
        String id = asked.at("id").text();

        assertThat(asked.at("status", "state").text()).isEqualTo("input-required");
        assertThat(asked.at("status", "message", "kind").text()).isEqualTo("message");
        assertThat(call("asks", "tasks/get", "{'id':'" + id + "','historyLength':1}")
                        .at("history")
                        .size())
                .isEqualTo(1);
        assertThat(call("asks", "tasks/cancel", "{'id':'" + id + "'}")
                        .at("status", "state")
                        .text())
                .isEqualTo("canceled");
    }

    @Test
    @DisplayName("GEM02: message/stream and tasks/resubscribe show the task, and one last event that says so")
    void streamsEndWithAFinalEvent() throws Exception {
        String id;
        try (Frames frames = outsider.stream(at("gated"), "message/stream", "{" + kind("g2-2", "gem two") + "}")) {
            Frame first = Objects.requireNonNull(frames.next());
            assertThat(first.at("id").text()).isEqualTo("q-1");
            assertThat(first.at("result", "kind").text()).isEqualTo("task");
            id = first.at("result", "id").text();
            frames.until(frame -> frame.at("result", "kind").text().equals("artifact-update"));
        }
        try (Frames frames = outsider.stream(at("gated"), "tasks/resubscribe", "{'id':'" + id + "'}")) {
            assertThat(Objects.requireNonNull(frames.next())
                            .at("result", "kind")
                            .text())
                    .isEqualTo("task");
            agents.gate("gem two").countDown();

            List<Frame> rest = frames.all();

            assertThat(rest.getLast().at("result", "final").value()).isEqualTo(true);
            assertThat(rest.getLast().at("result", "status", "state").text()).isEqualTo("completed");
            assertThat(rest.stream()
                            .filter(frame -> Boolean.TRUE.equals(
                                    frame.at("result", "final").value())))
                    .hasSize(1);
        }
    }

    @Test
    @DisplayName("GEM02: a stream ends, and says so, when the task waits for its caller")
    void streamsEndWhenTheTaskWaits() throws Exception {
        try (Frames frames = outsider.stream(at("asks"), "message/stream", "{" + kind("g2-3", "hello") + "}")) {
            Frame last = frames.all().getLast();

            assertThat(last.at("result", "status", "state").text()).isEqualTo("input-required");
            assertThat(last.at("result", "final").value()).isEqualTo(true);
        }
    }

    @Test
    @DisplayName("GEM02: webhooks are set, read with and without their id, listed and deleted")
    void webhooksAreKept() throws Exception {
        String task = call("asks", "message/send", "{" + kind("g2-4", "hello") + "}")
                .at("id")
                .text();
        String config = "'pushNotificationConfig':{'url':'https://example.com/hook','token':'t0ken-s3cret',"
                + "'authentication':{'schemes':['Basic','Bearer'],'credentials':'cred-s3cret'}}";

        Shown set = call("asks", "tasks/pushNotificationConfig/set", "{'taskId':'" + task + "'," + config + "}");

        assertThat(set.text()).doesNotContain("s3cret");
        assertThat(set.at("taskId").text()).isEqualTo(task);
        String id = set.at("pushNotificationConfig", "id").text();
        assertThat(id).isEqualTo(task);
        assertThat(set.at("pushNotificationConfig", "authentication", "schemes").value())
                .isEqualTo(List.of("Bearer"));
        String named = "{'id':'" + task + "','pushNotificationConfigId':'" + id + "'}";
        for (String params : List.of(named, "{'id':'" + task + "'}")) {
            assertThat(call("asks", "tasks/pushNotificationConfig/get", params).value())
                    .isEqualTo(set.value());
        }
        assertThat(call("asks", "tasks/pushNotificationConfig/list", "{'id':'" + task + "'}")
                        .value())
                .isEqualTo(List.of(Objects.requireNonNull(set.value())));
        Shown deleted = outsider.rpc(at("asks"), "tasks/pushNotificationConfig/delete", named);
        assertThat(deleted.has("result")).isTrue();
        assertThat(deleted.at("result").value()).isNull();
        assertThat(call("asks", "tasks/pushNotificationConfig/list", "{'id':'" + task + "'}")
                        .size())
                .isZero();
    }

    @Test
    @DisplayName("GEM03: the old names of webhook methods answer, each in its own form")
    void oldNamesAnswer() throws Exception {
        String task = call("asks", "message/send", "{" + kind("g3", "hello") + "}")
                .at("id")
                .text();
        String config = "'pushNotificationConfig':{'url':'https://example.com/old'}";

        Shown set = call("asks", "tasks/pushNotification/set", "{'id':'" + task + "'," + config + "}");

        assertThat(set.at("id").text()).isEqualTo(task);
        assertThat(call("asks", "tasks/pushNotification/get", "{'id':'" + task + "'}")
                        .at("pushNotificationConfig", "url")
                        .text())
                .isEqualTo("https://example.com/old");
        Shown renewed = call("asks", "tasks/pushNotificationConfig/get", "{'id':'" + task + "'}");
        assertThat(renewed.at("taskId").text()).isEqualTo(task);
        assertThat(renewed.at("pushNotificationConfig", "url").text()).isEqualTo("https://example.com/old");
    }

    @Test
    @DisplayName("GEM04: the same task is there over JSON-RPC and over REST, in either form of 0.3")
    void bothBindingsShowTheSameTask() throws Exception {
        Shown sent = Shown.of(outsider.post(
                        at("echo") + "/v1/message:send",
                        "{'message':{'messageId':'g4','role':'ROLE_USER','content':[{'text':'hello'}]},"
                                + "'configuration':{'blocking':true}}")
                .body());

        String id = sent.at("task", "id").text();
        assertThat(sent.at("task", "status", "state").text()).isEqualTo("TASK_STATE_COMPLETED");
        assertThat(call("echo", "tasks/get", "{'id':'" + id + "'}").at("kind").text())
                .isEqualTo("task");
        Shown read = Shown.of(outsider.get(at("echo") + "/v1/tasks/" + id).body());
        assertThat(read.at("history", 0, "content", 0, "text").text()).isEqualTo("hello");
        assertThat(read.at("artifacts", 0, "parts", 0, "text").text()).isEqualTo("hello");
        Shown bare = Shown.of(outsider.post(at("echo") + "/v1/message:send", "{" + kind("g4-k", "hello") + "}")
                .body());
        assertThat(bare.at("kind").text()).isEqualTo("task");
    }

    @Test
    @DisplayName("GEM04: over REST too, streams wrap their events and tasks are canceled")
    void restStreams() throws Exception {
        String body = "{'message':{'messageId':'g4-s','role':'ROLE_USER','content':[{'text':'gem four'}]}}";
        String id;
        try (Frames frames = outsider.streamOf("POST", at("gated") + "/v1/message:stream", body)) {
            id = Objects.requireNonNull(frames.next()).at("task", "id").text();
        }
        for (String verb : List.of("GET", "POST")) {
            try (Frames frames = outsider.streamOf(verb, at("gated") + "/v1/tasks/" + id + ":subscribe", "")) {
                assertThat(Objects.requireNonNull(frames.next())
                                .at("task", "id")
                                .text())
                        .isEqualTo(id);
            }
        }
        HttpResponse<String> canceled = outsider.post(at("gated") + "/v1/tasks/" + id + ":cancel", "{}");
        assertThat(Shown.of(canceled.body()).at("status", "state").text()).isEqualTo("TASK_STATE_CANCELLED");
    }

    @Test
    @DisplayName("GEM05: the codes from -32001 to -32007 that a hub has a reason for")
    void errorsHaveTheirCodes() throws Exception {
        String done = call("plain", "message/send", "{" + kind("g5-1", "hello") + "}")
                .at("id")
                .text();
        String image = "{'message':{'kind':'message','messageId':'g5-2','role':'user','parts':"
                + "[{'kind':'file','file':{'mimeType':'image/png','bytes':'AAEC'}}]}}";
        String hook = "{'taskId':'" + done + "','pushNotificationConfig':{'url':'https://example.com/hook'}}";
        String after = "{'message':{'kind':'message','messageId':'g5-3','role':'user','taskId':'" + done
                + "','parts':[{'kind':'text','text':'more'}]}}";

        assertThat(outsider.code(at("plain"), "tasks/get", "{'id':'nobody'}")).isEqualTo(-32001);
        assertThat(outsider.code(at("plain"), "tasks/cancel", "{'id':'" + done + "'}"))
                .isEqualTo(-32002);
        assertThat(outsider.code(at("plain"), "tasks/pushNotificationConfig/set", hook))
                .isEqualTo(-32003);
        assertThat(outsider.code(at("plain"), "tasks/resubscribe", "{'id':'" + done + "'}"))
                .isEqualTo(-32004);
        assertThat(outsider.code(at("plain"), "message/send", after)).isEqualTo(-32004);
        assertThat(outsider.code(at("plain"), "message/send", image)).isEqualTo(-32005);
        assertThat(outsider.code(at("echo"), "agent/getAuthenticatedExtendedCard", "{}"))
                .isEqualTo(-32007);
        assertThat(outsider.code(at("plain"), "agent/getAuthenticatedExtendedCard", "{}"))
                .isEqualTo(-32007);
    }

    @Test
    @DisplayName("GEM05: errors name roles, headers and members as 0.3 does")
    void errorsAreInTheWordsOfTheVersion() throws Exception {
        Shown agent = outsider.rpc(
                at("echo"), "message/send", "{" + kind("g5-4", "hello").replace("'user'", "'agent'") + "}");
        Shown empty =
                outsider.rpc(at("echo"), "message/send", "{" + kind("g5-5", "x").replace(",'text':'x'", "") + "}");

        assertThat(agent.at("error", "code").value()).isEqualTo(-32602);
        assertThat(agent.toString()).contains("expected: user").doesNotContain("ROLE_");
        assertThat(empty.at("error", "code").value()).isEqualTo(-32602);
        assertThat(empty.at("error", "message").text())
                .contains("message.parts[0].text: missing (expected in a part of kind \"text\")");
    }

    @Test
    @DisplayName("GEM09: accepted output modes of 0.3 reach the agent")
    void acceptedOutputModesReachTheAgent() throws Exception {
        agents.requests.clear();

        call(
                "echo",
                "message/send",
                "{" + kind("g9-1", "hello") + ",'configuration':{'acceptedOutputModes':['text/plain','image/png']}}");

        assertThat(agents.requests.take().acceptedOutputModes()).containsExactly("text/plain", "image/png");
    }

    @Test
    @DisplayName("The extended card of 0.2 has its address, where who has none says 404")
    void theExtendedCardOfTheSecondGenerationHasItsAddress() throws Exception {
        String path = "/agent/authenticatedExtendedCard";

        for (String agent : List.of("echo", "plain")) {
            HttpResponse<String> none = outsider.get(at(agent) + path);
            assertThat(none.statusCode()).isEqualTo(404);
            assertThat(Shown.of(none.body()).has("error")).isTrue();
        }
        assertThat(outsider.post(at("echo") + path, "{}").statusCode()).isEqualTo(405);
    }

    @ParameterizedTest
    @CsvSource({
        "/.well-known/agent-card.json, 1.0, supportedInterfaces, url",
        "/.well-known/agent-card.json, 0.3, protocolVersion, supportedInterfaces",
        "/.well-known/agent.json, '', authentication, supportedInterfaces"
    })
    @DisplayName("Each generation finds the card that it can read")
    void cardsAreThereForAll(String path, String version, String there, String notThere) throws Exception {
        HttpResponse<String> answer = version.isEmpty()
                ? outsider.get(at("echo") + path)
                : outsider.get(at("echo") + path, "A2A-Version", version);

        Shown card = Shown.of(answer.body());
        assertThat(answer.headers().firstValue("Vary").orElse("")).contains("A2A-Version");
        assertThat(card.names()).contains("name", "skills", there).doesNotContain(notThere);
    }

    @Test
    @DisplayName("Who asks for no version finds a card with the members of 1.0 and of 0.3")
    void theUnionOfCards() throws Exception {
        Shown card = Shown.of(
                outsider.get(at("echo") + "/.well-known/agent-card.json").body());

        assertThat(card.names())
                .contains("supportedInterfaces", "protocolVersion", "url", "preferredTransport", "skills");
        assertThat(card.at("url").text()).isEqualTo(hub.agentUrl("echo"));
    }

    // ---- 0.1

    @Test
    @DisplayName("0.1: a task has the name that its caller gave it, no history unasked, and old parts")
    void aTaskOfTheFirstVersion() throws Exception {
        Shown task = call(
                "echo",
                "tasks/send",
                "{'id':'client-1','sessionId':'s-1','acceptedOutputModes':['text']," + type("hello") + "}");

        assertThat(task.at("id").text()).isEqualTo("client-1");
        assertThat(task.at("sessionId").text()).isEqualTo("s-1");
        assertThat(task.at("status", "state").text()).isEqualTo("completed");
        assertThat(task.at("artifacts", 0, "index").value()).isEqualTo(0);
        assertThat(task.at("artifacts", 0, "parts", 0).value()).isEqualTo(Map.of("type", "text", "text", "hello"));
        assertThat(task.names()).doesNotContain("kind", "contextId", "history");
        // Nothing in this request tells its version but the name.
        assertThat(call("echo", "tasks/get", "{'id':'client-1','historyLength':3}")
                        .at("history", 0, "parts", 0, "type")
                        .text())
                .isEqualTo("text");
    }

    @Test
    @DisplayName("0.1: a message to a task that has ended begins another of its name, in its context, referring to it")
    void anEndedTaskIsFollowedByAnother() throws Exception {
        call("echo", "tasks/send", "{'id':'twice','sessionId':'s-twice'," + type("first") + "}");

        Shown second = call("echo", "tasks/send", "{'id':'twice'," + type("second") + "}");

        assertThat(second.at("id").text()).isEqualTo("twice");
        assertThat(second.at("sessionId").text()).isEqualTo("s-twice");
        assertThat(second.at("artifacts", 0, "parts", 0, "text").text()).isEqualTo("second");
        Shown tasks = call("echo", "ListTasks", "{'contextId':'s-twice','includeArtifacts':true}")
                .at("tasks");
        assertThat(tasks.size()).isEqualTo(2);
        Shown newer = tasks.at(tasks.at(0, "artifacts").text().contains("second") ? 0 : 1);
        Shown older = tasks.at(tasks.at(0, "artifacts").text().contains("second") ? 1 : 0);
        assertThat(newer.at("history", 0, "referenceTaskIds").value())
                .isEqualTo(List.of(older.at("id").text()));
    }

    @Test
    @DisplayName("0.1: first messages of one name that come at once make one task")
    void aNameIsGivenOnce() throws Exception {
        int callers = 12;
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var sends = new ArrayList<Callable<Shown>>();
            for (int i = 0; i < callers; i++) {
                String params = "{'id':'crowd','sessionId':'s-crowd'," + type("number " + i) + "}";
                sends.add(() -> call("asks", "tasks/send", params));
            }
            for (Future<Shown> sent : threads.invokeAll(sends)) {
                assertThat(sent.get().at("id").text()).isEqualTo("crowd");
            }
        }

        Shown page = call("asks", "ListTasks", "{'contextId':'s-crowd'}");
        assertThat(page.at("totalSize").value()).isEqualTo(1);
        String history = page.at("tasks", 0, "history").text();
        for (int i = 0; i < callers; i++) {
            assertThat(history).contains("number " + i);
        }
    }

    @Test
    @DisplayName("0.1: names survive a restart of the hub")
    void namesSurviveARestart(@TempDir Path data) throws Exception {
        HubBuilder settings = Hub.builder().data(data).port(0).agents(new MatrixAgents().all());
        try (Hub before = settings.start()) {
            new Outsider(before.url()).result(at("asks"), "tasks/send", "{'id':'kept'," + type("before") + "}");
        }

        try (Hub after = settings.start()) {
            var caller = new Outsider(after.url());
            Shown task = caller.result(at("asks"), "tasks/get", "{'id':'kept','historyLength':9}");
            assertThat(task.at("id").text()).isEqualTo("kept");
            assertThat(task.at("history", 0, "parts", 0, "type").text()).isEqualTo("text");

            Shown continued = caller.result(at("asks"), "tasks/send", "{'id':'kept'," + type("enough") + "}");

            assertThat(continued.at("id").text()).isEqualTo("kept");
            assertThat(continued.at("status", "state").text()).isEqualTo("completed");
        }
    }

    // ---- All together

    @Test
    @DisplayName(
            "One task, many dialects: begun in 0.1, read in 1.0 and 0.3, watched over AgentVault, canceled by the Kernel")
    void aTaskIsOneInEveryDialect() throws Exception {
        String path = at("gated");
        try (Frames first = outsider.stream(
                path, "tasks/sendSubscribe", "{'id':'many','sessionId':'s-many'," + type("many") + "}")) {
            first.until(frame -> frame.at("result").has("artifact"));

            Shown page = call("gated", "ListTasks", "{'contextId':'s-many'}");
            String id = page.at("tasks", 0, "id").text();
            assertThat(id).isNotEqualTo("many");
            assertThat(call("gated", "GetTask", "{'id':'" + id + "'}")
                            .at("status", "state")
                            .text())
                    .isEqualTo("TASK_STATE_WORKING");
            assertThat(call("gated", "tasks/get", "{'id':'" + id + "'}")
                            .at("kind")
                            .text())
                    .isEqualTo("task");
            assertThat(call("gated", "tasks/get", "{'id':'many'}")
                            .at("sessionId")
                            .text())
                    .isEqualTo("s-many");

            try (Frames watched = outsider.stream(path + "/agentvault", "tasks/sendSubscribe", "{'id':'" + id + "'}")) {
                assertThat(Objects.requireNonNull(watched.next()).at("state").text())
                        .isEqualTo("WORKING");

                Shown canceled = outsider.result(path + "/kernel", "tasks/cancel", "{'id':'many'}");

                assertThat(canceled.at("status", "state").text()).isEqualTo("canceled");
                assertThat(watched.all().getLast().at("state").text()).isEqualTo("CANCELED");
            }
            Frame last = first.all().getLast();
            assertThat(last.at("result", "id").text()).isEqualTo("many");
            assertThat(last.at("result", "status", "state").text()).isEqualTo("canceled");
            assertThat(last.at("result", "final").value()).isEqualTo(true);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3", "0.1"})
    @DisplayName("A webhook is told in the dialect in which it was asked for")
    void webhooksAreToldInTheirDialect(String dialect) throws Exception {
        try (var hook = new Hook()) {
            String config = "{'id':'h','url':'" + hook.url() + "','token':'t-1'}";
            switch (dialect) {
                case "1.0" ->
                    call(
                            "echo",
                            "SendMessage",
                            "{'message':{'messageId':'hook-1','role':'ROLE_USER','parts':[{'text':'hello'}]},"
                                    + "'configuration':{'taskPushNotificationConfig':" + config + "}}");
                case "0.3" ->
                    call(
                            "echo",
                            "message/send",
                            "{" + kind("hook-3", "hello") + ",'configuration':{'pushNotificationConfig':" + config
                                    + "}}");
                default ->
                    call(
                            "echo",
                            "tasks/send",
                            "{'id':'hook-0','pushNotification':" + config + "," + type("hello") + "}");
            }

            String end = dialect.equals("1.0") ? "TASK_STATE_COMPLETED" : "completed";
            Hook.Told told = hook.next();
            while (!told.body().text().contains(end)) {
                told = hook.next();
            }

            assertThat(told.headers()).containsEntry("x-a2a-notification-token", "t-1");
            switch (dialect) {
                case "1.0" -> assertThat(told.body().has("statusUpdate")).isTrue();
                case "0.3" -> {
                    assertThat(told.body().at("kind").text()).isEqualTo("task");
                    assertThat(told.body()
                                    .at("artifacts", 0, "parts", 0, "kind")
                                    .text())
                            .isEqualTo("text");
                }
                default -> {
                    assertThat(told.body().at("id").text()).isEqualTo("hook-0");
                    assertThat(told.body()
                                    .at("artifacts", 0, "parts", 0, "type")
                                    .text())
                            .isEqualTo("text");
                }
            }
        }
    }
}
