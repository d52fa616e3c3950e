package dev.parley.dialect;

import static dev.parley.dialect.Wire.bytes;
import static dev.parley.dialect.Wire.example;
import static dev.parley.dialect.Wire.text;
import static dev.parley.dialect.Wire.tree;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.dialect.legacy.LegacyModel;
import dev.parley.dialect.legacy.LegacyOperations;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.vault.VaultDialect;
import dev.parley.dialect.vault.VaultModel;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;

/**
 * The wire examples of the older dialects, in both directions: a server reads requests and writes results, a client writes
 * requests and reads results.
 *
 * <p>A file {@code getTask.alias-zero.request.json} is another way to write what {@code getTask.request.json} is: it is read
 * alike, and written never.
 */
final class LegacyBindingTest {
    private static final String BASE = "https://agents.example.com/weather";
    private static final CallContext CONTEXT = CallContext.anonymous();

    /** A dialect: its examples, how a card names it, its table, and where below the agent it is. */
    record Spoken(
            String examples,
            String binding,
            String version,
            OperationTable table,
            Codec<TaskEvent> event,
            String path) {
        Interface agent() {
            return new Interface(BASE + path, binding, null, version);
        }

        Binding client() {
            return WireBinding.of(agent()).orElseThrow();
        }

        WireOperation row(String file) {
            String type = file.substring(0, file.indexOf('.'));
            return table.all().stream()
                    .filter(row -> row.type().getSimpleName().equalsIgnoreCase(type))
                    .findFirst()
                    .orElseThrow();
        }

        Operation operation(String file) {
            return JsonText.read(example(examples, file), row(file).request());
        }

        Object result(String file) {
            Codec<Object> codec = requireNonNull(row(file).result());
            byte[] json = example(examples, file);
            return requireNonNull(JsonText.read(json, new Required(codec)));
        }

        byte[] written(String file, Object result) {
            return JsonText.write(new byte[0], requireNonNull(row(file).result()), result, new byte[0]);
        }

        byte[] written(Operation operation) {
            return JsonText.write(
                    new byte[0], requireNonNull(table.of(operation)).request(), operation, new byte[0]);
        }

        @Override
        public String toString() {
            return examples;
        }
    }

    /** Reads a result that may be {@code null}, as that of a deletion is. */
    private record Required(Codec<Object> codec) implements Codec<Object> {
        @Override
        public String expected() {
            return codec.expected();
        }

        @Override
        public boolean readsNull() {
            return codec.readsNull();
        }

        @Override
        public @Nullable Object read(JsonParser in) {
            return codec.read(in);
        }

        @Override
        public void write(JsonGenerator out, Object value) {
            codec.write(out, value);
        }
    }

    private static final List<Spoken> ALL = List.of(
            new Spoken("v03", Interface.JSONRPC, "0.3", LegacyOperations.KIND, LegacyModel.KIND.event, ""),
            new Spoken("v03proto", Interface.HTTP_JSON, "0.3", LegacyOperations.PROTO, LegacyModel.PROTO.event, ""),
            new Spoken("v01", Interface.JSONRPC, "0.1", LegacyOperations.TYPE, LegacyModel.TYPE.event, ""),
            new Spoken(
                    "kernel",
                    Interface.JSONRPC,
                    "kernel",
                    LegacyOperations.KERNEL,
                    LegacyModel.KERNEL.event,
                    "/kernel"),
            new Spoken(
                    "agentvault",
                    Interface.JSONRPC,
                    "agentvault",
                    VaultDialect.OPERATIONS,
                    VaultModel.EVENT,
                    "/agentvault"));

    private final Exchange exchange = new Exchange().inEveryDialect();

    private static Stream<Arguments> files(String suffix, boolean aliases) {
        return ALL.stream()
                .flatMap(spoken -> Wire.examples(spoken.examples(), suffix).stream()
                        .filter(file -> file.contains(".alias-") == aliases)
                        .map(file -> Arguments.of(spoken, file)));
    }

    static Stream<Arguments> requests() {
        return files(".request.json", false);
    }

    static Stream<Arguments> otherRequests() {
        return files(".request.json", true);
    }

    static Stream<Arguments> results() {
        return files(".result.json", false);
    }

    static Stream<Arguments> otherResults() {
        return files(".result.json", true);
    }

    static Stream<Arguments> events() {
        return ALL.stream()
                .flatMap(spoken -> Wire.examples(spoken.examples(), ".json").stream()
                        .filter(file -> file.startsWith("event."))
                        .map(file -> Arguments.of(spoken, file)));
    }

    private static String canonical(String alias) {
        return alias.replaceFirst("\\.alias-[^.]+", "");
    }

    // ---- One side

    @ParameterizedTest
    @MethodSource("requests")
    void aRequestIsWrittenAsItWasRead(Spoken spoken, String file) {
        Operation read = spoken.operation(file);

        assertThat(read).isInstanceOf(spoken.row(file).type());
        assertThat(tree(spoken.written(read))).isEqualTo(tree(example(spoken.examples(), file)));
    }

    @ParameterizedTest
    @MethodSource("otherRequests")
    void aRequestMayBeWrittenInOtherWays(Spoken spoken, String file) {
        assertThat(tree(spoken.written(spoken.operation(file))))
                .isEqualTo(tree(example(spoken.examples(), canonical(file))));
    }

    @ParameterizedTest
    @MethodSource("requests")
    void membersThatNobodyKnowsAreIgnored(Spoken spoken, String file) {
        @SuppressWarnings("unchecked")
        var more = new LinkedHashMap<String, @Nullable Object>(
                (Map<String, Object>) tree(example(spoken.examples(), file)));
        more.put("unknown", List.of(Map.of("id", 1)));

        Operation read = JsonText.read(Json.write(more), spoken.row(file).request());

        assertThat(tree(spoken.written(read))).isEqualTo(tree(example(spoken.examples(), file)));
    }

    static Stream<Arguments> data() {
        return Stream.concat(results(), events())
                .filter(one -> !one.get()[0].toString().equals("agentvault"));
    }

    @ParameterizedTest
    @MethodSource("data")
    @DisplayName("GEM01: members that nobody knows are kept by messages, parts, artifacts, tasks and events")
    void membersThatNobodyKnowsAreKept(Spoken spoken, String file) {
        Codec<Object> codec = file.startsWith("event.")
                ? event(spoken)
                : requireNonNull(spoken.row(file).result());
        Object more = withMore(tree(example(spoken.examples(), file)), spoken);

        Object read = requireNonNull(JsonText.read(Json.write(more), new Required(codec)));

        assertThat(tree(JsonText.write(new byte[0], codec, read, new byte[0]))).isEqualTo(more);
    }

    @SuppressWarnings("unchecked") // meets only events
    private static Codec<Object> event(Spoken spoken) {
        return (Codec<Object>) (Codec<?>) spoken.event();
    }

    /** Puts members that nobody knows into everything that keeps them. */
    private static @Nullable Object withMore(@Nullable Object json, Spoken spoken) {
        if (json instanceof List<?> list) {
            return list.stream().map(one -> withMore(one, spoken)).toList();
        }
        if (!(json instanceof Map<?, ?> map)) {
            return json;
        }
        var more = new LinkedHashMap<String, @Nullable Object>();
        map.forEach((name, value) -> more.put(
                String.valueOf(name),
                name.equals("metadata") || name.equals("data") ? value : withMore(value, spoken)));
        boolean task = map.containsKey("status");
        boolean message = map.containsKey("role");
        boolean artifact = map.containsKey("parts") || map.containsKey("artifact") && map.size() > 1;
        boolean part = !spoken.examples().equals("v03proto")
                && (map.containsKey("text") || map.containsKey("data") || map.containsKey("file"));
        if (task || message || artifact || part) {
            more.put("x-unknown", List.of(Map.of("deep", true)));
        }
        return more;
    }

    @ParameterizedTest
    @MethodSource("results")
    void aResultIsWrittenAsItWasRead(Spoken spoken, String file) {
        assertThat(tree(spoken.written(file, spoken.result(file)))).isEqualTo(tree(example(spoken.examples(), file)));
    }

    @ParameterizedTest
    @MethodSource("otherResults")
    void aResultMayBeWrittenInOtherWays(Spoken spoken, String file) {
        assertThat(tree(spoken.written(file, spoken.result(file))))
                .isEqualTo(tree(example(spoken.examples(), canonical(file))));
    }

    @Test
    void everyOperationOfEveryDialectHasItsExamples() {
        for (Spoken spoken : ALL) {
            for (WireOperation row : spoken.table().all()) {
                assertThat(Wire.examples(spoken.examples(), ".request.json"))
                        .as(spoken + " " + row.method())
                        .anyMatch(file -> spoken.row(file).equals(row));
                if (row.result() != null) {
                    assertThat(Wire.examples(spoken.examples(), ".result.json"))
                            .as(spoken + " " + row.method())
                            .anyMatch(file -> spoken.row(file).equals(row));
                }
            }
        }
    }

    // ---- Both sides together

    /** What a server answers to a request that a client made. */
    private WireAnswer answer(Binding.Outgoing outgoing) {
        outgoing.headers().forEach(exchange::with);
        assertThat(outgoing.url()).startsWith(BASE);
        return exchange.send(
                exchange.request(outgoing.method(), outgoing.url().substring(BASE.length()), outgoing.body()));
    }

    static Stream<Arguments> calls() {
        return requests().flatMap(request -> {
            var spoken = (Spoken) request.get()[0];
            var file = (String) request.get()[1];
            return Wire.examples(spoken.examples(), ".result.json").stream()
                    .filter(result ->
                            !result.contains(".alias-") && spoken.row(result).equals(spoken.row(file)))
                    .map(result -> Arguments.of(spoken, file, result));
        });
    }

    @ParameterizedTest
    @MethodSource("calls")
    void whatAClientAsksIsWhatTheAgentHearsAndBack(Spoken spoken, String request, String result) {
        var operation = (Operation.Call<?>) spoken.operation(request);
        exchange.endpoint.answering(spoken.result(result));

        var answer = Exchange.whole(answer(spoken.client().request(operation, CONTEXT, spoken.agent())));

        assertThat(answer.status()).as(text(answer.body())).isEqualTo(200);
        assertThat(tree(spoken.written(requireNonNull(exchange.endpoint.asked))))
                .isEqualTo(tree(spoken.written((Operation) operation)));
        Object read = spoken.client().result(operation, answer.status(), answer.body());
        assertThat(tree(spoken.written(result, read))).isEqualTo(tree(example(spoken.examples(), result)));
    }

    @ParameterizedTest
    @MethodSource("events")
    void whatAnAgentEmitsIsWhatAClientSees(Spoken spoken, String file) throws Exception {
        TaskEvent expected = JsonText.read(example(spoken.examples(), file), spoken.event());
        var watch = (Operation.Watch) spoken.operation("subscribeToTask.request.json");
        exchange.endpoint.events = List.of(new LoggedEvent(0, expected));

        String frames = Exchange.frames(answer(spoken.client().request(watch, CONTEXT, spoken.agent())));

        var read = new ArrayList<TaskEvent>();
        frames.lines()
                .filter(line -> line.startsWith("data: "))
                .forEach(line -> read.add(requireNonNull(spoken.client().event(null, line.substring("data: ".length())))
                        .event()));
        assertThat(read).isNotEmpty();
        TaskEvent seen = read.stream()
                .filter(one -> one.getClass().equals(expected.getClass()))
                .findFirst()
                .orElseThrow();
        switch (expected) {
            case TaskStatusUpdateEvent update -> {
                var status = ((TaskStatusUpdateEvent) read.getLast()).status();
                assertThat(status.state()).isEqualTo(update.status().state());
                assertThat(status.timestamp()).isEqualTo(update.status().timestamp());
            }
            case TaskArtifactUpdateEvent update -> assertThat(seen).isEqualTo(update);
            default -> assertThat(seen).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @MethodSource("events")
    void anEventIsReadAsItIsDocumented(Spoken spoken, String file) {
        String json = text(example(spoken.examples(), file));
        boolean wrapped = Set.of("v03", "v01").contains(spoken.examples());
        String data = wrapped ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + json + "}" : json;

        LoggedEvent read = requireNonNull(spoken.client().event("7", data));

        assertThat(read.sequence()).isEqualTo(7);
        assertThat(read.event())
                .usingRecursiveComparison()
                .ignoringFields("messageId", "status.message.messageId") // made up where there is none
                .isEqualTo(JsonText.read(bytes(json), spoken.event()));
    }

    // ---- Requests and errors of a client

    @ParameterizedTest
    @CsvSource({
        "0.3, JSONRPC,    0.3, X-A2A-Extensions",
        "0.2, JSONRPC,    0.3, X-A2A-Extensions",
        "0.3.0, HTTP+JSON, 0.3, X-A2A-Extensions",
        "0.2.6, HTTP+JSON, 0.3, X-A2A-Extensions",
        "0.1, JSONRPC,    0.1, X-A2A-Extensions"
    })
    void aClientSaysTheVersionAndTheExtensionsAsTheirTimeDid(
            String version, String binding, String said, String extensions) {
        var agent = new Interface(BASE, binding, "ignored", version);
        Binding client = WireBinding.of(agent).orElseThrow();

        var outgoing =
                client.request(Operation.GetTask.of("t"), CONTEXT.withExtensions(Set.of("https://x.example")), agent);

        assertThat(outgoing.headers())
                .containsEntry("A2A-Version", said)
                .containsEntry(extensions, "https://x.example")
                .doesNotContainKey("A2A-Extensions")
                .containsEntry("Accept", "application/json");
        assertThat(outgoing.url() + text(outgoing.body())).doesNotContain("ignored");
        assertThat(outgoing.url()).isEqualTo(binding.equals("JSONRPC") ? BASE : BASE + "/v1/tasks/t");
    }

    @Test
    void olderVersionsHaveNoOtherBindings() {
        assertThat(WireBinding.of(new Interface(BASE, Interface.HTTP_JSON, null, "0.1")))
                .isEmpty();
        assertThat(WireBinding.of(new Interface(BASE, Interface.HTTP_JSON, null, "kernel")))
                .isEmpty();
        assertThat(WireBinding.of(new Interface(BASE, Interface.JSONRPC, null, "0.9")))
                .isEmpty();
    }

    @Test
    void whatADialectLacksIsRefusedBeforeAnythingIsSent() {
        for (Spoken spoken : ALL) {
            if (spoken.table().of(Operation.ListTasks.all()) == null) {
                var refused = catchThrowableOfType(
                        A2AException.class,
                        () -> spoken.client().request(Operation.ListTasks.all(), CONTEXT, spoken.agent()));
                assertThat(refused.error()).isEqualTo(A2AError.UNSUPPORTED_OPERATION);
            }
        }
    }

    static Stream<Arguments> errors() {
        return ALL.stream().flatMap(spoken -> Stream.of(A2AError.values()).map(error -> Arguments.of(spoken, error)));
    }

    @ParameterizedTest
    @MethodSource("errors")
    void everyErrorArrivesAsItWasRaised(Spoken spoken, A2AError error) {
        exchange.endpoint.failing(A2AException.of(error, "said", Map.of("taskId", "t-404")));
        var get = Operation.GetTask.of("t");

        var answer = Exchange.whole(answer(spoken.client().request(get, CONTEXT, spoken.agent())));
        var read = catchThrowableOfType(
                A2AException.class, () -> spoken.client().result(get, answer.status(), answer.body()));

        if (spoken.version().equals("agentvault") && error == A2AError.TASK_NOT_CANCELABLE) {
            return; // only a cancellation can end so, and there it is an answer
        }
        assertThat(read).hasMessage("said");
        assertThat(read.error()).isEqualTo(error);
        assertThat(read.metadata()).isEqualTo(Map.of("taskId", "t-404"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'jsonrpc':'2.0','id':1,'error':{'code':-32001,'message':'gone'}}              | TASK_NOT_FOUND",
                "{'jsonrpc':'2.0','id':1,'error':{'code':-32001,'message':'gone','data':'why'}} | TASK_NOT_FOUND",
                "{'jsonrpc':'2.0','id':1,'error':{'code':-32002,'message':'gone','data':null}}  | TASK_NOT_CANCELABLE"
            })
    void errorsOfPeersWithoutDetailsAreUnderstood(String json, A2AError error) {
        for (Spoken spoken : ALL) {
            var read = catchThrowableOfType(
                    A2AException.class,
                    () -> spoken.client().result(Operation.GetTask.of("t"), 200, bytes(json.replace('\'', '"'))));
            assertThat(read.error()).isEqualTo(error);
            assertThat(read).hasMessage("gone");
        }
    }

    @Test
    void restErrorsOf03AreUnderstoodByTheirCode() {
        byte[] body = bytes("{\"error\":\"TaskNotFoundError\",\"code\":-32001,\"message\":\"gone\",\"data\":null}");
        Spoken spoken = ALL.get(1);

        var read = catchThrowableOfType(
                A2AException.class, () -> spoken.client().result(Operation.GetTask.of("t"), 404, body));

        assertThat(read.error()).isEqualTo(A2AError.TASK_NOT_FOUND);
        assertThat(read).hasMessage("gone");
    }
}
