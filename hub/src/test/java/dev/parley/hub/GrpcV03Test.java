package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.dialect.grpc.v03.A2AServiceGrpc;
import dev.parley.dialect.grpc.v03.CancelTaskRequest;
import dev.parley.dialect.grpc.v03.CreateTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.DataPart;
import dev.parley.dialect.grpc.v03.FilePart;
import dev.parley.dialect.grpc.v03.GetTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.GetTaskRequest;
import dev.parley.dialect.grpc.v03.ListTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.Message;
import dev.parley.dialect.grpc.v03.Part;
import dev.parley.dialect.grpc.v03.PushNotificationConfig;
import dev.parley.dialect.grpc.v03.Role;
import dev.parley.dialect.grpc.v03.SendMessageRequest;
import dev.parley.dialect.grpc.v03.StreamResponse;
import dev.parley.dialect.grpc.v03.Task;
import dev.parley.dialect.grpc.v03.TaskPushNotificationConfig;
import dev.parley.dialect.grpc.v03.TaskState;
import dev.parley.dialect.grpc.v03.TaskSubscriptionRequest;
import dev.parley.engine.Agent;
import dev.parley.protocol.AgentCard;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What clients of A2A 0.3 are used to, over gRPC. */
@Timeout(60)
final class GrpcV03Test {
    private Hub hub;
    private ManagedChannel channel;
    private A2AServiceGrpc.A2AServiceBlockingStub stub;

    @BeforeEach
    void start() {
        var agent = Agent.named("talker", "Asks, or says it again")
                .inputModes("*/*")
                .handle((request, reply) -> {
                    if (request.text().equals("ask")) {
                        reply.askForInput("what?");
                    } else {
                        reply.complete(request.parts().toArray(dev.parley.protocol.Part[]::new));
                    }
                });
        var other = Agent.named("other", "Is not the default agent")
                .handle((request, reply) -> reply.complete("the other one"));
        hub = Hub.builder()
                .port(0)
                .inMemory()
                .grpcOnCards(true)
                .agents(agent, other)
                .webhookAllow(List.of("127.0.0.1"))
                .set("allowed-host", "agents.example.com")
                .drain(Duration.ZERO)
                .start();
        channel = OkHttpChannelBuilder.forTarget(hub.url().replace("http://", ""))
                .usePlaintext()
                .build();
        stub = A2AServiceGrpc.newBlockingStub(channel);
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        hub.close();
    }

    @Test
    void aSendWithoutSettingsWaits() {
        Task task = stub.sendMessage(message(text("hello"))).getTask();

        assertThat(task.getStatus().getState()).isEqualTo(TaskState.TASK_STATE_COMPLETED);
        assertThat(task.getArtifacts(0).getParts(0).getText()).isEqualTo("hello");
    }

    @Test
    void metadataNameAnAgentThatIsNotTheDefault() {
        Task task = named("other").sendMessage(message(text("hello"))).getTask();

        assertThat(task.getArtifacts(0).getParts(0).getText()).isEqualTo("the other one");
        assertThat(named("other")
                        .getTask(GetTaskRequest.newBuilder()
                                .setName("tasks/" + task.getId())
                                .build()))
                .isEqualTo(task);
        assertThatThrownBy(() -> named("nobody").sendMessage(message(text("hello"))))
                .hasMessageContaining("There is no such agent");
    }

    private A2AServiceGrpc.A2AServiceBlockingStub named(String agent) {
        var metadata = new Metadata();
        metadata.put(Metadata.Key.of("x-a2a-agent", Metadata.ASCII_STRING_MARSHALLER), agent);
        return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    @ParameterizedTest
    @CsvSource({
        "other.agents.example.com, the other one",
        "other.localhost:7420, the other one",
        "agents.example.com, hello",
        "localhost, hello"
    })
    void aHostNameOfItsOwnNamesAnAgent(String authority, String answer) {
        ManagedChannel elsewhere = OkHttpChannelBuilder.forTarget(hub.url().replace("http://", ""))
                .usePlaintext()
                .overrideAuthority(authority)
                .build();
        try {
            Task task = A2AServiceGrpc.newBlockingStub(elsewhere)
                    .sendMessage(message(text("hello")))
                    .getTask();

            assertThat(task.getArtifacts(0).getParts(0).getText()).isEqualTo(answer);
        } finally {
            elsewhere.shutdownNow();
        }
    }

    @Test
    @DisplayName("S67: over gRPC, too, nobody answers to a stranger's host name")
    void aHostNameOfStrangersIsRefused() {
        ManagedChannel elsewhere = OkHttpChannelBuilder.forTarget(hub.url().replace("http://", ""))
                .usePlaintext()
                .overrideAuthority("evil.example")
                .build();
        try {
            assertThatThrownBy(() -> A2AServiceGrpc.newBlockingStub(elsewhere).sendMessage(message(text("hello"))))
                    .hasMessageContaining("PERMISSION_DENIED");
        } finally {
            elsewhere.shutdownNow();
        }
    }

    @Test
    void theClientNamesTheTenantOfAnInterface() {
        AgentCard card = Json.read(
                bytes("{'name':'other','supportedInterfaces':[{'url':'"
                        + hub.url().replace("http://", "")
                        + "','protocolBinding':'GRPC','protocolVersion':'0.3','tenant':'other'}],'capabilities':{}}"),
                AgentCard.class);
        try (AgentClient client = AgentClient.of(card)) {
            assertThat(((dev.parley.protocol.Task) client.send("hello")).text()).isEqualTo("the other one");
        }
    }

    private static byte[] bytes(String json) {
        return json.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void contentComesBackAsItWas() {
        var file = Part.newBuilder()
                .setFile(FilePart.newBuilder()
                        .setFileWithUri("https://files.example.com/a.pdf")
                        .setMimeType("application/pdf")
                        .setName("a.pdf"))
                .setMetadata(Struct.newBuilder()
                        .putFields("page", Value.newBuilder().setNumberValue(3).build()))
                .build();
        var data = Part.newBuilder()
                .setData(DataPart.newBuilder()
                        .setData(Struct.newBuilder()
                                .putFields(
                                        "n",
                                        Value.newBuilder().setNumberValue(1).build())))
                .build();

        Task task = stub.sendMessage(message(file, data)).getTask();

        assertThat(task.getArtifacts(0).getPartsList()).containsExactly(file, data);
        assertThat(task.getHistory(0).getContentList()).containsExactly(file, data);
    }

    @Test
    void aStreamEndsWithAStatusThatIsFinal() {
        for (String text : List.of("hello", "ask")) {
            var events = new ArrayList<StreamResponse>();
            stub.sendStreamingMessage(message(text(text))).forEachRemaining(events::add);

            assertThat(events.getFirst().hasTask()).isTrue();
            assertThat(events.getLast().getStatusUpdate().getFinal()).isTrue();
            assertThat(events)
                    .filteredOn(event -> event.getStatusUpdate().getFinal())
                    .hasSize(1);
        }
    }

    @Test
    void aStreamThatFindsItsTaskWaitingEndsToo() {
        Task asked = stub.sendMessage(message(text("ask"))).getTask();

        var events = new ArrayList<StreamResponse>();
        stub.taskSubscription(TaskSubscriptionRequest.newBuilder()
                        .setName("tasks/" + asked.getId())
                        .build())
                .forEachRemaining(events::add);

        assertThat(events).hasSize(2);
        assertThat(events.getFirst().getTask().getStatus().getState()).isEqualTo(TaskState.TASK_STATE_INPUT_REQUIRED);
        assertThat(events.getLast().getStatusUpdate().getFinal()).isTrue();
    }

    @Test
    void aFollowUpMayLeaveTheContextToTheTask() {
        Task asked = stub.sendMessage(message(text("ask"))).getTask();

        var answer = message(text("done")).toBuilder();
        answer.getRequestBuilder().setTaskId(asked.getId()).setContextId("another one");
        Task done = stub.sendMessage(answer.build()).getTask();

        assertThat(done.getId()).isEqualTo(asked.getId());
        assertThat(done.getContextId()).isEqualTo(asked.getContextId());
    }

    @Test
    void tasksGoByTheirResourceNames() {
        Task sent = stub.sendMessage(message(text("hello"))).getTask();

        Task read = stub.getTask(
                GetTaskRequest.newBuilder().setName("tasks/" + sent.getId()).build());

        assertThat(read.getHistoryList()).isNotEmpty();
        assertThatThrownBy(() -> stub.cancelTask(CancelTaskRequest.newBuilder()
                        .setName("tasks/" + sent.getId())
                        .build()))
                .hasMessageStartingWith("UNIMPLEMENTED");
        assertThatThrownBy(() -> stub.getTask(
                        GetTaskRequest.newBuilder().setName("tasks/unknown").build()))
                .hasMessageStartingWith("NOT_FOUND");
    }

    @Test
    void releaseCandidatesOf10AreRefused() {
        assertThatThrownBy(() -> stub.getTask(
                        GetTaskRequest.newBuilder().setName("a-bare-id").build()))
                .hasMessageStartingWith("INVALID_ARGUMENT")
                .hasMessageContaining("lf.a2a.v1");

        var metadata = new Metadata();
        metadata.put(Metadata.Key.of("a2a-version", Metadata.ASCII_STRING_MARSHALLER), "1.0");
        assertThatThrownBy(() -> stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
                        .sendMessage(message(text("hello"))))
                .hasMessageStartingWith("FAILED_PRECONDITION: Protocol version not supported");
    }

    @Test
    void aWebhookWithoutAnIdGetsThatOfItsTask() {
        Task task = stub.sendMessage(message(text("ask"))).getTask();
        String name = "tasks/" + task.getId();
        var asked = CreateTaskPushNotificationConfigRequest.newBuilder()
                .setParent(name)
                .setConfig(TaskPushNotificationConfig.newBuilder()
                        .setPushNotificationConfig(
                                PushNotificationConfig.newBuilder().setUrl("http://127.0.0.1:9/hook")))
                .build();

        var created = stub.createTaskPushNotificationConfig(asked);

        assertThat(created.getName()).isEqualTo(name + "/pushNotificationConfigs/" + task.getId());
        assertThat(stub.getTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest.newBuilder()
                        .setName(name)
                        .build()))
                .isEqualTo(created);
        assertThat(stub.listTaskPushNotificationConfig(ListTaskPushNotificationConfigRequest.newBuilder()
                                .setParent(name)
                                .build())
                        .getConfigsList())
                .containsExactly(created);
    }

    @Test
    void whatVersion022CalledItsMethodsIsStillKnown() {
        Task task = stub.sendMessage(message(text("ask"))).getTask();
        var now = A2AServiceGrpc.getListTaskPushNotificationConfigMethod();
        var former = now.toBuilder()
                .setFullMethodName(MethodDescriptor.generateFullMethodName(
                        A2AServiceGrpc.SERVICE_NAME, "ListTaskPushNotification"))
                .build();

        var answer = ClientCalls.blockingUnaryCall(
                channel,
                former,
                CallOptions.DEFAULT,
                ListTaskPushNotificationConfigRequest.newBuilder()
                        .setParent("tasks/" + task.getId())
                        .build());

        assertThat(answer.getConfigsList()).isEmpty();
    }

    private static Part text(String text) {
        return Part.newBuilder().setText(text).build();
    }

    private static SendMessageRequest message(Part... parts) {
        return SendMessageRequest.newBuilder()
                .setRequest(Message.newBuilder()
                        .setMessageId(UUID.randomUUID().toString())
                        .setRole(Role.ROLE_USER)
                        .addAllContent(List.of(parts)))
                .build();
    }
}
