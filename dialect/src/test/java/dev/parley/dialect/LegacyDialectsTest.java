package dev.parley.dialect;

import static dev.parley.dialect.Exchange.frames;
import static dev.parley.dialect.Exchange.whole;
import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.example;
import static dev.parley.dialect.Wire.text;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.legacy.LegacyModel;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.JsonText;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which dialect a request is taken for, and what is wrong with it in that dialect. */
final class LegacyDialectsTest {
    /** A task that its caller calls so; its id is another one. */
    private static final String NAMED = "mine";

    private static final Task TASK = task("t-9");

    private static final String V1_SEND = "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'hi'}]}}";
    private static final String KIND_SEND =
            "{'message':{'kind':'message','messageId':'m','role':'user'," + "'parts':[{'kind':'text','text':'hi'}]}}";
    private static final String PROTO_SEND =
            "{'message':{'messageId':'m','role':'ROLE_USER','content':[{'text':'hi'}]}}";
    private static final String TYPE_SEND =
            "{'id':'mine','message':{'role':'user','parts':[{'type':'text','text':'hi'}]}}";
    private static final String VAULT_SEND = "{'message':{'role':'user','parts':[{'type':'text','content':'hi'}]}}";

    private static final Map<String, String> PARAMS = Map.ofEntries(
            Map.entry("SendMessage", V1_SEND),
            Map.entry("SendStreamingMessage", V1_SEND),
            Map.entry("GetTask", "{'id':'t-9'}"),
            Map.entry("ListTasks", "{}"),
            Map.entry("CancelTask", "{'id':'t-9'}"),
            Map.entry("SubscribeToTask", "{'id':'t-9'}"),
            Map.entry("CreateTaskPushNotificationConfig", "{'taskId':'t-9','url':'https://h.example'}"),
            Map.entry("GetTaskPushNotificationConfig", "{'taskId':'t-9','id':'p'}"),
            Map.entry("ListTaskPushNotificationConfigs", "{'taskId':'t-9'}"),
            Map.entry("ListTaskPushNotificationConfig", "{'taskId':'t-9'}"),
            Map.entry("DeleteTaskPushNotificationConfig", "{'taskId':'t-9','id':'p'}"),
            Map.entry("GetExtendedAgentCard", "{}"),
            Map.entry("message/send", KIND_SEND),
            Map.entry("message/stream", KIND_SEND),
            Map.entry("tasks/list", "{}"),
            Map.entry(
                    "tasks/pushNotificationConfig/set",
                    "{'taskId':'t-9','pushNotificationConfig':{'url':'https://h.example'}}"),
            Map.entry("tasks/pushNotificationConfig/get", "{'id':'t-9'}"),
            Map.entry("tasks/pushNotificationConfig/list", "{'id':'t-9'}"),
            Map.entry("tasks/pushNotificationConfig/delete", "{'id':'t-9','pushNotificationConfigId':'p'}"),
            Map.entry("agent/getAuthenticatedExtendedCard", "{}"),
            Map.entry("tasks/send", TYPE_SEND),
            Map.entry("tasks/sendSubscribe", TYPE_SEND),
            Map.entry(
                    "tasks/pushNotification/set", "{'id':'mine','pushNotificationConfig':{'url':'https://h.example'}}"),
            Map.entry("tasks/pushNotification/get", "{'id':'mine'}"),
            Map.entry("tasks/get", "{'id':'t-9'}"),
            Map.entry("tasks/cancel", "{'id':'t-9'}"),
            Map.entry("tasks/resubscribe", "{'id':'t-9'}"));

    private static final List<String> SHARED = List.of("tasks/get", "tasks/cancel", "tasks/resubscribe");

    private final Exchange exchange = new Exchange().inEveryDialect();

    private static Task task(String id) {
        return new Task(id, "c-4", TaskStatus.of(TaskState.WORKING, Instant.EPOCH), List.of(), List.of(), Map.of());
    }

    @BeforeEach
    void answer() {
        exchange.endpoint.answers = LegacyDialectsTest::answer;
        exchange.endpoint.events = List.of(new LoggedEvent(1, TASK));
    }

    private static Object answer(Operation.Call<?> call) {
        return switch (call) {
            case Operation.SendMessage send -> TASK;
            case Operation.GetTask get -> task(get.id().equals(NAMED) ? "t-1" : get.id());
            case Operation.CancelTask cancel -> TASK;
            case Operation.ListTasks list -> new Operation.TaskPage(List.of(TASK), "", 50, 1, true);
            case Operation.CreatePushConfig create -> create.config();
            case Operation.GetPushConfig get ->
                new PushConfig(null, get.id(), get.taskId(), "https://h.example", null, null);
            case Operation.ListPushConfigs list -> new Operation.PushConfigPage(List.of(), "");
            case Operation.DeletePushConfig delete -> new Operation.Empty();
            case Operation.GetExtendedAgentCard card -> Json.read(example("card.full.json"), AgentCard.class);
            case Operation.ExtensionCall<?> other -> throw new IllegalArgumentException(other.name());
        };
    }

    private static String json(String json) {
        return json.replace('\'', '"');
    }

    private static String envelope(String method, String params) {
        return json("{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}");
    }

    @Test
    void theExtendedCardOf02IsReadWhereItWas() {
        exchange.endpoint.answers = LegacyDialectsTest::answer;

        WireAnswer.Whole answer = exchange.rest("GET", "/agent/authenticatedExtendedCard");

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers()).containsEntry("Cache-Control", "private, max-age=60");
        assertThat(Json.read(answer.body(), Map.class).containsKey("preferredTransport"))
                .isTrue();
    }

    /** The dialect in which a call reached the agent, or else the code with which it was refused. */
    private String outcome(WireAnswer answer) {
        if (answer instanceof WireAnswer.Whole whole) {
            Object code = whole.body().length == 0
                    ? null
                    : Tree.of(whole).at("error", "code").value();
            if (code != null) {
                assertThat(exchange.endpoint.asked).isNull();
                return code.toString();
            }
        }
        return requireNonNull(exchange.endpoint.context).dialect();
    }

    // ---- JSON-RPC: method and version

    static Stream<Arguments> methodsAndVersions() {
        return PARAMS.keySet().stream()
                .sorted()
                .flatMap(method -> Stream.of(
                                "", "1.0", "1.0.1", "0.3", "0.3.0", "0.2", "0.2.6", "0.1", "0.1.0", "2.0", "0.5", "x",
                                "1")
                        .map(version -> Arguments.of(method, version, expected(method, version))));
    }

    private static String expected(String method, String version) {
        String asked = version.length() < 3 ? version : version.substring(0, 3);
        if (Set.of("2.0", "0.5", "x", "1").contains(asked)) {
            return "-32009";
        }
        boolean first = method.equals("tasks/send")
                || method.equals("tasks/sendSubscribe")
                || method.startsWith("tasks/pushNotification/");
        boolean now = Character.isUpperCase(method.charAt(0));
        return switch (asked) {
            case "1.0" -> now ? "1.0" : "-32601";
            case "0.3", "0.2" -> now || first ? "-32601" : "0.3";
            case "0.1" -> first || SHARED.contains(method) ? "0.1" : "-32601";
            default -> now ? "1.0" : first ? "0.1" : "0.3";
        };
    }

    @ParameterizedTest
    @MethodSource("methodsAndVersions")
    void theMethodDecidesAndTheVersionMayForbidIt(String method, String version, String expected) {
        if (!version.isEmpty()) {
            exchange.with("A2A-Version", version);
        }

        WireAnswer answer = exchange.rpc(envelope(method, requireNonNull(PARAMS.get(method))));

        assertThat(outcome(answer)).isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource("methodsAndVersions")
    void noCallLooksATaskUpToFindItsDialect(String method, String version, String expected) {
        var read = new ArrayList<Operation>();
        exchange.endpoint.answers = call -> {
            if (call instanceof Operation.GetTask) {
                read.add(call);
            }
            return answer(call);
        };

        exchange.with("A2A-Version", version).rpc(envelope(method, requireNonNull(PARAMS.get(method))));

        boolean reads = !expected.startsWith("-") && (method.equals("GetTask") || method.equals("tasks/get"));
        assertThat(read).hasSize(reads ? 1 : 0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tasks/get", "tasks/cancel", "tasks/resubscribe"})
    void aTaskThatItsCallerNamedIsShownInTheFirstVersion(String method) throws Exception {
        WireAnswer answer = exchange.rpc(envelope(method, "{'id':'mine'}"));

        String shown = answer instanceof WireAnswer.Whole whole ? text(whole.body()) : frames(answer);
        assertThat(shown).contains("\"result\":{\"id\":\"mine\"").doesNotContain("\"kind\"", "t-9", "t-1");
        assertThat(requireNonNull(exchange.endpoint.context).namesTasks()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"tasks/get", "tasks/cancel", "tasks/resubscribe"})
    void aTaskThatTheServerNamedIsShownInTheSecondVersion(String method) throws Exception {
        WireAnswer answer = exchange.rpc(envelope(method, "{'id':'t-9'}"));

        String shown = answer instanceof WireAnswer.Whole whole ? text(whole.body()) : frames(answer);
        assertThat(shown).contains("\"kind\":\"task\"", "\"id\":\"t-9\"");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"{'id':'mine'} | 0", "{'id':'mine','historyLength':1} | 1", "{'id':'mine','historyLength':9} | 2"})
    void aNamedTaskHasTheHistoryThatTheFirstVersionAsksFor(String params, int messages) {
        var history = List.of(Message.user(Part.text("one")), Message.user(Part.text("two")));
        exchange.endpoint.answering(
                new Task("t-1", "c-4", TaskStatus.of(TaskState.WORKING, Instant.EPOCH), List.of(), history, Map.of()));

        Tree shown = Tree.of(whole(exchange.rpc(envelope("tasks/get", params)))).at("result");

        assertThat(shown.at("id").text()).isEqualTo(NAMED);
        assertThat(shown.at("history").value() instanceof List<?> read ? read.size() : 0)
                .isEqualTo(messages);
    }

    @Test
    void aSubscriptionToANamedTaskThatHasEndedShowsItsEnd() throws Exception {
        var ended = new Task(
                "t-1", "c-4", TaskStatus.of(TaskState.COMPLETED, Instant.EPOCH), List.of(), List.of(), Map.of());
        exchange.endpoint.answering(ended).failingStreams(A2AException.of(A2AError.UNSUPPORTED_OPERATION));

        String frames = frames(exchange.rpc(envelope("tasks/resubscribe", "{'id':'mine'}")));

        assertThat(frames).contains("\"id\":\"mine\"", "\"final\":true").doesNotContain("t-1");
    }

    @Test
    void aTaskThatNobodyKnowsIsNotFoundWhateverTheVersion() {
        exchange.endpoint.failing(A2AException.taskNotFound("nobody"));

        for (String version : List.of("", "0.1", "0.3")) {
            var answer = exchange.with("A2A-Version", version).rpc("tasks/get", "{\"id\":\"nobody\"}");
            assertThat(answer.at("error", "code").value()).isEqualTo(-32001);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "agent/getCard   | {}",
                "tasks/fetch     | {}",
                "message/sent    | {}",
                "sendMessage     | {}",
                "''              | {}"
            })
    void aMethodThatNoVersionHasIsNotFound(String method, String params) {
        assertThat(outcome(exchange.rpc(envelope(method, params)))).isEqualTo("-32601");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "'id':null,", "'id':'',"})
    void aTaskThatItsCallerDoesNotNameIsTolerated(String id) {
        WireAnswer answer = exchange.rpc(
                envelope("tasks/send", "{" + id + "'message':{'role':'user','parts':[{'type':'text','text':'hi'}]}}"));

        assertThat(outcome(answer)).isEqualTo("0.1");
        assertThat(Tree.of(whole(answer)).at("result", "id").text()).isEqualTo("t-9");
    }

    @Test
    void subscribingInTheFirstVersionNeedsAMessage() {
        assertThat(outcome(exchange.rpc(envelope("tasks/sendSubscribe", "{'id':'t-9'}"))))
                .isEqualTo("-32602");
    }

    @Test
    void methodsOfOlderVersionsMayBeAnsweredToThoseWhoAskFor10() {
        exchange.with(DialectSettings.of(Switch.LENIENT_METHODS)).with("A2A-Version", "1.0");

        assertThat(outcome(exchange.rpc(envelope("message/send", KIND_SEND)))).isEqualTo("0.3");
    }

    // ---- JSON-RPC: callers who may be of 0.1 or of 0.3

    private static final String STORIES =
            "{'id':'t-9','contextId':'c-4','status':{'state':'TASK_STATE_WORKING','timestamp':'2026-01-05T09:00:00.000Z'},"
                    + "'artifacts':[{'artifactId':'artifact-0','parts':[{'text':'one'}]},"
                    + "{'artifactId':'artifact-1','parts':[{'data':{'n':1}}]}],"
                    + "'history':[{'messageId':'m','role':'ROLE_USER','parts':[{'text':'tell'}]}]}";

    @ParameterizedTest
    @ValueSource(strings = {"tasks/get", "tasks/cancel"})
    void anAnswerToWhoMayBeOfEitherVersionIsReadInBoth(String method) {
        Task task = Json.read(bytes(json(STORIES)), Task.class);
        exchange.with(DialectSettings.of(Switch.MERGED_LEGACY_ANSWERS)).endpoint.answering(task);

        Tree answer = Tree.of(whole(exchange.rpc(envelope(method, "{'id':'t-9'}"))));

        assertThat(JsonText.read(Json.write(answer.at("result").value()), LegacyModel.KIND.task))
                .isEqualTo(task);
        assertThat(JsonText.read(Json.write(answer.at("result").value()), LegacyModel.TYPE.task)
                        .artifacts())
                .isEqualTo(task.artifacts());
        assertThat(answer.at("result", "kind").text()).isEqualTo("task");
        assertThat(answer.at("result", "sessionId").text()).isEqualTo("c-4");
        assertThat(answer.at("result", "artifacts", 1, "parts", 0, "kind").text())
                .isEqualTo("data");
        assertThat(answer.at("result", "artifacts", 1, "parts", 0, "type").text())
                .isEqualTo("data");
        assertThat(answer.at("result", "artifacts", 1, "index").value()).isEqualTo(1);
    }

    @Test
    void aStreamToWhoMayBeOfEitherVersionIsReadInBoth() throws Exception {
        Task task = Json.read(bytes(json(STORIES)), Task.class);
        var more = new TaskArtifactUpdateEvent(
                "t-9", "c-4", task.artifacts().getLast(), true, true, Map.of("progress", 50));
        exchange.with(DialectSettings.of(Switch.MERGED_LEGACY_ANSWERS)).endpoint.events = List.of(
                new LoggedEvent(3, task),
                new LoggedEvent(4, more),
                new LoggedEvent(5, new TaskStatusUpdateEvent("t-9", "c-4", task.status(), Map.of())));

        List<byte[]> frames = frames(exchange.rpc(envelope("tasks/resubscribe", "{'id':'t-9'}")))
                .lines()
                .filter(line -> line.startsWith("data: "))
                .map(line -> Json.write(
                        Tree.of(line.substring("data: ".length())).at("result").value()))
                .toList();

        assertThat(JsonText.read(frames.get(0), LegacyModel.KIND.event)).isEqualTo(task);
        assertThat(JsonText.read(frames.get(1), LegacyModel.KIND.event)).isEqualTo(more);
        assertThat(JsonText.read(frames.get(1), LegacyModel.TYPE.indexedUpdate))
                .satisfies(indexed -> assertThat(indexed.index()).isEqualTo(1))
                .satisfies(indexed -> assertThat(indexed.update().append()).isTrue())
                .satisfies(indexed -> assertThat(indexed.update().taskId()).isEqualTo("t-9"));
        assertThat(JsonText.read(frames.get(2), LegacyModel.TYPE.statusUpdate).taskId())
                .isEqualTo("t-9");
        assertThat(frames).hasSize(3);
    }

    @Test
    void whoSaysItsVersionOrANameIsAnsweredInOneVersionAlone() {
        exchange.with(DialectSettings.of(Switch.MERGED_LEGACY_ANSWERS));

        Tree named = Tree.of(whole(exchange.rpc(envelope("tasks/get", "{'id':'mine'}"))));
        exchange.with("A2A-Version", "0.3");
        Tree said = Tree.of(whole(exchange.rpc(envelope("tasks/get", "{'id':'t-9'}"))));

        assertThat(named.at("result", "kind").isAbsent()).isTrue();
        assertThat(said.at("result", "sessionId").isAbsent()).isTrue();
    }

    // ---- Bodies of 0.3 under methods of 1.0

    private static final String FILES =
            "{'message':{'kind':'message','messageId':'m','role':'user','parts':[{'kind':'text','text':'hi'},"
                    + "{'kind':'file','file':{'name':'a','mimeType':'b/c','bytes':'AA=='}},"
                    + "{'url':'https://h.example','filename':'d','mediaType':'e/f'}]},"
                    + "'configuration':{'returnImmediately':true}}";

    @Test
    void aBodyOf03MayBeReadUnderAMethodOf10() {
        exchange.with(DialectSettings.of(Switch.LENIENT_BODIES));

        WireAnswer answer = exchange.rpc(envelope("SendMessage", FILES));

        assertThat(outcome(answer)).isEqualTo("1.0");
        assertThat(exchange.endpoint.asked).isInstanceOfSatisfying(Operation.SendMessage.class, send -> {
            assertThat(send.configuration().returnImmediately()).isTrue();
            assertThat(send.message().parts())
                    .containsExactly(
                            Part.text("hi"),
                            new Part.Raw(new byte[1], "a", "b/c", Map.of()),
                            new Part.Url("https://h.example", "d", "e/f", Map.of()));
        });
    }

    @Test
    void aBodyOf03MayBeReadOverRestOf10() {
        exchange.with(DialectSettings.of(Switch.LENIENT_BODIES)).with("A2A-Version", "1.0");

        WireAnswer.Whole answer = exchange.rest("POST", "/message:send", json(FILES));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(Tree.of(answer).at("task", "id").text()).isEqualTo("t-9");
    }

    @ParameterizedTest
    @CsvSource({"'9.9, 0.3', 0.3", "'0.3,1.0', 0.3", "' 0.3 ', 0.3", "'1.0, 0.3', -32601"})
    void ofSeveralVersionsTheFirstKnownOneCounts(String versions, String expected) {
        exchange.with("A2A-Version", versions);

        assertThat(outcome(exchange.rpc(envelope("message/send", KIND_SEND)))).isEqualTo(expected);
    }

    @Test
    void theVersionIsCheckedBeforeTheTaskIsLookedUp() {
        exchange.endpoint.failing(A2AException.taskNotFound("nobody"));

        var answer = exchange.with("A2A-Version", "7.0").rpc("tasks/get", "{\"id\":\"nobody\"}");

        assertThat(answer.at("error", "code").value()).isEqualTo(-32009);
        assertThat(exchange.endpoint.asked).isNull();
    }

    // ---- JSON-RPC: conflicts between method and body

    @Test
    void aBodyOf10UnderAMethodOf03IsReadAndAnsweredIn03() {
        var answer = Tree.of(whole(exchange.rpc(envelope("message/send", V1_SEND))));

        assertThat(answer.at("result", "kind").text()).isEqualTo("task");
        assertThat(exchange.endpoint.asked)
                .isInstanceOfSatisfying(
                        Operation.SendMessage.class,
                        send -> assertThat(send.message().text()).isEqualTo("hi"));
    }

    @Test
    void aBodyOf03UnderAMethodOf10IsRefusedByField() {
        var answer = Tree.of(whole(exchange.rpc(envelope("SendMessage", KIND_SEND))));

        assertThat(answer.at("error", "code").value()).isEqualTo(-32602);
        assertThat(answer.at("error", "message").text()).contains("role");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "message/send | {'message':{'messageId':'m','role':'user','parts':[{'type':'text','text':'hi'}]}}",
                "message/send | {'message':{'messageId':'m','role':'user','parts':[{'text':'hi'}]}}",
                "message/send |"
                        + " {'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'hi'},{'raw':'AA==','mediaType':'a/b'},{'url':'x:y'}]}}",
                "message/send | {'message':{'role':'user','parts':[{'kind':'text','text':'hi'}]}}",
                "message/send |"
                        + " {'message':{'message_id':'m','role':'ROLE_USER','parts':[{'kind':'text','text':'hi'}]}}",
                "message/send |"
                        + " {'message':{'messageId':'m','role':'user','parts':[{'kind':'text','text':'hi','text2':1}],'x':{}}}",
                "tasks/send   | {'id':'mine','message':{'role':'user','parts':[{'kind':'text','text':'hi'}]}}",
                "tasks/send   | {'id':'mine','message':{'role':'user','parts':[{'text':'hi'}]}}",
                "tasks/send   |"
                        + " {'id':'mine','session_id':'s','message':{'role':'user','parts':[{'type':'text','text':'hi'}]}}",
                "tasks/send   |"
                        + " {'id':'mine','message':{'role':'user','parts':[{'type':'text','text':'hi','metadata':null}],'metadata':null},'pushNotification':null,'historyLength':null,'metadata':null}"
            })
    void mixedSpellingsAreUnderstood(String method, String params) {
        exchange.rpc(envelope(method, params));

        assertThat(exchange.endpoint.asked)
                .isInstanceOfSatisfying(
                        Operation.SendMessage.class,
                        send -> assertThat(send.message().text()).isEqualTo("hi"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''          | message/send |"
                        + " {'message':{'role':'user','parts':[{'kind':'file','file':{'bytes':'AA==','uri':'x:y'}}]}} |"
                        + " message.parts[0].file",
                "''          | message/send | {'message':{'role':'user','parts':[{'kind':'file','file':{}}]}}       |"
                        + " message.parts[0].file",
                "''          | message/send |"
                        + " {'message':{'role':'user','parts':[{'kind':'file','file':{'bytes':'?'}}]}} |"
                        + " message.parts[0].file.bytes",
                "''          | message/send | {'message':{'role':'user','parts':[{'kind':'text','data':{}}]}}       |"
                        + " message.parts[0]",
                "''          | message/send |"
                        + " {'message':{'role':'user','parts':[{'kind':'text','text':'a','data':{}}]}} | message.parts[0]",
                "''          | message/send | {'message':{'role':'user','parts':[{}]}}                              |"
                        + " message.parts[0]",
                "''          | message/send | {'message':{'role':'user','parts':[{'raw':'AA==','url':'x:y'}]}}      |"
                        + " message.parts[0]",
                "''          | message/send | {'message':{'role':'user','parts':[{'url':'x:y','file':{'uri':'x:y'}}]}}"
                        + " | message.parts[0]",
                "''          | message/send | {'message':{'role':'robot','parts':[{'kind':'text','text':'a'}]}}     |"
                        + " message.role",
                "''          | message/send |"
                        + " {'message':{'kind':'task','role':'user','parts':[{'kind':'text','text':'a'}]}} | message.kind",
                "''          | message/send | {'message':{'role':'user'}}                                           |"
                        + " message.parts",
                "''          | message/send | {}                                                                    |"
                        + " message",
                "''          | message/send | {'message':'hi'}                                                      |"
                        + " message",
                "''          | tasks/get    | {}                                                                    |"
                        + " id",
                "''          | tasks/get    | {'id':7}                                                              |"
                        + " id",
                "''          | tasks/get    | {'id':'t','historyLength':'x'}                                         |"
                        + " historyLength",
                "''          | tasks/pushNotificationConfig/set | {'taskId':'t'}                                    |"
                        + " pushNotificationConfig",
                "''          | tasks/pushNotificationConfig/set | {'taskId':'t','pushNotificationConfig':{}}        |"
                        + " pushNotificationConfig.url",
                "''          | tasks/pushNotificationConfig/delete | {'id':'t'}                                     |"
                        + " pushNotificationConfigId",
                "''          | tasks/send   | {'id':'mine'}                                                         |"
                        + " message",
                "''          | tasks/send   |"
                        + " {'message':{'role':'user','parts':[{'type':'file','file':{'bytes':'AA==','uri':'x:y'}}]}} |"
                        + " message.parts[0].file",
                "''          | tasks/send   | {'message':{'role':'user','parts':[{'type':'data','text':'a'}]}}      |"
                        + " message.parts[0]",
                "''          | tasks/pushNotification/set | {'id':'mine'}                                           |"
                        + " pushNotificationConfig",
                "/kernel     | tasks/send   |"
                        + " {'message':{'role':'user','parts':[{'type':'file','file':{'bytes':'AA==','uri':'x:y'}}]}} |"
                        + " message.parts[0].file",
                "/kernel     | tasks/get    | {}                                                                    |"
                        + " id",
                "/kernel     | tasks/get    | {'id':'t','history_length':{}}                                        |"
                        + " history",
                "/kernel     | tasks/pushNotification/set | {'id':'mine'}                                           |"
                        + " push",
                "/agentvault | tasks/send   | {'message':{'role':'user','parts':[{'type':'text'}]}}                 |"
                        + " message.parts[0]",
                "/agentvault | tasks/send   | {'message':{'role':'user','parts':[{'type':'file','content':'x'}]}}   |"
                        + " message.parts[0]",
                "/agentvault | tasks/send   | {'message':{'role':'user','parts':[{'type':'song','content':'x'}]}}   |"
                        + " message.parts[0]",
                "/agentvault | tasks/send   | {'message':{'role':'user','parts':[{'text':'x'}]}}                    |"
                        + " message.parts[0].type",
                "/agentvault | tasks/send   | {'message':{'parts':[{'type':'text','content':'x'}]}}                 |"
                        + " message.role",
                "/agentvault | tasks/send   | {'message':{'role':'user','parts':[]}}                                |"
                        + " message.parts",
                "/agentvault | tasks/sendSubscribe | {}                                                             |"
                        + " id"
            })
    void badInputIsRefusedByField(String path, String method, String params, String field) {
        exchange.with("Content-Type", "application/json");

        var answer = whole(exchange.send("POST", path, bytes(envelope(method, params))));

        assertThat(answer.status()).isEqualTo(200);
        Tree error = Tree.of(answer).at("error");
        assertThat(error.at("code").value()).as(text(answer.body())).isEqualTo(-32602);
        assertThat(error.at("message").text()).contains(field);
        assertThat(exchange.endpoint.asked).isNull();
    }

    // ---- REST: path, version and body

    /** As {@link #outcome}, and for 0.3 in which of its two forms. */
    private String restOutcome(WireAnswer.Whole answer) {
        Tree body = Tree.of(answer);
        if (answer.status() != 200) {
            return Integer.toString(answer.status());
        }
        String dialect = requireNonNull(exchange.endpoint.context).dialect();
        boolean proto = body.value() instanceof Map<?, ?> && body.at("kind").isAbsent();
        return dialect + (dialect.equals("0.3") ? proto ? " P" : " K" : "");
    }

    @ParameterizedTest
    @CsvSource({
        "/message:send,      1.0, V1, 1.0",
        "/message:send,      '',  V1, 1.0",
        "/message:send,      '',  K,  0.3 K",
        "/message:send,      '',  P,  0.3 P",
        "/message:send,      0.3, K,  0.3 K",
        "/message:send,      0.3, P,  0.3 P",
        "/message:send,      0.2, P,  0.3 P",
        "/message:send,      0.1, K,  400",
        "/message:send,      2.0, V1, 400",
        "/message:send,      2.0, K,  400",
        "/message:send,      1.0, K,  400",
        "/v1/message:send,   '',  K,  0.3 K",
        "/v1/message:send,   '',  P,  0.3 P",
        "/v1/message:send,   0.3, K,  0.3 K",
        "/v1/message:send,   0.3, P,  0.3 P",
        "/v1/message:send,   0.2, K,  0.3 K",
        "/v1/message:send,   1.0, V1, 1.0",
        "/v1/message:send,   2.0, P,  400",
        "/acme/message:send, 1.0, V1, 1.0",
        "/acme/message:send, '',  V1, 1.0"
    })
    void pathVersionAndBodyDecideOverRest(String path, String version, String form, String expected) {
        exchange.with("Content-Type", "application/json");
        if (!version.isEmpty()) {
            exchange.with("A2A-Version", version);
        }
        String body = form.equals("K") ? KIND_SEND : form.equals("P") ? PROTO_SEND : V1_SEND;

        assertThat(restOutcome(exchange.rest("POST", path, json(body)))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "GET,    /tasks/t-9,                             1.0, 1.0",
        "GET,    /tasks/t-9,                             '',  1.0",
        "GET,    /tasks/t-9,                             0.3, 0.3 P",
        "GET,    /v1/tasks/t-9,                          '',  0.3 P",
        "GET,    /v1/tasks/t-9,                          0.3, 0.3 P",
        "GET,    /v1/tasks/t-9,                          1.0, 1.0",
        "GET,    /v1/tasks/t-9,                          3.0, 400",
        "GET,    /v1/tasks/t-9/pushNotificationConfigs,  '',  0.3 P",
        "GET,    /v1/tasks/t-9/pushNotificationConfigs/p, '', 0.3 P",
        "POST,   /v1/tasks/t-9:cancel,                   '',  0.3 P",
        "POST,   /tasks/t-9:cancel,                      '',  1.0",
        "GET,    /extendedAgentCard,                     1.0, 1.0",
        "GET,    /extendedAgentCard,                     '',  1.0",
        "GET,    /v1/card,                               '',  0.3 P",
        "GET,    /acme/tasks/t-9,                        1.0, 1.0",
        "GET,    /tasks/tasks,                           1.0, 1.0",
        "GET,    /v1/nothing,                            '',  404",
        "PUT,    /v1/tasks/t-9,                          '',  405"
    })
    void pathAndVersionDecideWhereThereIsNoBody(String verb, String path, String version, String expected) {
        if (!version.isEmpty()) {
            exchange.with("A2A-Version", version);
        }

        assertThat(restOutcome(exchange.rest(verb, path))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'message':{'messageId':'m','role':'ROLE_USER','content':[{'text':'hi'}]}}              | 0.3 P",
                "{'request':{'messageId':'m','role':'ROLE_USER','content':[{'text':'hi'}]}}              | 0.3 P",
                "{'message':{'kind':'message','role':'user','parts':[{'text':'hi'}]}}                    | 0.3 K",
                "{'message':{'role':'user','parts':[{'text':'hi'}]}}                                     | 0.3 K",
                "{'message':{'role':'ROLE_USER','parts':[{'kind':'text','text':'hi'}]}}                  | 0.3 K",
                "{'message':{'role':'ROLE_USER','parts':[{'type':'text','text':'hi'}]}}                  | 0.3 K",
                "{'message':{'role':'ROLE_USER','messageId':'m','parts':[{'text':'hi'}]}}                | 1.0",
                "{'message':{'role':'ROLE_USER','messageId':'m','parts':[{'text':'hi'}]},'configuration':{'returnImmediately':true}}"
                        + " | 1.0"
            })
    void theBodyAloneDecidesWhereNothingElseDoes(String body, String expected) {
        exchange.with("Content-Type", "application/json");

        assertThat(restOutcome(exchange.rest("POST", "/message:send", json(body))))
                .isEqualTo(expected);
    }

    @Test
    void aTaskMayBeCalledTasks() {
        exchange.with("A2A-Version", "1.0").rest("GET", "/tasks/tasks");

        assertThat(exchange.endpoint.asked).isEqualTo(new Operation.GetTask(null, "tasks", null));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'config':{'pushNotificationConfig':{'id':'p','url':'https://h.example'}}}                           "
                        + " | P",
                "{'parent':'tasks/t-9','configId':'p','config':{'name':'tasks/t-9/pushNotificationConfigs/p','pushNotificationConfig':{'url':'https://h.example'}}}"
                        + " | P",
                "{'name':'tasks/t-9/pushNotificationConfigs/p','pushNotificationConfig':{'url':'https://h.example'}}  "
                        + " | P",
                "{'taskId':'t-9','pushNotificationConfig':{'id':'p','url':'https://h.example'}}                       "
                        + " | K"
            })
    void aWebhookOverRestMayBeAskedForInManyForms(String body, String form) {
        exchange.with("Content-Type", "application/json");

        var answer = Tree.of(exchange.rest("POST", "/v1/tasks/t-9/pushNotificationConfigs", json(body)));

        assertThat(exchange.endpoint.asked).isInstanceOfSatisfying(Operation.CreatePushConfig.class, create -> {
            assertThat(create.config().taskId()).isEqualTo("t-9");
            assertThat(create.config().id()).isEqualTo("p");
            assertThat(create.config().url()).isEqualTo("https://h.example");
        });
        assertThat(answer.at(form.equals("P") ? "name" : "taskId").text())
                .isEqualTo(form.equals("P") ? "tasks/t-9/pushNotificationConfigs/p" : "t-9");
    }

    @Test
    void extensionsHaveTheirOldHeaderInOlderVersions() {
        String known = "https://example.com/ext/v1";

        var old = whole(
                exchange.with("X-A2A-Extensions", known + ",urn:unknown").rpc(envelope("message/send", KIND_SEND)));
        var now = whole(exchange.rpc(envelope("SendMessage", V1_SEND)));

        assertThat(old.headers()).containsEntry("X-A2A-Extensions", known);
        assertThat(now.headers()).containsEntry("A2A-Extensions", known);
    }

    // ---- Errors

    static Stream<Arguments> errorsAndDialects() {
        return Stream.of(A2AError.values())
                .flatMap(error ->
                        Stream.of("0.3", "0.1", "kernel", "agentvault").map(dialect -> Arguments.of(error, dialect)));
    }

    private static int expectedCode(A2AError error, String dialect) {
        boolean first = dialect.equals("0.1") || dialect.equals("kernel");
        return switch (error) {
            case EXTENSION_SUPPORT_REQUIRED -> dialect.equals("agentvault") ? -32008 : -32600;
            case VERSION_NOT_SUPPORTED -> first ? -32600 : -32009;
            case INVALID_AGENT_RESPONSE -> dialect.equals("agentvault") ? -32000 : first ? -32603 : -32006;
            case EXTENDED_AGENT_CARD_NOT_CONFIGURED -> first ? -32004 : -32007;
            case UNAVAILABLE, RATE_LIMITED, QUOTA_EXCEEDED, UNAUTHENTICATED, PERMISSION_DENIED ->
                dialect.equals("agentvault") ? -32000 : error.code();
            default -> error.code();
        };
    }

    @ParameterizedTest
    @MethodSource("errorsAndDialects")
    void everyErrorHasTheCodeThatClientsOfTheDialectKnow(A2AError error, String dialect) {
        exchange.endpoint.failing(A2AException.of(error, "because"));
        exchange.with("Content-Type", "application/json");
        String path = dialect.startsWith("0") ? "" : "/" + dialect;
        String body = switch (dialect) {
            case "0.3" -> envelope("message/send", KIND_SEND);
            case "agentvault" -> envelope("tasks/send", VAULT_SEND);
            default -> envelope("tasks/send", TYPE_SEND);
        };

        // A task that cannot be canceled is not an error over AgentVault, and a message is never refused so.
        if (dialect.equals("agentvault") && error == A2AError.TASK_NOT_CANCELABLE) {
            assertThat(Tree.of(whole(exchange.send("POST", path, bytes(body))))
                            .at("result", "success")
                            .value())
                    .isEqualTo(false);
            return;
        }
        var answer = whole(exchange.send("POST", path, bytes(body)));

        Tree shown = Tree.of(answer).at("error");
        assertThat(shown.at("code").value()).isEqualTo(expectedCode(error, dialect));
        assertThat(shown.at("message").text()).isEqualTo("because");
        Tree data = dialect.equals("agentvault") ? shown.at("data") : shown.at("data", "details");
        assertThat(data.at(0, "reason").text()).isEqualTo(error.name());
        assertThat(answer.status()).isEqualTo(Problem.HTTP_ERRORS.contains(error) ? error.httpStatus() : 200);
    }

    @ParameterizedTest
    @EnumSource(A2AError.class)
    void overRestEveryErrorHasItsNameCodeAndStatus(A2AError error) {
        exchange.endpoint.failing(A2AException.of(error, "because"));
        int status = switch (error) {
            case INVALID_REQUEST, PARSE_ERROR, EXTENSION_SUPPORT_REQUIRED, VERSION_NOT_SUPPORTED -> 400;
            case INVALID_PARAMS -> 422;
            case TASK_NOT_FOUND, METHOD_NOT_FOUND, EXTENDED_AGENT_CARD_NOT_CONFIGURED -> 404;
            case TASK_NOT_CANCELABLE -> 409;
            case CONTENT_TYPE_NOT_SUPPORTED -> 415;
            case PUSH_NOTIFICATION_NOT_SUPPORTED, UNSUPPORTED_OPERATION -> 501;
            case INVALID_AGENT_RESPONSE -> 502;
            case INTERNAL -> 500;
            default -> error.httpStatus();
        };

        var answer = exchange.rest("GET", "/v1/tasks/t-9");

        Tree body = Tree.of(answer);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(body.at("error").text()).endsWith("Error").doesNotContain("_");
        assertThat(body.at("code").value()).isEqualTo(expectedCode(error, "0.3"));
        assertThat(body.at("message").text()).isEqualTo("because");
    }

    @Test
    void errorsHaveTheirNamesOverRest() {
        exchange.endpoint.failing(A2AException.taskNotFound("t-9"));

        assertThat(Tree.of(exchange.rest("GET", "/v1/tasks/t-9")).at("error").text())
                .isEqualTo("io.a2a.spec.TaskNotFoundError");
    }

    @ParameterizedTest
    @CsvSource({"'', message/send", "'', tasks/send", "/kernel, tasks/send", "/agentvault, tasks/send"})
    void whatFailsInsideIsNotTold(String path, String method) {
        exchange.endpoint.failing(new IllegalStateException("a secret"));
        exchange.with("Content-Type", "application/json");
        String params = path.equals("/agentvault") ? VAULT_SEND : method.equals("tasks/send") ? TYPE_SEND : KIND_SEND;

        var answer = whole(exchange.send("POST", path, bytes(envelope(method, params))));

        assertThat(Tree.of(answer).at("error", "code").value()).isEqualTo(-32603);
        assertThat(text(answer.body())).doesNotContain("secret", "IllegalState");
    }

    @ParameterizedTest
    @ValueSource(strings = {"/kernel/x", "/kernel/tasks/t-9", "/agentvault/x", "/agentvault/message:send"})
    void belowTheEndpointsOfOtherProfilesIsNothing(String path) {
        exchange.with("Content-Type", "application/json");

        assertThat(outcome(exchange.send("POST", path, bytes("{}")))).isEqualTo("-32601");
    }

    @Test
    void anAgentIsServedInThoseDialectsOnlyThatItSpeaks() {
        var plain = new Exchange();
        plain.endpoint.answering(TASK);
        plain.with("Content-Type", "application/json");

        assertThat(whole(plain.send("POST", "/kernel", bytes(envelope("tasks/get", "{'id':'t'}"))))
                        .status())
                .isEqualTo(404);
        assertThat(plain.endpoint.asked).isNull();
    }

    // ---- What each dialect makes of a task

    @Test
    void anAnswerThatIsAMessageIsATaskForClientsOfTheFirstVersion() {
        exchange.rpc(envelope("tasks/send", TYPE_SEND));

        assertThat(requireNonNull(exchange.endpoint.context).knowsOnlyTasks()).isTrue();
    }

    @Test
    void aStreamOf03TellsThatItEnds() throws InterruptedException {
        exchange.endpoint.events = List.of(
                new LoggedEvent(1, TASK),
                new LoggedEvent(2, Message.user(Part.text("received, not shown"))),
                new LoggedEvent(3, update(TaskState.INPUT_REQUIRED)),
                new LoggedEvent(4, update(TaskState.COMPLETED)));

        String frames = frames(exchange.rpc(envelope("message/stream", KIND_SEND)));

        assertThat(frames).isEqualTo("""
            id: 1
            data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t-9","contextId":"c-4","status":{"state":"working","timestamp":"1970-01-01T00:00:00.000Z"}}}

            id: 3
            data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t-9","contextId":"c-4","status":{"state":"input-required","timestamp":"1970-01-01T00:00:00.000Z"},"final":true}}

            """);
    }

    @Test
    void aStreamThatBeginsWithAnEndedTaskTellsThatNothingMoreComes() throws InterruptedException {
        exchange.endpoint.events = List.of(new LoggedEvent(
                1,
                new Task(
                        "t-9",
                        "c-4",
                        TaskStatus.of(TaskState.COMPLETED, Instant.EPOCH),
                        List.of(),
                        List.of(),
                        Map.of())));

        String frames = frames(exchange.rpc(envelope("message/stream", KIND_SEND)));

        assertThat(frames).contains("\"kind\":\"task\"").contains("\"final\":true");
        assertThat(frames.split("id: 1\n", -1))
                .as("only the last frame is numbered")
                .hasSize(2);
    }

    private static TaskStatusUpdateEvent update(TaskState state) {
        return new TaskStatusUpdateEvent("t-9", "c-4", TaskStatus.of(state, Instant.EPOCH), Map.of());
    }
}
