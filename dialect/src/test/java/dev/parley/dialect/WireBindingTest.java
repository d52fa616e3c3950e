package dev.parley.dialect;

import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.example;
import static dev.parley.dialect.Wire.text;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.json.JsonText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class WireBindingTest {
    private static final String BASE = "https://agents.example.com/analyst";
    private static final CallContext CONTEXT = CallContext.anonymous();

    private final Exchange exchange = new Exchange();

    private static Binding binding(String binding, String version) {
        return WireBinding.of(new Interface(BASE, binding, null, version)).orElseThrow();
    }

    private static Interface agent(String binding, @Nullable String tenant) {
        return new Interface(BASE, binding, tenant, "1.0");
    }

    private static Binding binding(String binding) {
        return WireBinding.of(agent(binding, null)).orElseThrow();
    }

    /** What a server sees of a request that a client made. */
    private WireRequest received(Binding.Outgoing outgoing) {
        outgoing.headers().forEach(exchange::with);
        assertThat(outgoing.url()).startsWith(BASE);
        return exchange.request(outgoing.method(), outgoing.url().substring(BASE.length()), outgoing.body());
    }

    private WireAnswer answer(Binding.Outgoing outgoing) {
        var served = new ServedAgent("a", exchange.endpoint, Json.read(example("card.full.json"), AgentCard.class));
        return new Dialects(DialectSettings.DEFAULTS).answer(received(outgoing), served, CONTEXT);
    }

    // --- both sides together ---

    static Stream<Arguments> calls() {
        return bothBindings(Map.ofEntries(
                Map.entry("sendMessage.request.json", List.of("sendResult.task.json", "sendResult.message.json")),
                Map.entry("sendMessage.minimal.request.json", List.of("sendResult.message.json")),
                Map.entry("getTask.request.json", List.of("task.full.json")),
                Map.entry("getTask.minimal.request.json", List.of("task.minimal.json")),
                Map.entry("listTasks.request.json", List.of("taskPage.full.json")),
                Map.entry("listTasks.minimal.request.json", List.of("taskPage.empty.json")),
                Map.entry("cancelTask.request.json", List.of("task.minimal.json")),
                Map.entry("createTaskPushNotificationConfig.request.json", List.of("pushConfig.full.json")),
                Map.entry("createTaskPushNotificationConfig.minimal.request.json", List.of("pushConfig.minimal.json")),
                Map.entry("getTaskPushNotificationConfig.request.json", List.of("pushConfig.full.json")),
                Map.entry("listTaskPushNotificationConfigs.request.json", List.of("pushConfigPage.full.json")),
                Map.entry("listTaskPushNotificationConfigs.minimal.request.json", List.of("pushConfigPage.empty.json")),
                Map.entry("deleteTaskPushNotificationConfig.request.json", List.of("empty.json")),
                Map.entry("getExtendedAgentCard.request.json", List.of("card.full.json")),
                Map.entry("getExtendedAgentCard.minimal.request.json", List.of("card.minimal.json"))));
    }

    static Stream<Arguments> streams() {
        List<String> events = Wire.examples(".json").stream()
                .filter(name -> name.startsWith("event."))
                .toList();
        return bothBindings(Map.of(
                "sendStreamingMessage.request.json", events,
                "subscribeToTask.request.json", events));
    }

    private static Stream<Arguments> bothBindings(Map<String, List<String>> exchanges) {
        return exchanges.entrySet().stream()
                .flatMap(one -> one.getValue().stream()
                        .flatMap(result -> Stream.of(Interface.JSONRPC, Interface.HTTP_JSON)
                                .map(binding -> Arguments.of(binding, one.getKey(), result))));
    }

    private static WireOperation row(String request) {
        String name = request.substring(0, request.indexOf('.'));
        return requireNonNull(V1Operations.TABLE.named(Character.toUpperCase(name.charAt(0)) + name.substring(1)));
    }

    @ParameterizedTest
    @MethodSource("calls")
    void whatAClientAsksIsWhatTheAgentHearsAndBack(String binding, String request, String result) {
        WireOperation row = row(request);
        var operation = (Operation.Call<?>) JsonText.read(example(request), row.request());
        Object expected = JsonText.read(example(result), requireNonNull(row.result()));
        exchange.endpoint.answering(expected);

        var answer = Exchange.whole(answer(binding(binding).request(operation, CONTEXT, agent(binding, null))));

        assertThat(exchange.endpoint.asked).isEqualTo(operation);
        assertThat((Object) binding(binding).result(operation, answer.status(), answer.body()))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @MethodSource("streams")
    void whatAnAgentEmitsIsWhatAClientSees(String binding, String request, String event) throws Exception {
        var operation =
                (Operation.Watch) JsonText.read(example(request), row(request).request());
        TaskEvent expected = Json.read(example(event), TaskEvent.class);
        exchange.endpoint.events = List.of(new LoggedEvent(0, expected));

        String frames = Exchange.frames(answer(binding(binding).request(operation, CONTEXT, agent(binding, null))));

        assertThat(exchange.endpoint.asked).isEqualTo(operation);
        String data = frames.lines()
                .filter(line -> line.startsWith("data: "))
                .findFirst()
                .orElseThrow();
        var read = requireNonNull(binding(binding).event(null, data.substring("data: ".length())));
        assertThat(read.event()).isEqualTo(expected);
        assertThat(read.sequence()).isZero();
    }

    @ParameterizedTest
    @EnumSource(A2AError.class)
    void everyErrorArrivesAsItWasRaised(A2AError error) {
        var raised = A2AException.of(
                error,
                "said",
                Map.of("taskId", "t-404"),
                List.of(new A2AException.Violation("a.b[0]", "wrong")),
                Duration.ofMillis(2500));
        exchange.endpoint.failing(raised);

        for (String binding : List.of(Interface.JSONRPC, Interface.HTTP_JSON)) {
            var operation = Operation.GetTask.of("t");
            var answer = Exchange.whole(answer(binding(binding).request(operation, CONTEXT, agent(binding, null))));

            var read = catchThrowableOfType(
                    A2AException.class, () -> binding(binding).result(operation, answer.status(), answer.body()));

            assertThat(read.error()).isEqualTo(error);
            assertThat(read).hasMessage("said");
            assertThat(read.metadata()).isEqualTo(raised.metadata());
            assertThat(read.violations()).isEqualTo(raised.violations());
            assertThat(read.retryAfter()).isEqualTo(raised.retryAfter());
        }
    }

    @Test
    void theErrorFrameOfABrokenStreamIsThrown() {
        exchange.endpoint.events = List.of(new LoggedEvent(1, Json.read(example("event.task.json"), TaskEvent.class)));
        for (String binding : List.of(Interface.JSONRPC, Interface.HTTP_JSON)) {
            var answer = (WireAnswer.Events)
                    answer(binding(binding).request(Operation.SubscribeToTask.of("t"), CONTEXT, agent(binding, null)));
            String frame = text(answer.failure().apply(A2AException.of(A2AError.UNAVAILABLE, "closing")));

            assertThatThrownBy(() -> binding(binding)
                            .event(null, frame.substring("data: ".length()).trim()))
                    .isInstanceOfSatisfying(
                            A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.UNAVAILABLE))
                    .hasMessage("closing");
        }
    }

    // --- requests ---

    @Test
    void aRequestOverRestHasItsFieldsInPathAndQuery() {
        var list = JsonText.read(
                example("listTasks.request.json"), row("listTasks.request.json").request());
        var get = new Operation.GetTask(null, "a/b c:d", 3);

        var rest = binding(Interface.HTTP_JSON);

        assertThat(rest.request(list, CONTEXT, agent(Interface.HTTP_JSON, null)).url())
                .isEqualTo(BASE
                        + "/acme/tasks?contextId=c-4&status=TASK_STATE_WORKING&pageSize=10&pageToken=b3BhcXVl"
                        + "&historyLength=3&statusTimestampAfter=2026-01-05T09%3A00%3A00.000Z&includeArtifacts=true");
        assertThat(rest.request(get, CONTEXT, new Interface(BASE + "/", Interface.HTTP_JSON, null, "1.0")))
                .satisfies(outgoing -> {
                    assertThat(outgoing.method()).isEqualTo("GET");
                    assertThat(outgoing.url()).isEqualTo(BASE + "/tasks/a%2Fb%20c%3Ad?historyLength=3");
                    assertThat(outgoing.body()).isEmpty();
                    assertThat(outgoing.headers()).doesNotContainKey("Content-Type");
                });
    }

    @Test
    void aBodyRepeatsNothingOfThePath() {
        var cancel = JsonText.read(
                example("cancelTask.request.json"),
                row("cancelTask.request.json").request());

        var outgoing = binding(Interface.HTTP_JSON).request(cancel, CONTEXT, agent(Interface.HTTP_JSON, "acme"));

        assertThat(outgoing.url()).isEqualTo(BASE + "/acme/tasks/t-9:cancel");
        assertThat(text(outgoing.body())).isEqualTo("{\"metadata\":{\"why\":\"too slow\"}}");
        assertThat(outgoing.headers()).containsEntry("Content-Type", "application/json");
    }

    @Test
    void theTenantOfTheInterfaceIsInEveryRequest() {
        for (WireOperation row : V1Operations.TABLE.all()) {
            String name =
                    Character.toLowerCase(row.method().charAt(0)) + row.method().substring(1) + ".request.json";
            var operation = JsonText.read(example(name), row.request());

            var rest = binding(Interface.HTTP_JSON).request(operation, CONTEXT, agent(Interface.HTTP_JSON, "a b"));
            var rpc = binding(Interface.JSONRPC).request(operation, CONTEXT, agent(Interface.JSONRPC, "a b"));

            String tenant = operation.tenant() == null ? "a b" : operation.tenant();
            assertThat(rest.url()).startsWith(BASE + "/" + tenant.replace(" ", "%20") + "/");
            assertThat(Tree.of(text(rpc.body())).at("params", "tenant").text()).isEqualTo(tenant);
        }
    }

    @Test
    void aJsonRpcRequestHasAnIdOfItsOwn() {
        var rpc = binding(Interface.JSONRPC);

        var first = rpc.request(Operation.GetTask.of("t"), CONTEXT, agent(Interface.JSONRPC, null));
        var second = rpc.request(Operation.GetTask.of("t"), CONTEXT, agent(Interface.JSONRPC, null));

        assertThat(first.url()).isEqualTo(BASE);
        assertThat(text(first.body()))
                .isEqualTo("{\"jsonrpc\":\"2.0\",\"id\":" + first.id()
                        + ",\"method\":\"GetTask\",\"params\":{\"id\":\"t\"}}");
        assertThat(second.id()).isNotEqualTo(first.id());
        assertThat(Tree.of(text(second.body())).at("id").text()).isEqualTo(second.id());
    }

    @Test
    void theServiceParametersTravelAsHeaders() {
        var context = CONTEXT.withExtensions(Set.of("https://b.example", "https://a.example"))
                .withTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        var subscribe = new Operation.SubscribeToTask(null, "t", 41L);

        for (String binding : List.of(Interface.JSONRPC, Interface.HTTP_JSON)) {
            assertThat(binding(binding)
                            .request(subscribe, context, agent(binding, null))
                            .headers())
                    .containsEntry("A2A-Version", "1.0")
                    .containsEntry("A2A-Extensions", "https://a.example, https://b.example")
                    .containsEntry("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
                    .containsEntry("Last-Event-ID", "41")
                    .hasEntrySatisfying("Accept", accept -> assertThat(accept).startsWith("text/event-stream"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "JSONRPC, 1.0, true",
        "HTTP+JSON, 1.0.1, true",
        "JSONRPC, 0.3, true",
        "JSONRPC, 0.3.0, true",
        "JSONRPC, 0.2.9, true",
        "HTTP+JSON, 0.3, true",
        "JSONRPC, 0.1, true",
        "HTTP+JSON, 0.1, false",
        "JSONRPC, kernel, true",
        "JSONRPC, 2.0, false",
        "JSONRPC, one, false",
        "GRPC, 1.0, false",
        "https://example.com/binding, 1.0, false"
    })
    void everyVersionIsSpokenInItsBindingsOverHttp(String binding, String version, boolean spoken) {
        assertThat(WireBinding.of(new Interface(BASE, binding, null, version)).isPresent())
                .isEqualTo(spoken);
    }

    // --- answers of other peers ---

    @ParameterizedTest
    @ValueSource(ints = {200, 201, 202})
    void anyStatusOfSuccessIsAResult(int status) {
        Task task =
                binding(Interface.HTTP_JSON).result(Operation.GetTask.of("t-9"), status, example("task.minimal.json"));

        assertThat(task.id()).isEqualTo("t-9");
    }

    @Test
    void anAnswerMaySayTwiceOfWhichKindItIs() {
        String answer = "{'id':1,'result':{'kind':'message','messageId':'m','role':'agent','parts':["
                + "{'kind':'text','text':'hi','kind':'text'}],'kind':'message'}}";
        var binding = binding(Interface.JSONRPC, "0.2");

        assertThat(((Message) binding.result(send(), 200, bytes(answer.replace('\'', '"')))).text())
                .isEqualTo("hi");
        assertThatThrownBy(() -> binding.result(
                        send(),
                        200,
                        bytes(answer.replace("'kind':'message'}", "'kind':'task'}")
                                .replace('\'', '"'))))
                .hasMessageContaining("duplicate key");
    }

    @Test
    void whatAgentVaultDoesNotCancelIsRefused() {
        String answer = "{\"id\":1,\"result\":{\"success\":false,\"message\":null}}";

        assertThatThrownBy(() -> binding(Interface.JSONRPC, "agentvault")
                        .result(Operation.CancelTask.of("t"), 200, bytes(answer)))
                .isInstanceOfSatisfying(
                        A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.TASK_NOT_CANCELABLE));
    }

    @ParameterizedTest
    @CsvSource({
        "http://localhost:8000/a2a, http://localhost:8000/a2a/",
        "http://localhost:8000/a2a/, http://localhost:8000/a2a/",
        "http://localhost:8000/rpc.php, http://localhost:8000/rpc.php",
        "http://localhost:8000/a2a?agent=1, http://localhost:8000/a2a?agent=1",
    })
    void agentsOfAgentVaultAnswerBehindASlash(String url, String called) {
        var agent = new Interface(url, Interface.JSONRPC, null, "agentvault");

        assertThat(WireBinding.of(agent)
                        .orElseThrow()
                        .request(Operation.GetTask.of("t"), CallContext.anonymous(), agent)
                        .url())
                .isEqualTo(called);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    void aDeletionMayBeAnsweredWithNothing(String version) {
        var delete = new Operation.DeletePushConfig(null, "t", "p");
        var empty = new Operation.Empty();

        for (String body : List.of("", "null", "{}", "{\"unknown\":1}")) {
            assertThat(binding(Interface.HTTP_JSON, version).result(delete, 204, bytes(body)))
                    .isEqualTo(empty);
        }
        for (String body : List.of(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}",
                "{\"result\":{},\"id\":1}",
                "{\"jsonrpc\":\"2.0\",\"id\":1}",
                "")) {
            assertThat(binding(Interface.JSONRPC, version).result(delete, 200, bytes(body)))
                    .isEqualTo(empty);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "JSONRPC   | {'jsonrpc':'2.0','id':1}",
                "JSONRPC   | {'jsonrpc':'2.0','id':1,'result':null}",
                "JSONRPC   | {'jsonrpc':'2.0','id':1,'result':{'task':{}}}",
                "JSONRPC   | []",
                "JSONRPC   | <html>",
                "JSONRPC   | ''",
                "HTTP+JSON | {}",
                "HTTP+JSON | {'id':'t'}",
                "HTTP+JSON | <html>",
                "HTTP+JSON | ''"
            })
    void whatIsNoAnswerIsAnInvalidOne(String binding, String body) {
        SendResult none = null;

        assertThatThrownBy(() -> {
                    SendResult result = binding(binding).result(send(), 200, bytes(body.replace('\'', '"')));
                    assertThat(result).isEqualTo(none);
                })
                .isInstanceOfSatisfying(
                        A2AException.class, e -> assertThat(e.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE))
                .hasMessageStartingWith("The agent's answer cannot be read: ");
    }

    private static Operation.SendMessage send() {
        return (Operation.SendMessage) JsonText.read(
                example("sendMessage.minimal.request.json"),
                row("sendMessage.x").request());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                // the reason outranks code and status
                "409 |"
                        + " {'error':{'code':409,'message':'x','details':[{'@type':'type.googleapis.com/google.rpc.ErrorInfo','reason':'TASK_NOT_CANCELABLE'}]}}"
                        + " | TASK_NOT_CANCELABLE",
                "500 | {'error':{'code':-32001,'message':'x','data':[{'reason':'UNSUPPORTED_OPERATION'}]}} |"
                        + " UNSUPPORTED_OPERATION",
                // then the code
                "200 | {'error':{'code':-32001,'message':'x'}}                 | TASK_NOT_FOUND",
                "400 | {'error':{'code':-32009,'message':'x','data':'text'}}   | VERSION_NOT_SUPPORTED",
                "200 | {'error':{'code':-32603,'message':'x','data':{'a':1}}}  | INTERNAL",
                "422 | {'error':{'code':-32602,'message':'x'}}                 | INVALID_PARAMS",
                "503 | {'error':{'code':-32603,'message':'x'}}                 | UNAVAILABLE",
                "401 | {'error':{'code':-32603,'message':'x'}}                 | UNAUTHENTICATED",
                // then the status
                "404 | {'error':{'code':404,'status':'NOT_FOUND','message':'x'}} | TASK_NOT_FOUND",
                "422 | {'error':{'code':422,'message':'x'}}                    | INVALID_PARAMS",
                "404 | <html>                                                  | METHOD_NOT_FOUND",
                "404 | {'detail':'Not Found'}                                  | METHOD_NOT_FOUND",
                // or the error of JSON-RPC, without what is around it there
                "404 | {'code':-32001,'message':'x'}                           | TASK_NOT_FOUND",
                "400 | {'code':-32004,'message':'x','data':{'why':'because'}}  | UNSUPPORTED_OPERATION",
                // or its name in Java, in a stream too
                "404 | {'error':'io.a2a.spec.TaskNotFoundError','message':'x'}      | TASK_NOT_FOUND",
                "200 | {'error':'io.a2a.spec.TaskNotFoundError','message':'x'}      | TASK_NOT_FOUND",
                "404 | {'error':'io.a2a.spec.MethodNotFoundError','message':'x'}    | METHOD_NOT_FOUND",
                "404 | {'error':'Not Found','message':'x'}                          | METHOD_NOT_FOUND",
                // or the words of the specification
                "404 | {'message':'Task not found'}                            | TASK_NOT_FOUND",
                "501 | {'message':'Push Notification is not supported'}        | PUSH_NOTIFICATION_NOT_SUPPORTED",
                "404 | {'message':'no Route matched with those values'}        | METHOD_NOT_FOUND",
                "405 | ''                                                      | METHOD_NOT_ALLOWED",
                "401 | ''                                                      | UNAUTHENTICATED",
                "403 | ''                                                      | PERMISSION_DENIED",
                "413 | ''                                                      | PAYLOAD_TOO_LARGE",
                "415 | ''                                                      | CONTENT_TYPE_NOT_SUPPORTED",
                "429 | ''                                                      | RATE_LIMITED",
                "507 | ''                                                      | QUOTA_EXCEEDED",
                "502 | <html>                                                  | UNAVAILABLE",
                "504 | ''                                                      | UNAVAILABLE",
                "500 | ''                                                      | INTERNAL",
                "302 | ''                                                      | INVALID_AGENT_RESPONSE",
                // problem documents of release candidates
                "404 | {'type':'https://a2a-protocol.org/errors/task-not-found','title':'Task not"
                        + " found','status':404,'detail':'No such task'} | TASK_NOT_FOUND",
                "409 | {'type':'about:blank','title':'Conflict','status':409}  | TASK_NOT_CANCELABLE",
                // nonsense
                "500 |"
                        + " {'error':{'code':{},'message':[],'details':[1,{'metadata':{'a':null}},{'fieldViolations':[7,{}]},{'retryDelay':'soon'}]}}"
                        + " | INTERNAL"
            })
    void anErrorIsKnownByReasonThenCodeThenStatus(int status, String body, A2AError error) {
        for (String binding : List.of(Interface.JSONRPC, Interface.HTTP_JSON)) {
            assertThat(binding(binding)
                            .refusal(status, bytes(body.replace('\'', '"')))
                            .error())
                    .isEqualTo(error);
        }
    }

    @Test
    void theWordsOfAPeerAreKeptButNotWithoutEnd() {
        var rest = binding(Interface.HTTP_JSON);

        assertThat(rest.refusal(
                        404, bytes("{\"type\":\"u:task-not-found\",\"title\":\"t\",\"detail\":\"No such task\"}")))
                .hasMessage("No such task");
        assertThat(rest.refusal(500, bytes("{\"error\":{\"message\":\"" + "x".repeat(10_000) + "\"}}")))
                .hasMessageMatching("x{1000}…");
        assertThat(rest.refusal(503, bytes("busy")))
                .hasMessage("Temporarily unavailable (HTTP status 503): no media type \"busy\"");
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"7, 7", "0, 0", "-, 0", "'', 0", "abc, 0", "-4, 0"})
    void theIdOfAnEventBecomesItsSequence(String id, long sequence) {
        assertThat(requireNonNull(binding(Interface.HTTP_JSON).event(id, text(example("event.statusUpdate.json"))))
                        .sequence())
                .isEqualTo(sequence);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"'\"7\"'; 7", "7; 7", "'\"\"'; 0", "-1; 0", "'{\"x\":7}'; 0", "null; 0"})
    void anEventWithoutAnIdHasTheNumberThatItSays(String generation, long sequence) {
        String status = text(example("event.statusUpdate.json")).strip();
        String event = status.substring(0, status.length() - 2).stripTrailing();
        String numbered = event + ",\"generation\":" + generation + "}}";

        assertThat(requireNonNull(binding(Interface.HTTP_JSON).event(null, numbered))
                        .sequence())
                .isEqualTo(sequence);
        assertThat(requireNonNull(binding(Interface.HTTP_JSON).event("9", numbered))
                        .sequence())
                .isEqualTo(9);
    }

    @Test
    void anEventThatIsNoneIsRefused() {
        for (String data : new ArrayList<>(List.of("", "{}", "[]", "ping", "{\"result\":{}}"))) {
            for (String binding : List.of(Interface.JSONRPC, Interface.HTTP_JSON)) {
                assertThatThrownBy(() -> binding(binding).event("1", data))
                        .isInstanceOfSatisfying(
                                A2AException.class,
                                e -> assertThat(e.error()).isEqualTo(A2AError.INVALID_AGENT_RESPONSE));
            }
        }
    }
}
