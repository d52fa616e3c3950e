package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc.A2AServiceBlockingStub;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the hub shows of A2A 1.1, over each binding, to someone who has nothing but HTTP, JSON and the messages of gRPC. */
@Timeout(60)
final class PreviewTest {
    private static final String AGENT = "/agents/steps";
    private static final String[] V1 = {"A2A-Version", "1.0"};

    private final AtomicInteger runs = new AtomicInteger();
    private Hub hub;
    private Outsider outsider;
    private ManagedChannel channel;

    /** The bindings of A2A, as a caller uses them for the same two operations. */
    enum Binding {
        JSONRPC {
            @Override
            String send(PreviewTest test, String message, String key) throws Exception {
                Shown answer = test.outsider.rpc(AGENT, "SendMessage", "{'message':" + message + "}", keyed(key));
                return answer.has("error") ? answer.at("error", "message").text() : id(answer.at("result"));
            }

            @Override
            List<Seen> after(PreviewTest test, String id, long cursor) throws Exception {
                return read(test.outsider
                        .post(
                                AGENT,
                                "{'jsonrpc':'2.0','id':1,'method':'SubscribeToTask','params':{'id':'" + id
                                        + "','currentGeneration':" + cursor + "}}",
                                V1)
                        .body());
            }
        },
        REST {
            @Override
            String send(PreviewTest test, String message, String key) throws Exception {
                Shown answer = Shown.of(test.outsider
                        .post(AGENT + "/message:send", "{'message':" + message + "}", keyed(key))
                        .body());
                return answer.has("error") ? answer.at("error", "message").text() : id(answer);
            }

            @Override
            List<Seen> after(PreviewTest test, String id, long cursor) throws Exception {
                return read(test.outsider
                        .get(AGENT + "/tasks/" + id + ":subscribe?currentGeneration=" + cursor, V1)
                        .body());
            }
        },
        GRPC {
            @Override
            String send(PreviewTest test, String message, String key) {
                Shown said = Shown.of(message.replace('\'', '"'));
                var request = SendMessageRequest.newBuilder()
                        .setTenant("steps")
                        .setMessage(Message.newBuilder()
                                .setMessageId(said.at("messageId").text())
                                .setTaskId(
                                        said.has("taskId") ? said.at("taskId").text() : "")
                                .setRole(Role.ROLE_USER)
                                .addParts(Part.newBuilder()
                                        .setText(said.at("parts", 0, "text").text())))
                        .build();
                try {
                    var task = test.grpc("idempotency-key", key)
                            .sendMessage(request)
                            .getTask();
                    assertThat(varint(task, 7)).isPositive();
                    return task.getId();
                } catch (StatusRuntimeException refused) {
                    return String.valueOf(refused.getStatus().getDescription());
                }
            }

            @Override
            List<Seen> after(PreviewTest test, String id, long cursor) {
                var request = SubscribeToTaskRequest.newBuilder()
                        .setTenant("steps")
                        .setId(id)
                        .build();
                var seen = new ArrayList<Seen>();
                Iterator<StreamResponse> events =
                        test.grpc("last-event-id", String.valueOf(cursor)).subscribeToTask(request);
                events.forEachRemaining(event -> seen.add(Seen.of(event)));
                return seen;
            }
        };

        /** Sends a message under a key, and returns the id of its task, or what the refusal says. */
        abstract String send(PreviewTest test, String message, String key) throws Exception;

        /** Subscribes to a task that has ended, after the event with that number. */
        abstract List<Seen> after(PreviewTest test, String id, long cursor) throws Exception;

        private static String id(Shown answer) {
            assertThat(answer.at("task", "generation").value())
                    .as(answer.toString())
                    .isInstanceOf(String.class);
            return answer.at("task", "id").text();
        }

        private static String[] keyed(String key) {
            return new String[] {"A2A-Version", "1.0", "Idempotency-Key", key};
        }
    }

    /** An event as a caller sees it: its number, and the kind of the event. */
    record Seen(long generation, String kind) {
        static Seen of(StreamResponse event) {
            return switch (event.getPayloadCase()) {
                case TASK -> new Seen(varint(event.getTask(), 7), "task");
                case STATUS_UPDATE -> new Seen(varint(event.getStatusUpdate(), 5), "statusUpdate");
                case ARTIFACT_UPDATE -> new Seen(varint(event.getArtifactUpdate(), 7), "artifactUpdate");
                default -> throw new AssertionError(event);
            };
        }
    }

    @BeforeEach
    void start() {
        host(Hub.builder().inMemory().preview("1.1"));
    }

    private void host(HubBuilder builder) {
        hub = builder.port(0).agents(steps("steps"), steps("others")).start();
        outsider = new Outsider(hub.url());
        channel = OkHttpChannelBuilder.forTarget(hub.url().replace("http://", ""))
                .usePlaintext()
                .build();
    }

    private Agent steps(String name) {
        return Agent.named(name, "Does its work in steps").handle((request, reply) -> {
            runs.incrementAndGet();
            if (request.text().equals("ask")) {
                reply.askForInput("which one?");
                return;
            }
            reply.working("begun");
            try (var pieces = reply.stream("pieces")) {
                pieces.append("one ");
                pieces.append("two ");
                pieces.last("three");
            }
            reply.complete();
        });
    }

    @AfterEach
    void stop() throws Exception {
        channel.shutdownNow();
        hub.close();
        assertThat(channel.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }

    private A2AServiceBlockingStub grpc(String name, String value) {
        var metadata = new Metadata();
        metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        return A2AServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    private static long varint(com.google.protobuf.Message message, int field) {
        List<Long> numbers = message.getUnknownFields().getField(field).getVarintList();
        return numbers.isEmpty() ? 0 : numbers.getLast();
    }

    /** Reads the events of a stream over HTTP; each has its number in its id, too. */
    private static List<Seen> read(String stream) {
        var seen = new ArrayList<Seen>();
        long id = 0;
        for (String line : stream.split("\n", -1)) {
            if (line.startsWith("id: ")) {
                id = Long.parseLong(line.substring("id: ".length()));
            } else if (line.startsWith("data: ")) {
                Shown data = Shown.of(line.substring("data: ".length()));
                Shown event = data.has("result") ? data.at("result") : data;
                String kind = event.names().getFirst();
                Object generation = event.at(kind, "generation").value();
                assertThat(generation).as(line).isEqualTo(String.valueOf(id));
                seen.add(new Seen(id, kind));
            }
        }
        return seen;
    }

    private static String message(String id, String text, @Nullable String taskId) {
        return "{'messageId':'" + id + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]"
                + (taskId == null ? "" : ",'taskId':'" + taskId + "'") + "}";
    }

    private String ended() throws Exception {
        return outsider.result(AGENT, "SendMessage", "{'message':" + message("m-1", "go", null) + "}", V1)
                .at("task", "id")
                .text();
    }

    @Test
    void eachEventHasItsNumberFromOneWithoutAGap() throws Exception {
        List<Seen> sent = read(outsider.post(
                        AGENT,
                        "{'jsonrpc':'2.0','id':1,'method':'SendStreamingMessage','params':{'message':"
                                + message("m-1", "go", null) + "}}",
                        V1)
                .body());

        assertThat(sent).hasSizeGreaterThan(4);
        assertThat(sent.getFirst().kind()).isEqualTo("task");
        assertThat(sent.stream().map(Seen::generation).toList())
                .isEqualTo(LongStream.rangeClosed(1, sent.size()).boxed().toList());
    }

    @Test
    void theNumbersAreTheSameInEachBinding() throws Exception {
        String id = ended();

        List<Seen> rpc = Binding.JSONRPC.after(this, id, 0);
        assertThat(rpc).hasSizeGreaterThan(4);
        assertThat(Binding.REST.after(this, id, 0)).isEqualTo(rpc);
        assertThat(Binding.GRPC.after(this, id, 0)).isEqualTo(rpc);
    }

    @Test
    void aTaskHasTheNumberOfItsNewestEventHoweverItIsRead() throws Exception {
        String id = ended();
        long last = Binding.REST.after(this, id, 0).getLast().generation();
        var grpc = GetTaskRequest.newBuilder().setTenant("steps").setId(id).build();

        assertThat(outsider.result(AGENT, "GetTask", "{'id':'" + id + "'}", V1)
                        .at("generation")
                        .text())
                .isEqualTo(String.valueOf(last));
        assertThat(Shown.of(outsider.get(AGENT + "/tasks/" + id, V1).body())
                        .at("generation")
                        .text())
                .isEqualTo(String.valueOf(last));
        assertThat(outsider.result(AGENT, "ListTasks", "{'includeArtifacts':true}", V1)
                        .at("tasks", 0, "generation")
                        .text())
                .isEqualTo(String.valueOf(last));
        assertThat(varint(grpc("x", "y").getTask(grpc), 7)).isEqualTo(last);
    }

    @ParameterizedTest
    @EnumSource(Binding.class)
    void aStreamGoesOnAfterEachCursorWithoutGapOrRepetition(Binding binding) throws Exception {
        String id = ended();
        List<Seen> all = binding.after(this, id, 0);

        for (int seen = 1; seen <= all.size(); seen++) {
            assertThat(binding.after(this, id, all.get(seen - 1).generation()))
                    .isEqualTo(all.subList(seen, all.size()));
        }
    }

    @Test
    void aCursorGoesOnWithEventsThatAreYetToCome() throws Exception {
        String id = outsider.result(AGENT, "SendMessage", "{'message':" + message("m-1", "ask", null) + "}", V1)
                .at("task", "id")
                .text();
        Shown asked = outsider.result(AGENT, "GetTask", "{'id':'" + id + "'}", V1);
        long cursor = Long.parseLong(asked.at("generation").text());

        try (var frames = outsider.stream(
                AGENT, "SubscribeToTask", "{'id':'" + id + "','currentGeneration':'" + cursor + "'}", V1)) {
            outsider.result(AGENT, "SendMessage", "{'message':" + message("m-2", "this", id) + "}", V1);
            var generations = frames.all().stream()
                    .map(frame -> frame.at("result"))
                    .map(event ->
                            event.at(event.names().getFirst(), "generation").text())
                    .map(Long::parseLong)
                    .toList();

            assertThat(generations).isSorted().doesNotHaveDuplicates();
            assertThat(generations.getFirst()).isGreaterThan(cursor);
            assertThat(generations.getLast())
                    .isEqualTo(Binding.REST.after(this, id, 0).getLast().generation());
        }
    }

    @Test
    @DisplayName("over REST the cursor may be a member of the body, too")
    void theCursorMayBeInTheBody() throws Exception {
        String id = ended();
        List<Seen> all = Binding.REST.after(this, id, 0);

        assertThat(read(outsider.post(AGENT + "/tasks/" + id + ":subscribe", "{'currentGeneration':'2'}", V1)
                        .body()))
                .isEqualTo(all.subList(2, all.size()));
    }

    @Test
    void theIdOfAHeaderIsNewerThanTheCursorOfTheAddress() throws Exception {
        String id = ended();
        List<Seen> all = Binding.REST.after(this, id, 0);
        String body = outsider.get(
                        AGENT + "/tasks/" + id + ":subscribe?currentGeneration=1",
                        "A2A-Version",
                        "1.0",
                        "Last-Event-ID",
                        "3")
                .body();

        assertThat(read(body)).isEqualTo(all.subList(3, all.size()));
    }

    @Test
    void aCursorBehindTheEndIsRefusedWithTheRange() throws Exception {
        String id = ended();

        assertThat(outsider.rpc(AGENT, "SubscribeToTask", "{'id':'" + id + "','currentGeneration':1000}", V1)
                        .at("error", "message")
                        .text())
                .contains("1000 (expected: 0 to ");
        assertThatThrownBy(() -> Binding.GRPC.after(this, id, 1000)).hasMessageContaining("1000 (expected: 0 to ");
    }

    @Test
    void theNumbersAreTheSameAfterARestart(@TempDir Path data) throws Exception {
        stop();
        host(Hub.builder().data(data).preview("1.1"));
        String id = ended();
        List<Seen> before = Binding.GRPC.after(this, id, 0);

        stop();
        host(Hub.builder().data(data).preview("1.1"));

        assertThat(Binding.GRPC.after(this, id, 0)).isEqualTo(before);
        assertThat(Binding.JSONRPC.after(this, id, 2)).isEqualTo(before.subList(2, before.size()));
        assertThat(outsider.result(AGENT, "GetTask", "{'id':'" + id + "'}", V1)
                        .at("generation")
                        .text())
                .isEqualTo(String.valueOf(before.getLast().generation()));
    }

    @ParameterizedTest
    @EnumSource(Binding.class)
    void aRepetitionUnderAKeyLeadsToTheSameTask(Binding binding) throws Exception {
        String first = binding.send(this, message("m-1", "go", null), "key-1");

        for (Binding other : Binding.values()) { // clients make a new id for each attempt
            assertThat(other.send(this, message("m-" + other, "go", null), "key-1"))
                    .isEqualTo(first);
        }
        assertThat(runs).hasValue(1);
        assertThat(binding.send(this, message("m-2", "go", null), "key-2")).isNotEqualTo(first);
        assertThat(runs).hasValue(2);
    }

    @ParameterizedTest
    @EnumSource(Binding.class)
    void aRepetitionMayLeaveTheKeyOutOrBringOne(Binding binding) throws Exception {
        String keyed = binding.send(this, message("m-1", "go", null), "key-1");
        String plain = unkeyed(message("m-2", "go", null));

        assertThat(unkeyed(message("m-1", "go", null))).isEqualTo(keyed);
        assertThat(binding.send(this, message("m-2", "go", null), "key-2")).isEqualTo(plain);
        assertThat(binding.send(this, message("m-1", "go", null), "key-3")).isEqualTo(keyed);
        assertThat(runs).hasValue(2);
        assertThat(unkeyed(message("m-1", "stay", null))).contains("message.messageId", "already used");
        assertThat(binding.send(this, message("m-2", "stay", null), "key-4"))
                .contains("message.messageId", "already used");
    }

    @Test
    void anAnswerWithAKeyAndWithoutIsTakenOnce() throws Exception {
        String id = unkeyed(message("m-1", "ask", null));
        Binding.REST.send(this, message("m-2", "ask", id), "key-2");

        assertThat(unkeyed(message("m-2", "ask", id))).isEqualTo(id);
        assertThat(runs).hasValue(2);
    }

    @Test
    void oneMessageWithAKeyAndWithoutAtTheSameTimeIsOneTask() throws Exception {
        var sends = new ArrayList<Callable<String>>();
        for (int i = 0; i < 12; i++) {
            Binding binding = Binding.values()[i % Binding.values().length];
            String message = message("m-1", "go", null);
            String key = "key-" + i % 2;
            sends.add(i % 4 == 0 ? () -> unkeyed(message) : () -> binding.send(this, message, key));
        }
        var ids = new HashSet<String>();
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<String> sent : pool.invokeAll(sends)) {
                ids.add(sent.get());
            }
        }

        assertThat(ids).hasSize(1);
        assertThat(runs).hasValue(1);
    }

    /** Sends a message without a key, and returns the id of its task, or what the refusal says. */
    private String unkeyed(String message) throws Exception {
        Shown answer = outsider.rpc(AGENT, "SendMessage", "{'message':" + message + "}", V1);
        return answer.has("error")
                ? answer.at("error", "message").text()
                : answer.at("result", "task", "id").text();
    }

    @ParameterizedTest
    @EnumSource(Binding.class)
    void anotherMessageUnderAUsedKeyIsRefused(Binding binding) throws Exception {
        binding.send(this, message("m-1", "go", null), "key-1");

        assertThat(binding.send(this, message("m-1", "stay", null), "key-1"))
                .contains("Idempotency-Key")
                .contains("already used for another message (expected: a new key)");
        assertThat(runs).hasValue(1);
    }

    @Test
    void theMessageUnderAKeyIsComparedWithTheOneThatCameWithIt(@TempDir Path data) throws Exception {
        stop();
        host(Hub.builder().data(data).preview("1.1"));
        String id = Binding.REST.send(this, message("m-1", "ask", null), "key-1");
        Binding.REST.send(this, message("m-2", "ask", id), "key-2");
        Binding.REST.send(this, message("m-3", "this", id), "key-3");

        for (Binding binding : Binding.values()) {
            assertThat(binding.send(this, message("m-4", "this", id), "key-1"))
                    .contains("Idempotency-Key", "\"key-1\": already used for another message");
            assertThat(binding.send(this, message("m-5", "ask", id), "key-3")).contains("already used");
            assertThat(binding.send(this, message("m-6", "ask", id), "key-2")).isEqualTo(id);
            assertThat(binding.send(this, message("m-7", "this", id), "key-3")).isEqualTo(id);
        }
        assertThat(runs).hasValue(3);
    }

    @Test
    void aKeyIsThatOfOneAgentAndNoIdOfAMessage() throws Exception {
        String first = Binding.REST.send(this, message("m-1", "go", null), "key-1");
        Shown other = outsider.result(
                "/agents/others",
                "SendMessage",
                "{'message':" + message("m-1", "go", null) + "}",
                "A2A-Version",
                "1.0",
                "Idempotency-Key",
                "key-1");
        Shown id = outsider.result(AGENT, "SendMessage", "{'message':" + message("key-1", "go", null) + "}", V1);

        assertThat(List.of(
                        first,
                        other.at("task", "id").text(),
                        id.at("task", "id").text()))
                .doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @EnumSource(Binding.class)
    void anAnswerUnderAKeyIsTakenOnce(Binding binding) throws Exception {
        String id = binding.send(this, message("m-1", "ask", null), "key-1");
        binding.send(this, message("m-2", "this", id), "key-2");

        assertThat(binding.send(this, message("m-3", "this", id), "key-2")).isEqualTo(id);
        assertThat(runs).hasValue(2);
    }

    @Test
    void oneKeyAtTheSameTimeIsOneTask() throws Exception {
        var sends = new ArrayList<Callable<String>>();
        for (int i = 0; i < 12; i++) {
            Binding binding = Binding.values()[i % Binding.values().length];
            String message = message("m-" + i, "go", null);
            sends.add(() -> binding.send(this, message, "key-1"));
        }
        var ids = new HashSet<String>();
        try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<String> sent : pool.invokeAll(sends)) {
                ids.add(sent.get());
            }
        }

        assertThat(ids).hasSize(1);
        assertThat(runs).hasValue(1);
    }

    @Test
    void aKeyHoldsOverARestart(@TempDir Path data) throws Exception {
        stop();
        host(Hub.builder().data(data).preview("1.1"));
        String first = Binding.JSONRPC.send(this, message("m-1", "go", null), "key-1");

        stop();
        host(Hub.builder().data(data).preview("1.1"));

        assertThat(Binding.REST.send(this, message("m-2", "go", null), "key-1")).isEqualTo(first);
        assertThat(Binding.REST.send(this, message("m-2", "stay", null), "key-1"))
                .contains("already used");
    }

    @Test
    void whatIsNoKeyIsRefused() throws Exception {
        for (String key : List.of("two words", "k".repeat(256))) {
            assertThat(Binding.REST.send(this, message("m-1", "go", null), key))
                    .contains("Idempotency-Key", "expected: 1 to 255 visible characters of ASCII");
        }
        assertThat(runs).hasValue(0);
    }

    @Test
    void notificationsHaveTheNumbersOfTheirEvents() throws Exception {
        stop();
        host(Hub.builder().inMemory().preview("1.1").webhookAllow(List.of("127.0.0.1")));
        try (var hook = new Hook()) {
            String sent = "{'message':" + message("m-1", "go", null)
                    + ",'configuration':{'taskPushNotificationConfig':{'url':'" + hook.url() + "'}}}";
            String id = outsider.result(AGENT, "SendMessage", sent, V1)
                    .at("task", "id")
                    .text();

            for (Seen seen : Binding.REST.after(this, id, 0)) {
                Shown told = hook.next().body();
                assertThat(told.at(seen.kind(), "generation").text()).isEqualTo(String.valueOf(seen.generation()));
            }
        }
    }

    @Test
    void cardsNameTheMetadataOfTheIssuerToWhichARefusalLeads() throws Exception {
        stop();
        host(Hub.builder()
                .inMemory()
                .preview("1.1")
                .callers(Callers.builder()
                        .oauthClient("shop", "shop-client", "secret-of-the-shop")
                        .build())
                .authentication(Authentication.of(Scheme.OAUTH2)));
        Shown schemes = Shown.of(
                        outsider.get(AGENT + "/.well-known/agent-card.json").body())
                .at("securitySchemes");
        String card = schemes.at(schemes.names().getFirst(), "oauth2SecurityScheme", "oauth2MetadataUrl")
                .text();
        String challenge = outsider.get(AGENT + "/tasks", V1)
                .headers()
                .firstValue("WWW-Authenticate")
                .orElseThrow();
        String resource = challenge.replaceFirst(".*resource_metadata=\"" + hub.url() + "([^\"]*)\".*", "$1");
        String issuer = Shown.of(outsider.get(resource).body())
                .at("authorization_servers", 0)
                .text();

        assertThat(card).isEqualTo(issuer + "/.well-known/oauth-authorization-server");
        assertThat(Shown.of(outsider.get(card.substring(hub.url().length())).body())
                        .at("token_endpoint")
                        .text())
                .isEqualTo(hub.url() + "/oauth/token");
    }

    @Test
    @DisplayName("the client goes on after a number over gRPC, as it does over HTTP")
    void theClientGoesOnAfterANumberOverGrpc() throws Exception {
        stop();
        host(Hub.builder().inMemory().preview("1.1").grpcOnCards(true));
        String id = ended();
        List<Seen> all = Binding.GRPC.after(this, id, 0);
        try (var client = AgentClient.builder().prefer("GRPC").connect(hub.agentUrl("steps"));
                var stream = client.subscribe(id, 2)) {
            var numbers = new ArrayList<Long>();
            while (stream.hasNext()) {
                stream.next();
                numbers.add(stream.sequence());
            }

            assertThat(client.address().protocolBinding()).isEqualTo("GRPC");
            assertThat(numbers)
                    .isEqualTo(all.subList(2, all.size()).stream()
                            .map(Seen::generation)
                            .toList());
        }
    }

    @Test
    @DisplayName("nothing of it is on the wire without the switch")
    void nothingIsThereWithoutTheSwitch() throws Exception {
        stop();
        host(Hub.builder().inMemory());
        String sent = outsider.post(AGENT + "/message:stream", "{'message':" + message("m-1", "go", null) + "}", V1)
                .body();
        String[] keyed = {"A2A-Version", "1.0", "Idempotency-Key", "key-1"};
        String one = "{'message':" + message("m-2", "go", null) + "}";
        String two = "{'message':" + message("m-3", "go", null) + "}";
        Shown first = outsider.result(AGENT, "SendMessage", one, keyed);
        String id = first.at("task", "id").text();

        assertThat(sent).contains("id: 1\n").doesNotContain("generation");
        assertThat(outsider.get(AGENT + "/tasks/" + id + ":subscribe?currentGeneration=1", V1)
                        .statusCode())
                .isEqualTo(400); // the cursor is not looked at, and the task has ended
        assertThat(first.at("task").has("generation")).isFalse();
        assertThat(outsider.result(AGENT, "SendMessage", two, keyed)
                        .at("task", "id")
                        .text())
                .isNotEqualTo(id);
        assertThat(outsider.get(AGENT + "/tasks/" + id, V1).body()).doesNotContain("generation");
        var grpc = GetTaskRequest.newBuilder().setTenant("steps").setId(id).build();
        assertThat(grpc("idempotency-key", "key-1")
                        .getTask(grpc)
                        .getUnknownFields()
                        .asMap())
                .isEqualTo(Map.of());
    }
}
