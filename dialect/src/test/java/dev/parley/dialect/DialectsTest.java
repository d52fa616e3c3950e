package dev.parley.dialect;

import static dev.parley.dialect.Exchange.frames;
import static dev.parley.dialect.Exchange.whole;
import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.text;
import static dev.parley.dialect.Wire.tree;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DialectsTest {
    private static final String SEND =
            "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hi\"}]}}";
    private static final Task TASK = task(TaskState.WORKING);

    private static Task task(TaskState state) {
        return new Task("t-9", "c-4", TaskStatus.of(state, Instant.EPOCH), List.of(), List.of(), Map.of());
    }

    private static TaskStatusUpdateEvent update(TaskState state) {
        return new TaskStatusUpdateEvent("t-9", "c-4", TaskStatus.of(state, Instant.EPOCH), Map.of());
    }

    private final Exchange exchange = new Exchange();

    // --- JSON-RPC ---

    @Test
    void aSendOverJsonRpcIsAnsweredWithItsId() {
        exchange.endpoint.answering(TASK);

        var answer = whole(
                exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":\"r1\",\"method\":\"SendMessage\",\"params\":" + SEND + "}"));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.headers()).containsExactly(Map.entry("Content-Type", "application/json"));
        assertThat(text(answer.body()))
                .isEqualTo(
                        "{\"jsonrpc\":\"2.0\",\"id\":\"r1\",\"result\":{\"task\":{\"id\":\"t-9\",\"contextId\":\"c-4\","
                                + "\"status\":{\"state\":\"TASK_STATE_WORKING\",\"timestamp\":\"1970-01-01T00:00:00.000Z\"}}}}");
        assertThat(exchange.endpoint.asked)
                .isInstanceOfSatisfying(
                        Operation.SendMessage.class,
                        send -> assertThat(send.message().text()).isEqualTo("hi"));
    }

    @Test
    void aTaskIsAnsweredBare() {
        exchange.endpoint.answering(TASK);

        assertThat(exchange.rpc("GetTask", "{\"id\":\"t-9\"}")
                        .at("result", "id")
                        .text())
                .isEqualTo("t-9");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "     | GetTask                           | {'id':'LONG'}",
                "     | CancelTask                        | {'id':'LONG'}",
                "     | SubscribeToTask                   | {'id':'LONG'}",
                "     | ListTasks                         | {'contextId':'LONG'}",
                "     | ListTasks                         | {'tenant':'LONG'}",
                "     | CreateTaskPushNotificationConfig  | {'taskId':'t-9','id':'LONG','url':'https://hook'}",
                "     | DeleteTaskPushNotificationConfig  | {'taskId':'t-9','id':'LONG'}",
                "     | tasks/get                         | {'id':'LONG'}",
                "     | tasks/resubscribe                 | {'id':'LONG'}",
                "     | tasks/pushNotificationConfig/set  |"
                        + " {'taskId':'t-9','pushNotificationConfig':{'id':'LONG','url':'https://hook'}}",
                "     | tasks/pushNotification/set        |"
                        + " {'id':'LONG','pushNotificationConfig':{'url':'https://hook'}}",
                "/kernel     | tasks/get                   | {'id':'LONG'}",
                "/agentvault | tasks/get                   | {'id':'LONG'}",
            })
    void whatIsTooLongToBeAnIdReachesNoAgentAndIsNotRepeated(String path, String method, String params) {
        String body = ("{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}")
                .replace('\'', '"')
                .replace("LONG", "x".repeat(5000));

        var answer = whole(exchange.inEveryDialect()
                .with("Content-Type", "application/json")
                .send("POST", path == null ? "" : path, bytes(body)));

        assertThat(exchange.endpoint.asked).isNull();
        assertThat(text(answer.body()))
                .contains("-32602")
                .contains("5000 characters")
                .hasSizeLessThan(1000);
    }

    @Test
    void anErrorIsNotAsLongAsTheRequest() {
        String smile = "\uD83D\uDE00";
        var answer = exchange.rpc("GetTask", "{\"id\":\"t\",\"historyLength\":{\"" + smile.repeat(5000) + "\":1}}");
        var unknown = exchange.rpc("x" + smile.repeat(5000), "{}");

        assertThat(answer.at("error", "message").text()).hasSizeLessThan(1100);
        assertThat(unknown.at("error", "message").text()).hasSizeLessThan(1100);
    }

    @Test
    void theMembersOfARequestMayComeInAnyOrder() {
        exchange.endpoint.answering(TASK);

        var answer = Tree.of(
                whole(
                        exchange.rpc(
                                "{\"params\":{\"unknown\":[{}],\"id\":\"t-9\"},\"id\":7,\"x\":{\"y\":[]},\"method\":\"GetTask\",\"jsonrpc\":\"2.0\"}")));

        assertThat(answer.at("id").text()).isEqualTo("7");
        assertThat(answer.at("result", "id").text()).isEqualTo("t-9");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "-1", "1.5", "12345678901234567890", "\"\"", "\"a\\u0041\\\"\"", "\"é😀\"", "1e3"})
    void theIdIsRepeatedExactly(String id) {
        exchange.endpoint.answering(TASK);

        var answer = whole(exchange.rpc(
                "{\"jsonrpc\":\"2.0\", \"id\" : " + id + " ,\"method\":\"GetTask\",\"params\":{\"id\":\"t\"}}"));

        assertThat(text(answer.body())).startsWith("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":");
    }

    @Test
    void parametersMayBeMissingWhereNoneAreNeeded() {
        exchange.endpoint.answering(card());

        for (String params : List.of("", ",\"params\":null", ",\"params\":{}")) {
            var answer = Tree.of(whole(
                    exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetExtendedAgentCard\"" + params + "}")));

            assertThat(answer.at("result", "name").text()).isEqualTo("analyst");
        }
    }

    @Test
    void aDeletedWebhookIsAnsweredWithAnEmptyObject() {
        exchange.endpoint.answering(new Operation.Empty());

        var answer = exchange.rpc("DeleteTaskPushNotificationConfig", "{\"taskId\":\"t\",\"id\":\"p\"}");

        assertThat(answer.at("result").value()).isEqualTo(Map.of());
    }

    @Test
    void aStreamOverJsonRpcFramesEachEventAsAResponse() throws InterruptedException {
        exchange.endpoint.events = List.of(
                new LoggedEvent(1, TASK),
                new LoggedEvent(2, Message.user(Part.text("received, not shown"))),
                new LoggedEvent(3, update(TaskState.COMPLETED)));

        WireAnswer answer = exchange.rpc(
                "{\"jsonrpc\":\"2.0\",\"id\":\"r2\",\"method\":\"SendStreamingMessage\",\"params\":" + SEND + "}");

        assertThat(answer.headers())
                .containsEntry("Content-Type", "text/event-stream")
                .containsEntry("Cache-Control", "no-store");
        assertThat(frames(answer)).isEqualTo("""
            id: 1
            data: {"jsonrpc":"2.0","id":"r2","result":{"task":{"id":"t-9","contextId":"c-4","status":{"state":"TASK_STATE_WORKING","timestamp":"1970-01-01T00:00:00.000Z"}}}}

            id: 3
            data: {"jsonrpc":"2.0","id":"r2","result":{"statusUpdate":{"taskId":"t-9","contextId":"c-4","status":{"state":"TASK_STATE_COMPLETED","timestamp":"1970-01-01T00:00:00.000Z"}}}}

            """);
    }

    @Test
    void aBrokenStreamEndsWithAnErrorFrame() {
        exchange.endpoint.events = List.of(new LoggedEvent(1, TASK));
        var problem = A2AException.of(A2AError.INTERNAL, "gone");

        var rpc = (WireAnswer.Events) exchange.rpc(
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"SubscribeToTask\",\"params\":{\"id\":\"t-9\"}}");
        var rest = (WireAnswer.Events) exchange.send("POST", "/tasks/t-9:subscribe", bytes(""));

        assertThat(text(rpc.failure().apply(problem)))
                .startsWith("data: {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,\"message\":\"gone\"")
                .endsWith("}\n\n");
        assertThat(text(rest.failure().apply(problem)))
                .startsWith("data: {\"error\":{\"code\":500,\"status\":\"INTERNAL\",\"message\":\"gone\"")
                .endsWith("}\n\n");
    }

    @Test
    void aRefusedStreamIsAnOrdinaryError() {
        exchange.endpoint.failing(A2AException.of(A2AError.UNSUPPORTED_OPERATION));

        assertThat(exchange.rpc("SubscribeToTask", "{\"id\":\"t\"}")
                        .at("error", "code")
                        .text())
                .isEqualTo("-32004");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                                                               | -32700",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask'                       | -32700",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':{'id':NaN}}  | -32700",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':{'id':'t',}} | -32700",
                "{'jsonrpc':'2.0','id':1,'method':'Nope','params':{'id':'t','id':'t'}} | -32700",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':{'x':{'a':1,'a':1}}} | -32700",
                "{'jsonrpc':'2.0','id':1,'id':2,'method':'GetTask'}               | -32700",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask'} []                   | -32700",
                "[{'jsonrpc':'2.0','id':1,'method':'GetTask'}]                    | -32600",
                "[]                                                               | -32600",
                "7                                                                | -32600",
                "null                                                             | -32600",
                "true                                                             | -32600",
                "{}                                                               | -32600",
                "{'jsonrpc':'2.0','method':'GetTask'}                             | -32600",
                "{'jsonrpc':'2.0','id':null,'method':'GetTask'}                   | -32600",
                "{'jsonrpc':'2.0','id':{},'method':'GetTask'}                     | -32600",
                "{'jsonrpc':'2.0','id':[1],'method':'GetTask'}                    | -32600",
                "{'jsonrpc':'2.0','id':true,'method':'GetTask'}                   | -32600",
                "{'jsonrpc':'2.0','id':1e999,'method':'GetTask'}                  | -32600",
                "{'jsonrpc':'1.0','id':1,'method':'GetTask'}                      | -32600",
                "{'id':1,'method':'GetTask'}                                      | -32600",
                "{'jsonrpc':2.0,'id':1,'method':'GetTask'}                        | -32600",
                "{'jsonrpc':'2.0','id':1}                                         | -32600",
                "{'jsonrpc':'2.0','id':1,'method':7}                              | -32600",
                "{'jsonrpc':'2.0','id':1,'method':'GetTasks'}                     | -32601",
                "{'jsonrpc':'2.0','id':1,'method':'getTask'}                      | -32601",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':['t']}       | -32602",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':'t'}         | -32602",
                "{'jsonrpc':'2.0','id':1,'method':'GetTask'}                      | -32602"
            })
    void whatIsNoRequestHasItsCode(String body, int code) {
        var answer = whole(exchange.rpc(body.replace('\'', '"')));

        assertThat(answer.status()).isEqualTo(200);
        assertThat(Tree.of(answer).at("error", "code").value()).isEqualTo(code);
        assertThat(text(answer.body())).contains(code <= -32601 && code > -32700 ? "\"id\":1," : "\"id\":");
        assertThat(exchange.endpoint.asked).isNull();
    }

    @Test
    void anErrorBeforeTheIdIsKnownHasIdNull() {
        for (String body : List.of("{", "[]", "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"GetTask\"}")) {
            assertThat(text(whole(exchange.rpc(body)).body()))
                    .startsWith("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":");
        }
    }

    @Test
    void anIdMayBeLongButNotHuge() {
        exchange.endpoint.answering(TASK);

        for (int length : new int[] {254, 255, 100_000}) {
            var answer = Tree.of(whole(exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":\"" + "x".repeat(length)
                    + "\",\"method\":\"GetTask\",\"params\":{\"id\":\"t\"}}")));

            assertThat(answer.at("error").isAbsent()).isEqualTo(length == 254);
        }
    }

    @Test
    void aRequestMayBeNested64LevelsDeep() {
        exchange.endpoint.answering(TASK);

        for (int depth : new int[] {64, 65, 200_000}) {
            int arrays = depth - 5; // beside the envelope, params, message, parts and the part
            var answer = exchange.rpc(
                    "SendMessage",
                    SEND.replace("\"text\":\"hi\"", "\"data\":" + "[".repeat(arrays) + "]".repeat(arrays)));

            assertThat(answer.at("error", "code").text()).isEqualTo(depth == 64 ? "null" : "-32700");
        }
    }

    @Test
    void aMillionKeysAreRefusedWithoutReadingThem() {
        var keys = new StringBuilder("{");
        for (int i = 0; i < 1_000_000; i++) {
            keys.append("\"k").append(i).append("\":1,");
        }
        String params = SEND.replace("}]}}", "}],\"metadata\":" + keys + "\"z\":1}}}");

        var answer = exchange.rpc("SendMessage", params);

        assertThat(answer.at("error", "code").text()).isEqualTo("-32700");
        assertThat(answer.at("error", "message").text()).contains("1000000 tokens");
    }

    @Test
    void invalidUtf8IsAParseError() {
        byte[] body = bytes("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"??\"}}");
        body[body.length - 4] = (byte) 0xC0;
        body[body.length - 5] = (byte) 0xAF;

        var answer = whole(exchange.send("POST", "/", body));

        assertThat(Tree.of(answer).at("error", "code").text()).isEqualTo("-32700");
    }

    @Test
    void jsonRpcIsPosted() {
        var answer = exchange.rest("GET", "/");

        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.headers()).containsEntry("Allow", "POST");
    }

    // --- versions ---

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "GetTask      | 1.0        | -",
                "GetTask      | 1.0.1      | -",
                "GetTask      | ' 1.0 '    | -",
                "GetTask      | '9.9, 1.0' | -",
                "GetTask      | -          | -",
                "GetTask      | ''         | -",
                "GetTask      | 0.3        | -32601",
                "GetTask      | 0.2.6      | -32601",
                "GetTask      | 0.1        | -32601",
                "GetTask      | 2.0        | -32009",
                "GetTask      | 1.1        | -32009",
                "GetTask      | 0.5        | -32009",
                "GetTask      | 1          | -32009",
                "GetTask      | 1.0.0.0    | -32009",
                "GetTask      | nonsense   | -32009",
                "Nope         | 2.0        | -32009",
                "Nope         | 1.0        | -32601",
                "Nope         | -          | -32601",
                "message/send | 1.0        | -32601",
                "message/send | -          | -32009",
                "message/send | 0.3        | -32009",
                "tasks/get    | 0.1        | -32009"
            })
    void theVersionDecidesBeforeTheMethodIsCalled(String method, String version, String code) {
        exchange.endpoint.answering(TASK);
        if (version != null) {
            exchange.with("A2A-Version", version);
        }

        var answer = exchange.rpc(method, "{\"id\":\"t\"}");

        assertThat(answer.at("error", "code").text()).isEqualTo(String.valueOf(code));
        if ("-32009".equals(code)) {
            assertThat(answer.at("error", "data", 0, "metadata", "supportedVersions")
                            .text())
                    .isEqualTo("1.0");
        }
    }

    @Test
    void everyOperationChecksTheVersion() {
        exchange.with("A2A-Version", "99.0");

        for (WireOperation operation : V1Operations.TABLE.all()) {
            assertThat(exchange.rpc(operation.method(), "{}")
                            .at("error", "code")
                            .text())
                    .isEqualTo("-32009");

            String path = requireNonNull(operation.path()).fill(name -> "x");
            for (String verb : operation.verbs()) {
                var answer = exchange.rest(verb, path, "{}");
                assertThat(answer.status()).isEqualTo(400);
                assertThat(Tree.of(answer).at("error", "details", 0, "reason").text())
                        .isEqualTo("VERSION_NOT_SUPPORTED");
            }
        }
        assertThat(exchange.endpoint.asked).isNull();
    }

    @Test
    void theVersionMayStandInTheQueryAndTheHeaderWins() {
        exchange.endpoint.answering(TASK);

        assertThat(exchange.rest("GET", "/tasks/t-9?A2A-Version=1.0").status()).isEqualTo(200);
        assertThat(exchange.rest("GET", "/tasks/t-9?a2a-version=2.0").status()).isEqualTo(400);
        exchange.with("A2A-Version", "1.0");
        assertThat(exchange.rest("GET", "/tasks/t-9?A2A-Version=2.0").status()).isEqualTo(200);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-, /tasks/t, 200",
                "1.0, /tasks/t, 200",
                "0.3, /tasks/t, 400",
                "-, /v1/tasks/t, 400",
                "1.0, /v1/tasks/t, 200"
            })
    void restPathsOfOlderVersionsAreNotServed(String version, String path, int status) {
        exchange.endpoint.answering(TASK);
        if (version != null) {
            exchange.with("A2A-Version", version);
        }

        assertThat(exchange.rest("GET", path).status()).isEqualTo(status);
    }

    @Test
    void theVersionMayBeDemanded() {
        exchange.endpoint.answering(TASK);
        exchange.with(DialectSettings.of(Switch.STRICT_VERSION_HEADER));

        assertThat(exchange.rpc("GetTask", "{\"id\":\"t\"}").at("error", "code").text())
                .isEqualTo("-32009");
        assertThat(exchange.rest("GET", "/tasks/t").status()).isEqualTo(400);
        exchange.with("A2A-Version", "1.0");
        assertThat(exchange.rpc("GetTask", "{\"id\":\"t\"}").at("error").isAbsent())
                .isTrue();
    }

    // --- REST ---

    @Test
    void aListOverRestReadsItsQuery() {
        exchange.endpoint.answering(new Operation.TaskPage(List.of(), "", 50, 0, true));

        var answer = exchange.rest(
                "GET",
                "/acme/tasks?contextId=c%204&status=TASK_STATE_WORKING&pageSize=10&pageToken=a%2Bb&historyLength=0"
                        + "&statusTimestampAfter=2026-01-05T09:00:00Z&includeArtifacts=true&unknown=1&status_x=");

        assertThat(exchange.endpoint.asked)
                .isEqualTo(new Operation.ListTasks(
                        "acme", "c 4", TaskState.WORKING, 10, "a+b", 0, Instant.parse("2026-01-05T09:00:00Z"), true));
        assertThat(tree(answer.body()))
                .isEqualTo(tree("{\"tasks\":[],\"nextPageToken\":\"\",\"pageSize\":50,\"totalSize\":0}"));
    }

    @ParameterizedTest
    @CsvSource({
        "pageSize=ten,                 pageSize",
        "pageSize=0,                   pageSize",
        "pageSize=101,                 pageSize",
        "pageSize=1&pageSize=2,        pageSize",
        "status=working,               status",
        "historyLength=-1,             historyLength",
        "includeArtifacts=1,           includeArtifacts",
        "statusTimestampAfter=today,   statusTimestampAfter"
    })
    void aWrongQueryParameterIsNamed(String query, String field) {
        var answer = exchange.rest("GET", "/tasks?" + query);

        assertThat(answer.status()).isEqualTo(400);
        assertThat(Tree.of(answer)
                        .at("error", "details", 1, "fieldViolations", 0, "field")
                        .text())
                .isEqualTo(field);
    }

    @Test
    void emptyQueryParametersAreAbsent() {
        exchange.endpoint.answering(new Operation.TaskPage(List.of(), "", 50, 0, false));

        exchange.rest("GET", "/tasks?pageToken=&status=&pageSize=");

        assertThat(exchange.endpoint.asked).isEqualTo(Operation.ListTasks.all());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " \n", "null", "{}", "{\"id\":\"t-9\"}", "{\"metadata\":{}}"})
    void aCancelMayHaveAnyEmptyBody(String body) {
        exchange.endpoint.answering(TASK);

        var answer = exchange.with("Content-Type", "application/json").rest("POST", "/tasks/t-9:cancel", body);

        assertThat(answer.status()).isEqualTo(200);
        assertThat(exchange.endpoint.asked).isEqualTo(Operation.CancelTask.of("t-9"));
    }

    @Test
    void theBodyMustNotContradictThePath() {
        var tenant = exchange.rest("POST", "/acme/message:send", SEND.replaceFirst("\\{", "{\"tenant\":\"other\","));
        var id = exchange.rest("POST", "/tasks/t-9:cancel", "{\"id\":\"t-8\"}");

        assertThat(Tree.of(tenant).at("error", "message").text())
                .isEqualTo("Invalid parameters: tenant: other (expected: acme, as in the path)");
        assertThat(Tree.of(id).at("error", "message").text())
                .isEqualTo("Invalid parameters: id: t-8 (expected: t-9, as in the path)");
    }

    @Test
    void aWebhookIsCreatedForTheTaskInThePath() {
        exchange.endpoint.answers = call -> ((Operation.CreatePushConfig) call).config();

        var answer =
                exchange.rest("POST", "/acme/tasks/t-9/pushNotificationConfigs", "{\"url\":\"https://h.example\"}");

        assertThat(tree(answer.body()))
                .isEqualTo(tree("{\"tenant\":\"acme\",\"taskId\":\"t-9\",\"url\":\"https://h.example\"}"));
        assertThat(requireNonNull(exchange.endpoint.asked).tenant()).isEqualTo("acme");
    }

    @Test
    void aStreamOverRestCarriesBareEvents() throws InterruptedException {
        exchange.endpoint.events = List.of(new LoggedEvent(
                0,
                new Message(
                        "m",
                        dev.parley.protocol.Role.AGENT,
                        List.of(Part.text("pong")),
                        null,
                        null,
                        Map.of(),
                        List.of(),
                        List.of())));

        WireAnswer answer = exchange.send("POST", "/message:stream", bytes(SEND));

        assertThat(frames(answer))
                .isEqualTo(
                        "data:"
                                + " {\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"pong\"}]}}\n\n");
    }

    @Test
    void everyReaderOfAnEventGetsTheSameBytes() throws InterruptedException {
        var event = new LoggedEvent(4, update(TaskState.WORKING));
        exchange.endpoint.events = List.of(event);
        var first = exchange.send("GET", "/tasks/t-9:subscribe", bytes(""));

        frames(first);

        assertThat(event.encoded(again -> {
                    throw new AssertionError("encoded twice");
                }))
                .isEqualTo(Json.writeEvent(event.event()));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"7, 7", "' 7 ', 7", "0, 0", "-1, -", "abc, -", "-, -"})
    void aSubscriptionResumesBehindTheLastEventSeen(String header, Long after) {
        exchange.endpoint.events = List.of(new LoggedEvent(8, TASK));
        if (header != null) {
            exchange.with("Last-Event-ID", header);
        }

        exchange.send("GET", "/tasks/t-9:subscribe", bytes(""));
        var rest = exchange.endpoint.asked;
        exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"SubscribeToTask\",\"params\":{\"id\":\"t-9\"}}");

        assertThat(rest).isEqualTo(new Operation.SubscribeToTask(null, "t-9", after));
        assertThat(exchange.endpoint.asked).isEqualTo(rest);
    }

    // --- media types ---

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-,                                          -,                                application/a2a+json",
                "*/*,                                        -,                                application/a2a+json",
                "*/*,                                        application/json,                 application/json",
                "-,                                          application/json; charset=utf-8,  application/json",
                "-,                                          application/a2a+json,             application/a2a+json",
                "application/json,                           application/a2a+json,             application/json",
                "application/a2a+json,                       application/json,                 application/a2a+json",
                "'application/json, application/a2a+json',   -,                                application/a2a+json",
                "text/event-stream,                          application/json,                 application/json",
                "text/event-stream,                          -,                                application/json",
                "text/event-stream,                          application/a2a+json,             application/a2a+json",
                "'text/event-stream, application/a2a+json',  -,                                application/a2a+json",
                "text/html,                                  -,                                application/a2a+json"
            })
    void restAnswersInTheTypeThatTheCallerKnows(String accept, String contentType, String answered) {
        exchange.endpoint.answering(TASK);
        if (accept != null) {
            exchange.with("Accept", accept);
        }
        if (contentType != null) {
            exchange.with("Content-Type", contentType);
        }

        assertThat(exchange.rest("POST", "/message:send", SEND).headers()).containsEntry("Content-Type", answered);
        assertThat(exchange.rest("GET", "/nothing").headers()).containsEntry("Content-Type", answered);
    }

    @Test
    void release100AnswersInPlainJsonUnlessAskedOtherwise() {
        exchange.endpoint.answering(TASK);
        exchange.with(DialectSettings.of(Switch.STATUSES_OF_100));

        assertThat(exchange.rest("GET", "/tasks/t-9").headers()).containsEntry("Content-Type", "application/json");

        exchange.with("Accept", "application/a2a+json");
        assertThat(exchange.rest("GET", "/tasks/t-9").headers()).containsEntry("Content-Type", "application/a2a+json");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text/plain",
                "application/x-www-form-urlencoded",
                "application/json; charset=utf-16",
                "application/xml",
                "json"
            })
    void aWrongContentTypeIs415InBothBindings(String contentType) {
        exchange.with("Content-Type", contentType);

        var rest = exchange.rest("POST", "/message:send", SEND);
        var rpc = whole(
                exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":" + SEND + "}"));

        assertThat(rest.status()).isEqualTo(415);
        assertThat(Tree.of(rest).at("error", "code").text()).isEqualTo("415");
        assertThat(Tree.of(rest).at("error", "details", 0, "reason").text()).isEqualTo("CONTENT_TYPE_NOT_SUPPORTED");
        assertThat(rpc.status()).isEqualTo(415);
        assertThat(Tree.of(rpc).at("error", "code").text()).isEqualTo("-32005");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json",
                "application/a2a+json",
                "Application/JSON;charset=UTF-8",
                "application/json; charset=\"utf-8\""
            })
    void jsonHasManySpellings(String contentType) {
        exchange.endpoint.answering(TASK);

        assertThat(exchange.with("Content-Type", contentType)
                        .rest("POST", "/message:send", SEND)
                        .status())
                .isEqualTo(200);
    }

    // --- errors ---

    @ParameterizedTest
    @EnumSource(A2AError.class)
    void everyErrorHasItsCodeAndStatusInBothBindings(A2AError error) {
        exchange.endpoint.failing(A2AException.of(error, "said", Map.of("taskId", "t-404")));

        var rpc =
                whole(exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"t\"}}"));
        var rest = exchange.rest("GET", "/tasks/t");
        var of100 = exchange.with(DialectSettings.of(Switch.STATUSES_OF_100)).rest("GET", "/tasks/t");

        String details = "[{\"@type\":\"type.googleapis.com/google.rpc.ErrorInfo\",\"reason\":\"" + error.name()
                + "\",\"domain\":\"a2a-protocol.org\",\"metadata\":{\"taskId\":\"t-404\"}}]";
        assertThat(tree(rpc.body()))
                .isEqualTo(tree("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":" + error.code()
                        + ",\"message\":\"said\",\"data\":" + details + "}}"));
        assertThat(rest.status()).isEqualTo(error.httpStatus());
        assertThat(tree(rest.body()))
                .isEqualTo(tree("{\"error\":{\"code\":" + error.httpStatus() + ",\"status\":\"" + error.grpcStatus()
                        + "\",\"message\":\"said\",\"details\":" + details + "}}"));
        assertThat(of100.status()).isEqualTo(error.httpStatusOf100());
        assertThat(rpc.status()).isIn(200, 401, 403, 405, 413, 429, 503, 507);
    }

    @Test
    void anOverloadedAgentSaysWhenToComeBack() {
        exchange.endpoint.failing(A2AException.unavailable("Too busy", Duration.ofMillis(1500)));

        for (var answer : List.of(
                exchange.rest("GET", "/tasks/t"),
                whole(exchange.rpc(
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"t\"}}")))) {
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.headers()).containsEntry("Retry-After", "2");
            assertThat(text(answer.body())).contains("\"retryDelay\":\"1.5s\"");
        }
    }

    @Test
    void wrongParametersAreListed() {
        var answer = exchange.rpc("SendMessage", "{\"message\":{\"parts\":[]}}");

        assertThat(answer.at("error", "data", 1))
                .isEqualTo(Tree.of(
                        "{\"@type\":\"type.googleapis.com/google.rpc.BadRequest\",\"fieldViolations\":[{\"field\":\"message.messageId\",\"description\":\"missing"
                                + " (expected: a string)\"},{\"field\":\"message.role\",\"description\":\"missing"
                                + " (expected: ROLE_USER, ROLE_AGENT)\"}]}"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatFailsInsideIsNotTold(boolean rpc) {
        exchange.endpoint.failing(new IllegalStateException("jdbc:secret:/home/parley"));

        var answer = rpc
                ? whole(exchange.rpc("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"GetTask\",\"params\":{\"id\":\"t\"}}"))
                : exchange.rest("GET", "/tasks/t");

        assertThat(text(answer.body()))
                .contains("Internal error (reference ")
                .doesNotContain("secret")
                .doesNotContain("IllegalState");
        assertThat(answer.status()).isEqualTo(rpc ? 200 : 500);
    }

    @Test
    void whatCannotBeWrittenIsAnInternalError() {
        exchange.endpoint.answering(new Task(
                "t", "c", TaskStatus.of(TaskState.WORKING, Instant.EPOCH), List.of(), List.of(), Map.of("x", this)));

        assertThat(exchange.rest("GET", "/tasks/t").status()).isEqualTo(500);
    }

    @Test
    void aProblemBeforeAnyAgentIsToldInTheFormOfTheRequest() {
        var dialects = new Dialects(DialectSettings.DEFAULTS);
        var tooLarge = A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
        var unknown = A2AException.of(A2AError.METHOD_NOT_FOUND, "No such agent");

        var rpc = dialects.problem(exchange.request("POST", "/agents/x", bytes("")), tooLarge);
        var rest = dialects.problem(exchange.request("POST", "/agents/x/message:send", bytes("")), tooLarge);
        var get = dialects.problem(exchange.request("GET", "/agents/x", bytes("")), unknown);

        assertThat(List.of(rpc.status(), rest.status(), get.status())).containsExactly(413, 413, 404);
        assertThat(text(rpc.body())).startsWith("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,");
        assertThat(text(rest.body())).startsWith("{\"error\":{\"code\":413,");
        assertThat(text(get.body())).startsWith("{\"error\":{\"code\":404,");
    }

    // --- service parameters ---

    @Test
    void extensionsAreTakenFromTheHeaderAndTheActivatedOnesEchoed() {
        exchange.endpoint.answering(TASK).events = List.of(new LoggedEvent(1, TASK));
        exchange.with("A2A-Extensions", "https://example.com/ext/v2, https://else.example,,https://example.com/ext/v1");
        exchange.with("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");

        var answer = exchange.rest("GET", "/tasks/t");
        var stream = exchange.send("GET", "/tasks/t:subscribe", bytes(""));

        assertThat(requireNonNull(exchange.endpoint.context).extensions())
                .containsExactlyInAnyOrder(
                        "https://example.com/ext/v1", "https://example.com/ext/v2", "https://else.example");
        assertThat(exchange.endpoint.context.traceparent()).startsWith("00-0af7");
        assertThat(answer.headers())
                .containsEntry("A2A-Extensions", "https://example.com/ext/v1, https://example.com/ext/v2");
        assertThat(stream.headers()).containsKey("A2A-Extensions");
    }

    @Test
    void withoutExtensionsNothingIsEchoed() {
        exchange.endpoint.answering(TASK);

        assertThat(exchange.rest("GET", "/tasks/t").headers()).doesNotContainKey("A2A-Extensions");
    }

    // --- cards ---

    @Test
    void theCardIsServedWithAnEtagAtBothAddresses() {
        for (String path : List.of("/.well-known/agent-card.json", "/.well-known/agent.json")) {
            var answer = exchange.rest("GET", path);

            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.headers())
                    .containsEntry("Content-Type", "application/json")
                    .containsEntry("Cache-Control", "public, max-age=60")
                    .containsEntry("Vary", "A2A-Version, Accept");
            assertThat(tree(answer.body())).isEqualTo(tree(Wire.example("card.full.json")));
        }
    }

    @Test
    void aKnownCardIsNotSentAgain() {
        String path = "/.well-known/agent-card.json";
        String tag = requireNonNull(exchange.rest("GET", path).headers().get("ETag"));

        for (String known : List.of(tag, "W/" + tag, "\"x\", " + tag, "*")) {
            var answer = exchange.with("If-None-Match", known).rest("GET", path);
            assertThat(answer.status()).isEqualTo(304);
            assertThat(answer.body()).isEmpty();
            assertThat(answer.headers()).containsEntry("ETag", tag);
        }
        exchange.with(Json.read(Wire.example("card.minimal.json"), AgentCard.class));
        assertThat(exchange.with("If-None-Match", tag).rest("GET", path).status())
                .isEqualTo(200);
    }

    @Test
    void theCardMayBeAskedForItsHeaders() {
        assertThat(exchange.rest("HEAD", "/.well-known/agent-card.json").status())
                .isEqualTo(200);
        var answer = exchange.rest("DELETE", "/.well-known/agent-card.json");
        assertThat(answer.status()).isEqualTo(405);
        assertThat(answer.headers()).containsEntry("Allow", "GET, HEAD");
    }

    @Test
    void theExtendedCardIsCachedByNobodyElse() {
        exchange.endpoint.answering(card());

        var answer = exchange.rest("GET", "/extendedAgentCard");

        assertThat(answer.headers()).containsEntry("Cache-Control", "private, max-age=60");
        assertThat(tree(answer.body())).isEqualTo(tree(Wire.example("card.full.json")));
    }

    private static AgentCard card() {
        return Json.read(Wire.example("card.full.json"), AgentCard.class);
    }
}
