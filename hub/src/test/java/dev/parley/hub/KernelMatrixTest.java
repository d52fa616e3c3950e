package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Frame;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Promises of the Agentic Kernel, as an outsider sees them over HTTP. Each test is named by the row it shows. */
@Timeout(30)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class KernelMatrixTest {
    private static final String HELLO = "'message':{'role':'user','parts':[{'type':'text','text':'hello'}]}";

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
        return "/agents/" + agent + "/kernel";
    }

    private static String text(String text) {
        return "'message':{'role':'user','parts':[{'type':'text','text':'" + text + "'}]}";
    }

    private Shown send(String agent, String params) throws Exception {
        return outsider.result(at(agent), "tasks/send", "{" + params + "}");
    }

    @Test
    @DisplayName("AK01: answers repeat the id and hold a result or an error, never both, and no nulls")
    void envelopesAreThoseOfJsonRpc() throws Exception {
        Shown right = outsider.rpc(at("echo"), "tasks/send", "{" + HELLO + "}");
        Shown wrong = outsider.rpc(at("echo"), "tasks/get", "{'id':'nobody'}");

        assertThat(right.names()).containsExactly("jsonrpc", "id", "result");
        assertThat(right.at("id").text()).isEqualTo("q-1");
        assertThat(right.text()).doesNotContain("null");
        assertThat(wrong.names()).containsExactly("jsonrpc", "id", "error");
        assertThat(wrong.at("error").names()).contains("code", "message");
    }

    @Test
    @DisplayName("AK02: agent/getCard answers with the card")
    void theCardIsAMethod() throws Exception {
        Shown card = outsider.result(at("echo"), "agent/getCard", "{}");

        assertThat(card.value())
                .isEqualTo(Shown.of(outsider.get(at("echo") + "/.well-known/agent.json")
                                .body())
                        .value());
    }

    @Test
    @DisplayName("AK03, AK04: the card at its well-known address has all its fields, in snake_case")
    void theCardIsAFile() throws Exception {
        HttpResponse<String> answer = outsider.get(at("echo") + "/.well-known/agent.json");

        Shown card = Shown.of(answer.body());
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(card.names())
                .contains(
                        "name",
                        "description",
                        "url",
                        "provider",
                        "version",
                        "capabilities",
                        "default_input_modes",
                        "default_output_modes",
                        "skills");
        assertThat(card.at("url").text()).isEqualTo(hub.url() + at("echo"));
        assertThat(card.at("provider", "name").text()).isEqualTo("Example");
        assertThat(card.at("capabilities").value())
                .isEqualTo(Map.of("streaming", true, "push_notifications", true, "state_transition_history", true));
        assertThat(card.at("skills", 0, "id").text()).isEqualTo("repeat");
    }

    @Test
    @DisplayName("AK05: tasks/send without an id creates a task")
    void aSendWithoutAnIdCreatesATask() throws Exception {
        Shown task = send("echo", "'session_id':'s-5'," + HELLO);

        assertThat(task.at("id").text()).isNotEmpty();
        assertThat(task.at("session_id").text()).isEqualTo("s-5");
        assertThat(task.at("status", "state").text()).isEqualTo("completed");
        assertThat(task.has("history")).isFalse();
    }

    @Test
    @DisplayName("AK05: an id that nobody knows becomes that of a new task")
    void anUnknownIdIsTheNameOfANewTask() throws Exception {
        assertThat(send("echo", "'id':'mine-5'," + HELLO).at("id").text()).isEqualTo("mine-5");
        assertThat(outsider.result(at("echo"), "tasks/get", "{'id':'mine-5'}")
                        .at("id")
                        .text())
                .isEqualTo("mine-5");
    }

    @Test
    @DisplayName("AK06: tasks/send with a known id continues the task, and its history grows")
    void aSendWithAnIdContinuesTheTask() throws Exception {
        String id = send("asks", HELLO).at("id").text();

        Shown task = send("asks", "'id':'" + id + "','history_length':10," + text("more"));

        assertThat(task.at("id").text()).isEqualTo(id);
        assertThat(task.at("status", "state").text()).isEqualTo("input-required");
        assertThat(task.at("history", 0, "parts", 0, "text").text()).isEqualTo("hello");
        assertThat(task.at("history").text()).contains("more");
    }

    @Test
    @DisplayName("AK06: a message to a task that has ended runs again under the same id")
    void anEndedTaskRunsAgain() throws Exception {
        send("echo", "'id':'again'," + text("first"));

        Shown task = send("echo", "'id':'again'," + text("second"));

        assertThat(task.at("id").text()).isEqualTo("again");
        assertThat(task.at("status", "state").text()).isEqualTo("completed");
        assertThat(task.at("artifacts", 0, "parts", 0, "text").text()).isEqualTo("second");
    }

    @Test
    @DisplayName("AK06: the history of a task that ran again begins with its first message")
    void theHistoryOfATaskThatRanAgainKeepsItsFirstMessage() throws Exception {
        send("echo", "'id':'thrice'," + text("first"));
        send("echo", "'id':'thrice'," + text("second"));

        Shown sent = send("echo", "'id':'thrice','history_length':100," + text("third"));
        Shown read = outsider.result(at("echo"), "tasks/get", "{'id':'thrice','history_length':100}");
        Shown last = outsider.result(at("echo"), "tasks/get", "{'id':'thrice','history_length':2}");

        for (Shown task : List.of(sent, read)) {
            assertThat(task.at("history").size()).isEqualTo(3);
            assertThat(task.at("history", 0, "parts", 0, "text").text()).isEqualTo("first");
            assertThat(task.at("history", 1, "parts", 0, "text").text()).isEqualTo("second");
            assertThat(task.at("history", 2, "parts", 0, "text").text()).isEqualTo("third");
        }
        assertThat(last.at("history").size()).isEqualTo(2);
        assertThat(last.at("history", 0, "parts", 0, "text").text()).isEqualTo("second");
    }

    @Test
    @DisplayName("AK07: tasks/get shows as many messages as were asked for, and none unasked")
    void historyIsAsLongAsAskedFor() throws Exception {
        String id = send("asks", HELLO).at("id").text();
        send("asks", "'id':'" + id + "'," + text("more"));

        for (String member : List.of("history_length", "historyLength")) {
            Shown task = outsider.result(at("asks"), "tasks/get", "{'id':'" + id + "','" + member + "':1}");
            assertThat(task.at("history").size()).isEqualTo(1);
        }
        assertThat(outsider.result(at("asks"), "tasks/get", "{'id':'" + id + "'}")
                        .has("history"))
                .isFalse();
        // Asking for little loses nothing.
        assertThat(outsider.result(at("asks"), "tasks/get", "{'id':'" + id + "','history_length':10}")
                        .at("history")
                        .size())
                .isGreaterThan(1);
    }

    @Test
    @DisplayName("AK08: a running task is canceled, an ended one is not, an unknown one is not found")
    void tasksAreCanceled() throws Exception {
        String id;
        try (Frames running = outsider.stream(at("states"), "tasks/sendSubscribe", "{" + text("wait") + "}")) {
            id = running.until(frame -> frame.at("status", "state").text().equals("working"))
                    .at("id")
                    .text();

            Shown canceled = outsider.result(at("states"), "tasks/cancel", "{'id':'" + id + "'}");

            assertThat(canceled.at("status", "state").text()).isEqualTo("canceled");
            Frame last = running.all().getLast();
            assertThat(last.at("status", "state").text()).isEqualTo("canceled");
            assertThat(last.at("final").value()).isEqualTo(true);
        }
        assertThat(outsider.code(at("states"), "tasks/cancel", "{'id':'" + id + "'}"))
                .isEqualTo(-32002);
        assertThat(outsider.code(at("states"), "tasks/cancel", "{'id':'nobody'}"))
                .isEqualTo(-32001);
    }

    @Test
    @DisplayName("AK09: a stream has bare frames, the status, the artifacts, and a final status at the end")
    void aStreamShowsTheWork() throws Exception {
        agents.gate("nine").countDown();
        String params = "{'id':'s-9','session_id':'c-9'," + text("nine") + "}";
        try (Frames frames = outsider.stream(at("gated"), "tasks/sendSubscribe", params)) {
            assertThat(frames.status()).isEqualTo(200);
            assertThat(frames.header("Content-Type")).startsWith("text/event-stream");

            List<Frame> all = frames.all();

            assertThat(all).allSatisfy(frame -> {
                assertThat(frame.event()).isNull();
                assertThat(frame.data().has("jsonrpc")).isFalse();
                assertThat(frame.at("id").text()).isEqualTo("s-9");
            });
            assertThat(all.getFirst().at("status", "state").text()).isEqualTo("working");
            assertThat(all.stream().map(frame -> frame.at("artifact", "index")).filter(index -> index.value() != null))
                    .extracting(Shown::value)
                    .containsExactly(0, 1);
            assertThat(all.getLast().at("status", "state").text()).isEqualTo("completed");
            assertThat(all.stream()
                            .filter(frame ->
                                    Boolean.TRUE.equals(frame.at("final").value())))
                    .hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"text/event-stream; profile=jsonrpc", "application/json, text/event-stream;profile=\"jsonrpc\""})
    @DisplayName("AK09: the frames of a stream are JSON-RPC answers for clients that ask for that profile")
    void framesAreAnswersOnDemand(String accept) throws Exception {
        try (Frames frames =
                outsider.stream(at("echo"), "tasks/sendSubscribe", "{" + text("wrapped") + "}", "Accept", accept)) {
            List<Frame> all = frames.all();

            assertThat(all).allSatisfy(frame -> {
                assertThat(frame.at("jsonrpc").text()).isEqualTo("2.0");
                assertThat(frame.at("id").text()).isEqualTo("q-1");
            });
            assertThat(all.getLast().at("result", "final").value()).isEqualTo(true);
            assertThat(all.getLast().at("result", "status", "state").text()).isEqualTo("completed");
        }
    }

    @Test
    @DisplayName("AK10: a stream that was dropped is taken up again from the present status")
    void aStreamIsTakenUpAgain() throws Exception {
        try (Frames dropped =
                outsider.stream(at("gated"), "tasks/sendSubscribe", "{'id':'s-10'," + text("ten") + "}")) {
            dropped.until(frame -> frame.data().has("artifact"));
        }
        try (Frames frames = outsider.stream(at("gated"), "tasks/resubscribe", "{'id':'s-10'}")) {
            Frame present = frames.next();
            assertThat(present).isNotNull();
            assertThat(present.at("status", "state").text()).isEqualTo("working");
            agents.gate("ten").countDown();

            List<Frame> rest = frames.all();

            assertThat(rest.stream()
                            .map(frame -> frame.at("artifact", "name"))
                            .filter(name -> name.value() != null)
                            .map(Shown::text))
                    .containsExactly("one", "two");
            assertThat(rest.getLast().at("final").value()).isEqualTo(true);
        }
        try (Frames ended = outsider.stream(at("gated"), "tasks/resubscribe", "{'id':'s-10'}")) {
            List<Frame> all = ended.all();
            assertThat(all.stream()
                            .filter(frame ->
                                    Boolean.TRUE.equals(frame.at("final").value())))
                    .containsExactly(all.getLast());
            assertThat(all.getLast().at("status", "state").text()).isEqualTo("completed");
        }
    }

    @Test
    @DisplayName("AK11: a webhook that was set is told when the task ends, and can be read back")
    void aWebhookIsSetAndTold() throws Exception {
        try (var hook = new Hook()) {
            send("asks", "'id':'h-11'," + HELLO);
            String config = "'push_notification':{'url':'" + hook.url() + "','token':'t-1'}";

            Shown set = outsider.result(at("asks"), "tasks/pushNotification/set", "{'id':'h-11'," + config + "}");

            assertThat(set.at("id").text()).isEqualTo("h-11");
            assertThat(set.at("push_notification", "url").text()).isEqualTo(hook.url());
            assertThat(set.at("push_notification", "token").value()).isNull();
            assertThat(outsider.result(at("asks"), "tasks/pushNotification/get", "{'id':'h-11'}")
                            .at("push_notification", "url")
                            .text())
                    .isEqualTo(hook.url());
            send("asks", "'id':'h-11'," + text("enough"));

            Hook.Told told = hook.next();
            while (!Boolean.TRUE.equals(told.body().at("final").value())) {
                told = hook.next();
            }
            assertThat(told.body().at("id").text()).isEqualTo("h-11");
            assertThat(told.body().at("status", "state").text()).isEqualTo("completed");
            assertThat(told.headers())
                    .containsEntry("x-a2a-notification-token", "t-1")
                    .containsEntry("authorization", "Bearer t-1");
        }
    }

    @Test
    @DisplayName("AK11: a webhook is told of an artifact by the artifact")
    void aWebhookIsToldOfArtifacts() throws Exception {
        try (var hook = new Hook()) {
            agents.gate("eleven").countDown();
            send("gated", "'id':'h-11a','push_notification':{'url':'" + hook.url() + "'}," + text("eleven"));

            var artifacts = new ArrayList<Shown>();
            Hook.Told told = hook.next();
            while (!Boolean.TRUE.equals(told.body().at("final").value())) {
                if (told.body().has("artifact")) {
                    artifacts.add(told.body());
                }
                told = hook.next();
            }
            assertThat(artifacts).hasSize(2).allSatisfy(body -> {
                assertThat(body.at("id").text()).isEqualTo("h-11a");
                assertThat(body.has("status")).isFalse();
            });
            assertThat(artifacts)
                    .extracting(body -> body.at("artifact", "index").value())
                    .containsExactly(0, 1);
            assertThat(artifacts.getLast().at("artifact", "parts", 0, "text").text())
                    .isEqualTo("the second half");
        }
    }

    @Test
    @DisplayName("AK11: an agent without webhooks says so with -32003")
    void webhooksMayBeUnsupported() throws Exception {
        String id = send("plain", HELLO).at("id").text();

        String params = "{'id':'" + id + "','push_notification':{'url':'https://example.com/hook'}}";

        assertThat(outsider.code(at("plain"), "tasks/pushNotification/set", params))
                .isEqualTo(-32003);
        assertThat(outsider.code(at("plain"), "tasks/pushNotification/get", "{'id':'" + id + "'}"))
                .isEqualTo(-32003);
    }

    @Test
    @DisplayName("AK12: a webhook that comes with the message is told")
    void aWebhookMayComeWithTheMessage() throws Exception {
        try (var hook = new Hook()) {
            send("echo", "'id':'h-12','push_notification':{'url':'" + hook.url() + "'}," + HELLO);

            Hook.Told told = hook.next();
            while (!told.body().at("status", "state").text().equals("completed")) {
                told = hook.next();
            }

            assertThat(told.body().at("id").text()).isEqualTo("h-12");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "input, input-required",
        "credentials, input-required",
        "fail, failed",
        "reject, failed",
        "throw, failed",
        "complete, completed"
    })
    @DisplayName("AK13: each state has its name on the wire")
    void statesHaveTheirNames(String told, String state) throws Exception {
        Shown task = send("states", text(told));

        assertThat(task.at("status", "state").text()).isEqualTo(state);
        assertThat(task.text()).doesNotContain("nobody is told");
    }

    @Test
    @DisplayName("AK13: a task of which nobody knows how it stands is unknown, live and to who asks, and goes on")
    void aStateMayBeUnknown() throws Exception {
        try (Frames live = outsider.stream(at("vague"), "tasks/sendSubscribe", "{'id':'w-u'," + text("kernel") + "}")) {
            Frame told = live.until(frame -> frame.at("status", "state").text().equals("unknown"));
            Shown task = outsider.result(at("vague"), "tasks/get", "{'id':'w-u'}");
            agents.gate("kernel").countDown();

            assertThat(told.at("final").value()).isEqualTo(false);
            assertThat(task.at("status", "state").text()).isEqualTo("unknown");
            assertThat(states(live)).containsExactly("completed");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/kernel, JSONRPC, kernel, UNSPECIFIED",
        "/agentvault, JSONRPC, agentvault, WORKING",
        "'', JSONRPC, 0.1, UNSPECIFIED",
        "'', JSONRPC, 0.3, UNSPECIFIED",
        "'', HTTP+JSON, 0.3, UNSPECIFIED",
        "'', JSONRPC, 1.0, UNSPECIFIED",
        "'', HTTP+JSON, 1.0, UNSPECIFIED",
        "'', GRPC, 1.0, UNSPECIFIED"
    })
    @DisplayName("AK13: our client reads a state that nobody knows in every dialect, and watches on")
    void clientsReadAStateThatIsUnknown(String path, String binding, String version, TaskState shown) throws Exception {
        try (AgentClient client = AgentClient.builder()
                        .prefer(binding)
                        .version(version)
                        .connect(hub.url() + "/agents/vague" + path);
                TaskStream stream = client.stream(version + binding)) {
            TaskEvent event = stream.next();
            while (!(event instanceof TaskStatusUpdateEvent update
                    && update.status().state() == shown)) {
                event = stream.next();
            }
            String id = ((TaskStatusUpdateEvent) event).taskId();

            assertThat(client.task(id).state()).isEqualTo(shown);
            agents.gate(version + binding).countDown();
            while (stream.hasNext()) {
                event = stream.next();
            }
            assertThat(((TaskStatusUpdateEvent) event).status().state()).isEqualTo(TaskState.COMPLETED);
        }
    }

    @Test
    @DisplayName("AK13, AK19: the way of a task through its states can be read, live and afterwards, in order")
    void transitionsAreToldInOrder() throws Exception {
        List<String> told;
        try (Frames live = outsider.stream(at("states"), "tasks/sendSubscribe", "{'id':'w-13'," + text("go") + "}")) {
            told = states(live);
        }

        assertThat(told)
                .containsSubsequence("submitted", "working", "completed")
                .endsWith("completed");
        try (Frames later = outsider.stream(at("states"), "tasks/resubscribe", "{'id':'w-13'}", "Last-Event-ID", "0")) {
            assertThat(states(later)).isEqualTo(told);
        }
    }

    private static List<String> states(Frames frames) {
        return frames.all().stream()
                .map(frame -> frame.at("status", "state"))
                .filter(state -> state.value() != null)
                .map(Shown::text)
                .toList();
    }

    @Test
    @DisplayName("AK14: text, files by bytes and by address, and data come back as they went")
    void partsComeBack() throws Exception {
        String parts = "[{'type':'text','text':'hi','metadata':{'k':1}},"
                + "{'type':'file','file':{'name':'a.bin','mime_type':'application/octet-stream','bytes':'AAEC'}},"
                + "{'type':'file','file':{'name':'b.txt','mime_type':'text/plain','uri':'https://example.com/b.txt'}},"
                + "{'type':'data','data':{'n':[1,{'deep':true}]}}]";

        Shown task = send("parts", "'message':{'role':'user','parts':" + parts + "}");

        assertThat(task.at("artifacts", 0, "parts").value())
                .isEqualTo(Shown.of(parts.replace('\'', '"')).value());
    }

    @Test
    @DisplayName("AK14: a file with both bytes and address is refused with -32602")
    void aFileIsEitherBytesOrAnAddress() throws Exception {
        String both = "[{'type':'file','file':{'bytes':'AAEC','uri':'https://example.com/b.txt'}}]";

        assertThat(outsider.code(at("parts"), "tasks/send", "{'message':{'role':'user','parts':" + both + "}}"))
                .isEqualTo(-32602);
    }

    @Test
    @DisplayName("AK15: pieces of an artifact come with append and last_chunk and make one artifact")
    void piecesMakeOneArtifact() throws Exception {
        var pieces = new ArrayList<Frame>();
        try (Frames frames = outsider.stream(at("chunks"), "tasks/sendSubscribe", "{'id':'a-15'," + HELLO + "}")) {
            frames.all().stream().filter(frame -> frame.data().has("artifact")).forEach(pieces::add);
        }

        Shown task = outsider.result(at("chunks"), "tasks/get", "{'id':'a-15'}");

        assertThat(pieces).hasSize(2);
        assertThat(pieces.get(0).at("artifact", "append").value()).isNull();
        assertThat(pieces.get(1).at("artifact", "append").value()).isEqualTo(true);
        assertThat(pieces.get(1).at("artifact", "last_chunk").value()).isEqualTo(true);
        assertThat(pieces)
                .extracting(piece -> piece.at("artifact", "index").value())
                .containsExactly(0, 0);
        assertThat(task.at("artifacts").size()).isEqualTo(1);
        assertThat(task.at("artifacts", 0, "name").text()).isEqualTo("story");
        assertThat(task.at("artifacts", 0, "parts").text()).contains("once upon ", "a time");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'jsonrpc'                                                        | -32700",
                "[]                                                                | -32600",
                "{'jsonrpc':'1.0','id':1,'method':'tasks/get','params':{'id':'t'}} | -32600",
                "{'jsonrpc':'2.0','id':1,'params':{'id':'t'}}                      | -32600",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/fetch','params':{}}       | -32601",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':{}}        | -32602",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/get'}                     | -32602",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/get','params':{'id':'t'}} | -32001",
                "{'jsonrpc':'2.0','id':1,'method':'tasks/resubscribe','params':{'id':'t'}} | -32001"
            })
    @DisplayName("AK16: each error has its code, with status 200")
    void errorsHaveTheirCodes(String body, int code) throws Exception {
        HttpResponse<String> answer = outsider.post(at("echo"), body.replace('"', '\''));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(Shown.of(answer.body()).at("error", "code").value()).isEqualTo(code);
    }

    @Test
    @DisplayName("AK16: a stream from an agent that has none is refused with -32004")
    void streamsMayBeUnsupported() throws Exception {
        assertThat(outsider.code(at("plain"), "tasks/sendSubscribe", "{" + HELLO + "}"))
                .isEqualTo(-32004);
    }

    @Test
    @DisplayName("AK22: an agent's own methods are reached where its operations are, and know who calls")
    void ownMethodsAreReached() throws Exception {
        hub.host(methodical());
        for (String path : List.of(at("methodical"), "/agents/methodical")) {
            Shown sum = outsider.result(path, "maths/add", "{'numbers':[1,2,3.5],'unit':null}");

            assertThat(sum.at("sum").value()).isEqualTo(6.5);
            assertThat(sum.at("by").text()).isEqualTo("anonymous");
            assertThat(outsider.code(path, "maths/add", "[1]")).isEqualTo(-32602);
            assertThat(outsider.code(path, "maths/add", "{}")).isEqualTo(-32602);
            assertThat(outsider.code(path, "maths/multiply", "{}")).isEqualTo(-32601);
        }
        assertThat(outsider.code("/agents/echo", "maths/add", "{}")).isEqualTo(-32601);
        assertThat(send("methodical", HELLO).at("status", "state").text()).isEqualTo("completed");
    }

    @ParameterizedTest
    @ValueSource(strings = {"tasks/send", "SendMessage", "message/send", "agent/getCard", "rpc.discover", ""})
    @DisplayName("AK22: methods of the protocol stay what they are")
    void methodsOfTheProtocolAreRefused(String name) {
        Agent greedy = Agent.named("greedy", "Wants it all")
                .method(name, (params, caller) -> Map.of())
                .handle((request, reply) -> reply.complete());

        assertThatThrownBy(() -> hub.host(greedy)).hasMessageContaining("expected: a name that the protocol does not");
    }

    @Test
    @DisplayName("AK16, GEM05: what fails here is -32603, and an answer of another agent that nobody can read -32006")
    void failuresHaveTheirCodes() throws Exception {
        hub.host(methodical());

        Shown failed = outsider.rpc("/agents/methodical", "maths/fail", "{}");

        assertThat(failed.at("error", "code").value()).isEqualTo(-32603);
        assertThat(failed.text()).doesNotContain("nobody is told");
        assertThat(outsider.code(at("methodical"), "maths/fail", "{}")).isEqualTo(-32603);
        assertThat(outsider.code("/agents/methodical", "maths/ask", "{}")).isEqualTo(-32006);
        assertThat(outsider.code(at("methodical"), "maths/ask", "{}")).isEqualTo(-32603);
    }

    private Agent methodical() {
        return Agent.named("methodical", "Has methods of its own")
                .method("maths/add", (params, caller) -> {
                    if (!(params.get("numbers") instanceof List<?> numbers)) {
                        throw A2AException.invalidParams("numbers", "missing (expected: a list)");
                    }
                    double sum = numbers.stream()
                            .mapToDouble(number -> ((Number) number).doubleValue())
                            .sum();
                    return Map.of("sum", sum, "by", caller.caller());
                })
                .method("maths/fail", (params, caller) -> {
                    throw new IllegalStateException("a detail that nobody is told");
                })
                .method("maths/ask", (params, caller) -> {
                    throw A2AException.of(A2AError.INVALID_AGENT_RESPONSE, "what the other agent said is no answer");
                })
                .handle((request, reply) -> reply.complete(request.text()));
    }

    @Test
    @DisplayName("AK17: what the agent cannot read, and what the caller cannot, is refused with -32005")
    void modesAreNegotiated() throws Exception {
        String image = "{'type':'file','file':{'mime_type':'image/png','bytes':'AAEC'}}";

        assertThat(outsider.code(at("echo"), "tasks/send", "{'message':{'role':'user','parts':[" + image + "]}}"))
                .isEqualTo(-32005);
        assertThat(outsider.code(at("echo"), "tasks/send", "{'accepted_output_modes':['image/png']," + HELLO + "}"))
                .isEqualTo(-32005);
        for (String modes : List.of("[]", "['text']", "['image/png','text/plain']", "['text/*']", "['*/*']")) {
            send("echo", "'accepted_output_modes':" + modes + "," + HELLO);
        }
    }

    @Test
    @DisplayName("AK21: our client finds the card, sends, reads, streams, cancels and sets webhooks")
    void ourClientDoesItAll() throws Exception {
        try (AgentClient client = AgentClient.connect(hub.url() + at("asks"));
                AgentClient gated = AgentClient.connect(hub.url() + at("gated"))) {
            assertThat(client.card().name()).isEqualTo("asks");
            assertThat(client.address().protocolVersion()).isEqualTo("kernel");

            Task asked = (Task) client.send("hello");
            assertThat(asked.state()).isEqualTo(TaskState.INPUT_REQUIRED);
            assertThat(client.task(asked.id(), 1).history()).hasSize(1);

            String url = "https://example.com/hook";
            client.createPushConfig(new PushConfig(null, null, asked.id(), url, null, null));
            assertThat(client.pushConfig(asked.id(), asked.id()).url()).isEqualTo(url);
            assertThat(client.cancel(asked.id()).state()).isEqualTo(TaskState.CANCELED);

            String id;
            try (TaskStream stream = gated.stream(Message.user(Part.text("go")))) {
                id = ((Task) stream.next()).id();
            }
            try (TaskStream again = gated.subscribe(id)) {
                assertThat(((Task) again.next()).id()).isEqualTo(id);
                assertThat(((TaskStatusUpdateEvent) again.next()).status().state())
                        .isEqualTo(TaskState.WORKING);
                agents.gate("go").countDown();
                var events = new ArrayList<TaskEvent>();
                again.forEachRemaining(events::add);
                assertThat(events.getLast())
                        .isInstanceOfSatisfying(
                                TaskStatusUpdateEvent.class,
                                last -> assertThat(last.status().state()).isEqualTo(TaskState.COMPLETED));
            }
            assertThat(gated.task(id).artifacts()).hasSize(2);
        }
    }

    @Test
    @DisplayName("AK27: the documented examples run")
    void theExamplesRun() throws Exception {
        Shown sent = Shown.of(outsider.post(at("echo"), """
                {"jsonrpc":"2.0","id":"1","method":"tasks/send","params":{"session_id":"s1","history_length":5,
                 "message":{"role":"user","parts":[{"type":"text","text":"hello"}]}}}""").body());

        assertThat(sent.at("id").text()).isEqualTo("1");
        assertThat(sent.at("result", "session_id").text()).isEqualTo("s1");
        assertThat(sent.at("result", "status", "state").text()).isEqualTo("completed");
        assertThat(sent.at("result", "status", "timestamp").text()).endsWith("Z");
        assertThat(sent.at("result", "artifacts", 0, "index").value()).isEqualTo(0);
        assertThat(sent.at("result", "history").size()).isEqualTo(1);
    }
}
