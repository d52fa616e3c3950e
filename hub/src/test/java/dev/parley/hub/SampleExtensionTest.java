package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.ExtensionSource;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Part;
import dev.parley.protocol.Role;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Constructor;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The sample of {@code docs/extensions.md}, compiled from the page into a jar of its own, found by the service loader: nothing but the
 * jar knows of it.
 */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SampleExtensionTest {
    private static final String READ = "thermometer/read";
    private static final String WATCH = "thermometer/watch";
    private static final String KITCHEN = "{'room':'kitchen'}";
    private static final String POLICY = """
            {"rules": [
               {"effect": "deny", "agents": ["closed"], "operations": ["thermometer/read"]},
               {"effect": "deny", "agents": ["closed"], "operations": ["thermometer/watch"]}
             ]}
            """;

    @TempDir
    private static Path directory;

    private final SpanReceiver receiver = receiver();
    private final OpenTelemetrySdk telemetry = receiver.sdk();
    private URLClassLoader loader;
    private ExtensionProtocol protocol;
    private Hub hub;
    private Outsider outsider;
    private String[] headers;
    private String key;

    private static SpanReceiver receiver() {
        try {
            return new SpanReceiver();
        } catch (IOException broken) {
            throw new UncheckedIOException(broken);
        }
    }

    @BeforeAll
    void start() throws Exception {
        Path jar = SampleJar.of("../docs/extensions.md", "Thermometer", directory)
                .write(ExtensionSource.class, ExtensionProtocol.Provider.class);
        loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, getClass().getClassLoader());
        protocol = ServiceLoader.load(ExtensionProtocol.Provider.class, loader).stream()
                .filter(provider -> provider.type().getName().startsWith("example."))
                .map(provider -> provider.get().protocols())
                .flatMap(Collection::stream)
                .findFirst()
                .orElseThrow();
        Path policy = directory.resolve("policy.json");
        Files.writeString(policy, POLICY);
        hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .grpcOnCards(true)
                .authentication(Authentication.named(List.of("required")))
                .auditCalls(true)
                .policy(PolicyFile.read(policy))
                .openTelemetry(telemetry)
                .extensions(extensions())
                .agents(agent("open"), agent("closed"), agent("quiet"), agent("grpc"))
                .start();
        outsider = new Outsider(hub.url());
        key = hub.bootstrapKey().orElseThrow();
        headers = new String[] {"X-Api-Key", key, "A2A-Version", "1.0"};
    }

    @AfterAll
    void stop() throws Exception {
        hub.close();
        telemetry.close();
        receiver.close();
        loader.close();
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Echoes")
                .streaming(!name.equals("quiet"))
                .handle((request, reply) -> reply.complete(request.text()));
    }

    private Operation.ExtensionCall<?> read(String room) throws Exception {
        Constructor<?> read = loader.loadClass("example.Thermometer$Read").getConstructor(String.class);
        return (Operation.ExtensionCall<?>) read.newInstance(room);
    }

    private Operation.ExtensionWatch<?> watch(String room, long after) throws Exception {
        Constructor<?> watch = loader.loadClass("example.Thermometer$Watch").getConstructor(String.class, long.class);
        return (Operation.ExtensionWatch<?>) watch.newInstance(room, after);
    }

    private AgentClient client(String binding, String agent) {
        return AgentClient.builder()
                .extension(protocol)
                .prefer(binding)
                .apiKey(key)
                .connect(hub.agentUrl(agent));
    }

    @Test
    @DisplayName("the sample is a module: a package that its modules do not export is refused")
    void hiddenPackagesAreRefused(@TempDir Path other) throws Exception {
        String errors = SampleJar.of("../docs/extensions.md", "Thermometer", other)
                .and(
                        "Peeking",
                        "package example; class Peeking { dev.parley.dialect.v1.V1Model model; }",
                        "dev.parley.dialect")
                .compile();

        assertThat(errors).contains("package dev.parley.dialect.v1 is not visible", "does not export it");
    }

    // ---- Bindings

    @Test
    @DisplayName("an extension of a jar is answered over JSON-RPC")
    void rpc() throws Exception {
        Shown reading = outsider.result("/agents/open", READ, KITCHEN, headers);

        assertThat(reading.at("celsius").value()).isEqualTo(20.5);
    }

    @Test
    @DisplayName("an extension of a jar is answered over REST, with variables in its path")
    void rest() throws Exception {
        HttpResponse<String> answer = outsider.get("/agents/open/rooms/kitchen", headers);

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(Shown.of(answer.body()).at("celsius").value()).isEqualTo(20.5);
        assertThat(outsider.get("/agents/open/rooms/cellar", headers).statusCode())
                .isEqualTo(400);
        assertThat(outsider.send("DELETE", "/agents/open/rooms/kitchen", headers)
                        .statusCode())
                .isEqualTo(405);
    }

    private Operation.ExtensionCall<?> average() throws Exception {
        Class<?> unit = loader.loadClass("example.Thermometer$Unit");
        Constructor<?> average = loader.loadClass("example.Thermometer$Average")
                .getConstructor(String.class, Instant.class, Duration.class, unit);
        return (Operation.ExtensionCall<?>) average.newInstance(
                "kitchen",
                Instant.parse("2027-01-31T12:00:00Z"),
                Duration.ofMinutes(30),
                requireNonNull(unit.getEnumConstants())[1]);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    @DisplayName(
            "a request and an answer with an enum, a time, a duration and a record inside travel over each binding")
    void typedMembersTravel(String binding) throws Exception {
        try (AgentClient client = client(binding, "open")) {
            assertThat(client.call(average(), CallContext.anonymous()))
                    .hasToString("Averaged[from=2027-01-31T11:30:00Z, average=68.0, unit=FAHRENHEIT,"
                            + " newest=Reading[number=3, celsius=20.5]]");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "until=noon | until | a time such as",
                "until=2027-01-31T12:00:00Z&unit=kelvin | unit | celsius, fahrenheit",
                "until=2027-01-31T12:00:00Z&windowSeconds=86401 | windowSeconds | 0 to 86400",
                "until=2027-01-31T12:00:00Z&until=2027-01-31T12:00:00Z | until | once",
                "unit=celsius | until | missing"
            })
    @DisplayName("a member of another type is refused with its name and what is expected")
    void otherTypesAreRefused(String query, String field, String expected) throws Exception {
        HttpResponse<String> refused = outsider.get("/agents/open/rooms/kitchen/average?" + query, headers);

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains(field, expected);
    }

    @Test
    @DisplayName("the record of a request is described in /openapi.json: types, choices, ranges and help")
    void requestsAreDescribed() throws Exception {
        Shown path = Shown.of(outsider.get("/openapi.json", headers).body())
                .at("paths", "/agents/{agent}/rooms/{room}/average", "get");

        assertThat(path.at("summary").text()).isEqualTo("Average the temperature of a room over a window");
        assertThat(path.at("parameters").text())
                .contains("Length of the window; default: 1h.", "maximum=86400", "date-time", "fahrenheit");
        Shown answer = path.at("responses", "200", "content", "application/json", "schema", "properties");
        assertThat(answer.at("unit", "enum").value()).isEqualTo(List.of("celsius", "fahrenheit"));
        assertThat(answer.at("newest", "properties").names()).containsExactlyInAnyOrder("number", "celsius");
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    @DisplayName("a client calls and watches the operations of an extension over each binding")
    void clientsCallAndWatch(String binding) throws Exception {
        try (AgentClient client = client(binding, "open")) {
            Object reading = client.call(read("kitchen"), CallContext.anonymous());

            assertThat(reading).hasToString("Reading[number=3, celsius=20.5]");
            assertThat(elements(client, watch("kitchen", 0), 3))
                    .containsExactly(
                            "Reading[number=1, celsius=19.5]",
                            "Reading[number=2, celsius=20.0]",
                            "Reading[number=3, celsius=20.5]");
            assertThatThrownBy(() -> client.call(read("cellar"), CallContext.anonymous()))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refused -> assertThat(refused.error()).isEqualTo(A2AError.INVALID_PARAMS));
        }
    }

    private static List<String> elements(AgentClient client, Operation.ExtensionWatch<?> watch, int count)
            throws InterruptedException {
        var elements = new ArrayList<String>();
        try (Feed<?> feed = client.watch(watch, CallContext.anonymous())) {
            Instant deadline = Instant.now().plusSeconds(30);
            while (elements.size() < count && Instant.now().isBefore(deadline)) {
                List<?> next = feed.next(Duration.ofSeconds(1));
                if (next == null) {
                    break;
                }
                next.forEach(one -> elements.add(one.toString()));
            }
        }
        return elements;
    }

    @Test
    @DisplayName("a message that carries an operation of an extension is answered by an artifact")
    void insideMessages() throws Exception {
        String uri = hub.url() + protocol.uri();
        try (AgentClient client = client("JSONRPC", "open")) {
            var part = new Part.Data(Map.of("room", "kitchen"), null, null, Map.of(uri + "/method", READ));
            var message = new Message("m-1", Role.USER, List.of(part), null, null, Map.of(), List.of(uri), List.of());

            var answer = (Task) client.call(Operation.SendMessage.of(message), CallContext.anonymous());

            assertThat(answer.artifacts()).hasSize(1);
            assertThat(((Part.Data) answer.artifacts().getFirst().parts().getFirst()).data())
                    .isEqualTo(Map.of("number", 3, "celsius", 20.5));
        }
    }

    @Test
    @DisplayName("Last-Event-ID resumes a stream of an extension after that element, over JSON-RPC and REST")
    void lastEventIdResumes() throws Exception {
        var resuming = new ArrayList<>(List.of(headers));
        resuming.addAll(List.of("Last-Event-ID", "2"));
        String[] all = resuming.toArray(String[]::new);
        String rpc = outsider.post(
                        "/agents/open",
                        "{'jsonrpc':'2.0','id':1,'method':'" + WATCH + "','params':" + KITCHEN + "}",
                        all)
                .body();
        String rest =
                outsider.post("/agents/open/rooms/kitchen:watch", "{}", all).body();
        String get = outsider.get("/agents/open/rooms/kitchen:watch", headers).body();

        assertThat(rpc).contains("id: 3\n").contains("\"celsius\":20.5").doesNotContain("id: 2\n");
        assertThat(rest).startsWith("id: 3\ndata: {").doesNotContain("id: 2\n");
        assertThat(get).contains("id: 1\n", "id: 2\n", "id: 3\n");
    }

    @Test
    @DisplayName("last-event-id resumes a stream of an extension after that element, over gRPC")
    void lastEventIdResumesOverGrpc() {
        MethodDescriptor<Struct, Value> method = MethodDescriptor.<Struct, Value>newBuilder()
                .setType(MethodDescriptor.MethodType.SERVER_STREAMING)
                .setFullMethodName("thermometer.v1.Thermometer/Watch")
                .setRequestMarshaller(ProtoUtils.marshaller(Struct.getDefaultInstance()))
                .setResponseMarshaller(ProtoUtils.marshaller(Value.getDefaultInstance()))
                .build();
        Struct kitchen = Struct.newBuilder()
                .putFields("room", Value.newBuilder().setStringValue("kitchen").build())
                .build();
        var metadata = new Metadata();
        Map.of("x-api-key", key, "x-a2a-agent", "open", "last-event-id", "2")
                .forEach((name, value) -> metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
        ManagedChannel channel = OkHttpChannelBuilder.forTarget(hub.url().replace("http://", ""))
                .usePlaintext()
                .intercept(MetadataUtils.newAttachHeadersInterceptor(metadata))
                .build();
        try {
            var readings = new ArrayList<Value>();
            ClientCalls.blockingServerStreamingCall(
                            channel, method, CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS), kitchen)
                    .forEachRemaining(readings::add);

            assertThat(readings)
                    .extracting(reading ->
                            reading.getStructValue().getFieldsOrThrow("number").getNumberValue())
                    .containsExactly(3.0);
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    @DisplayName("an agent that does not stream refuses the streams of its extensions")
    void agentsThatDoNotStream() throws Exception {
        assertThat(outsider.code("/agents/quiet", WATCH, KITCHEN, headers)).isEqualTo(-32004);
        assertThat(outsider.result("/agents/quiet", READ, KITCHEN, headers)
                        .at("number")
                        .value())
                .isEqualTo(3);
    }

    // ---- Around them

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    @DisplayName("a rule of the policy denies an operation of an extension by its name, over each binding")
    void policiesNameOperations(String binding) throws Exception {
        try (AgentClient client = client(binding, "closed")) {
            for (Operation.Extension operation : List.of(read("kitchen"), watch("kitchen", 0))) {
                assertThatThrownBy(() -> {
                            if (operation instanceof Operation.ExtensionCall<?> call) {
                                client.call(call, CallContext.anonymous());
                            } else {
                                client.watch((Operation.ExtensionWatch<?>) operation, CallContext.anonymous());
                            }
                        })
                        .isInstanceOfSatisfying(
                                A2AException.class,
                                refused -> assertThat(refused.error()).isEqualTo(A2AError.PERMISSION_DENIED));
            }
        }
    }

    @Test
    @DisplayName("a message cannot carry an operation past the policy")
    void messagesDoNotPassThePolicy() throws Exception {
        String uri = hub.url() + protocol.uri();
        try (AgentClient client = client("JSONRPC", "closed")) {
            var part = new Part.Data(Map.of("room", "kitchen"), null, null, Map.of(uri + "/method", READ));
            var message = new Message("m-2", Role.USER, List.of(part), null, null, Map.of(), List.of(uri), List.of());

            var answer = (Task) client.call(Operation.SendMessage.of(message), CallContext.anonymous());

            assertThat(answer.artifacts().toString())
                    .contains("PERMISSION_DENIED")
                    .doesNotContain("20.5");
        }
    }

    @Test
    @DisplayName("calls of an extension need a key, and leave spans and rows in the audit")
    void observed() throws Exception {
        assertThat(outsider.get("/agents/open/rooms/kitchen", "A2A-Version", "1.0")
                        .statusCode())
                .isEqualTo(401);
        outsider.result("/agents/open", READ, KITCHEN, headers);
        outsider.get("/agents/open/rooms/kitchen:watch", headers);

        assertThat(receiver.span(Span.SpanKind.SPAN_KIND_SERVER, READ + " open", Map.of()))
                .isNotNull();
        assertThat(receiver.span(Span.SpanKind.SPAN_KIND_SERVER, WATCH + " open", Map.of()))
                .isNotNull();
        Eventually.asserted(
                "rows of both operations",
                () -> assertThat(calls()).contains("operation=thermometer/watch", "operation=thermometer/read"));
        assertThat(outsider.get("/extensions", headers).body()).contains(READ, WATCH, protocol.uri());
    }

    @Test
    @DisplayName("calls of an extension over gRPC leave spans and rows in the audit")
    void observedOverGrpc() throws Exception {
        try (AgentClient client = client("GRPC", "grpc")) {
            client.call(read("kitchen"), CallContext.anonymous());
            elements(client, watch("kitchen", 0), 3);
        }

        assertThat(receiver.span(Span.SpanKind.SPAN_KIND_SERVER, READ + " grpc", Map.of()))
                .isNotNull();
        assertThat(receiver.span(Span.SpanKind.SPAN_KIND_SERVER, WATCH + " grpc", Map.of()))
                .isNotNull();
        Eventually.asserted(
                "a row of the stream",
                () -> assertThat(calls()).contains("target=grpc", "operation=thermometer/watch"));
    }

    /** Rows of the audit about calls. */
    private String calls() throws Exception {
        return Shown.of(outsider.get("/admin/audit?action=call.answered", headers)
                        .body())
                .toString();
    }

    private List<AgentExtension> extensions() {
        var extensions = new ArrayList<AgentExtension>();
        ServiceLoader.load(ExtensionSource.class, loader).forEach(source -> extensions.addAll(source.extensions()));
        return extensions;
    }

    @ParameterizedTest
    @ValueSource(strings = {"JSONRPC", "HTTP+JSON", "GRPC"})
    @DisplayName("calls of an extension count in metrics by its name, over each binding")
    void counted(String binding) throws Exception {
        try (Hub counting = Hub.builder()
                        .inMemory()
                        .port(0)
                        .grpcOnCards(true)
                        .extensions(extensions())
                        .agents(agent("open"))
                        .start();
                AgentClient client = AgentClient.builder()
                        .extension(protocol)
                        .prefer(binding)
                        .connect(counting.agentUrl("open"))) {
            var caller = new Outsider(counting.url());
            client.call(read("kitchen"), CallContext.anonymous());
            elements(client, watch("kitchen", 0), 3);

            for (String name : List.of(READ, WATCH)) {
                assertThat(caller.get("/metrics").body().lines())
                        .anyMatch(line -> line.startsWith("parley_requests_total{agent=\"open\"")
                                && line.contains("operation=\"" + name + "\""));
            }
        }
    }

    @Test
    @DisplayName("the limit of a caller counts calls of an extension")
    void limited() throws Exception {
        Path policy = directory.resolve("limits.json");
        Files.writeString(policy, "{\"limits\": {\"principal\": {\"perDay\": 2}}}");
        try (Hub limited = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .policy(PolicyFile.read(policy))
                .grpcOnCards(true)
                .extensions(extensions())
                .agents(agent("open"))
                .start()) {
            var caller = new Outsider(limited.url());
            String[] own = {"X-Api-Key", limited.bootstrapKey().orElseThrow(), "A2A-Version", "1.0"};
            caller.result("/agents/open", READ, KITCHEN, own);
            caller.result("/agents/open", READ, KITCHEN, own);

            assertThat(caller.get("/agents/open/rooms/kitchen", own).statusCode())
                    .isEqualTo(429);
            try (AgentClient client = AgentClient.builder()
                    .extension(protocol)
                    .prefer("GRPC")
                    .apiKey(own[1])
                    .connect(limited.agentUrl("open"))) {
                assertThatThrownBy(() -> client.call(read("kitchen"), CallContext.anonymous()))
                        .isInstanceOfSatisfying(
                                A2AException.class,
                                refused -> assertThat(refused.error()).isEqualTo(A2AError.RATE_LIMITED));
            }
        }
    }
}
