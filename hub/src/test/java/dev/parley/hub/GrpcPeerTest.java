package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.UnknownFieldSet;
import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.keys.KeyManager;
import dev.parley.client.spi.ClientException;
import dev.parley.dialect.grpc.v03.CreateTaskPushNotificationConfigRequest;
import dev.parley.dialect.grpc.v03.TaskPushNotificationConfig;
import dev.parley.dialect.grpc.v03.TaskSubscriptionRequest;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.dialect.grpc.v1.Task;
import dev.parley.dialect.grpc.v1.TaskState;
import dev.parley.dialect.grpc.v1.TaskStatus;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.SecurityRequirement;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.SecurityScheme;
import dev.parley.protocol.TaskStatusUpdateEvent;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The client of gRPC with a server that is not ours, which does what the test says. */
@Timeout(60)
final class GrpcPeerTest {
    private final BlockingQueue<Metadata> calls = new LinkedBlockingQueue<>();
    private final BlockingQueue<Status> refusals = new LinkedBlockingQueue<>();
    private final BlockingQueue<StreamObserver<dev.parley.dialect.grpc.v03.StreamResponse>> subscribers =
            new LinkedBlockingQueue<>();
    private Server server;

    @BeforeEach
    void start() throws Exception {
        server = OkHttpServerBuilder.forPort(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), InsecureServerCredentials.create())
                .addService(new Peer())
                .addService(new OlderPeer())
                .intercept(new Remembering())
                .build()
                .start();
    }

    @AfterEach
    void stop() {
        server.shutdownNow();
    }

    @Test
    void headersAndTokensOfTheCallerAreMetadata() {
        call(builder().bearer("the-token").header("X-Tenant", "bank"), card(Map.of()));

        Metadata sent = calls.remove();
        assertThat(value(sent, "authorization")).isEqualTo("Bearer the-token");
        assertThat(value(sent, "x-tenant")).isEqualTo("bank");
    }

    @Test
    void anApiKeyGoesWhereTheCardWantsIt() {
        call(builder().apiKey("the-key"), card(Map.of()));
        assertThat(sent("x-api-key")).isEqualTo("the-key");

        call(builder().apiKey("the-key"), card(Map.of("key", new SecurityScheme.ApiKey(null, "cookie", "session"))));
        assertThat(sent("cookie")).isEqualTo("session=the-key");

        call(builder().apiKey("the-key"), card(Map.of("key", new SecurityScheme.ApiKey(null, "query", "key"))));
        assertThat(sent("key")).isEqualTo("the-key");
    }

    @Test
    void theKeysOfAServiceAreSentAsTheCardWantsThem() {
        var keys = KeyManager.builder()
                .environment(Map.of("AGENTVAULT_KEY_BANK", "from-the-keys"))
                .build();

        call(builder().keys(keys, "bank"), card(Map.of("key", new SecurityScheme.ApiKey(null, "header", "X-Key"))));
        assertThat(sent("x-key")).isEqualTo("from-the-keys");

        call(builder().keys(keys, "bank"), card(Map.of("bearer", new SecurityScheme.HttpAuth(null, "Bearer", null))));
        assertThat(sent("authorization")).isEqualTo("Bearer from-the-keys");

        call(builder().keys(keys, "another"), card(Map.of("key", new SecurityScheme.ApiKey(null, "header", "X-Key"))));
        assertThat(sent("x-key")).isNull();
    }

    @Test
    void whatIsDeclinedForNowIsTriedAgain() {
        refusals.add(Status.RESOURCE_EXHAUSTED);

        call(builder(), card(Map.of()));

        assertThat(calls).hasSize(2);
    }

    @Test
    void whatIsRefusedIsNot() {
        refusals.add(Status.UNAUTHENTICATED);

        assertThatThrownBy(() -> call(builder(), card(Map.of())))
                .isInstanceOfSatisfying(
                        A2AException.class,
                        refusal -> assertThat(refusal.error()).isEqualTo(A2AError.UNAUTHENTICATED));
        assertThat(calls).hasSize(1);
    }

    @Test
    void aTaskThatCannotBeCanceledIsKnownWithoutAReason() {
        try (AgentClient client = builder().of(card(Map.of(), "0.3"))) {
            assertThatThrownBy(() -> client.cancel("t"))
                    .isInstanceOfSatisfying(
                            A2AException.class,
                            refusal -> assertThat(refusal.error()).isEqualTo(A2AError.TASK_NOT_CANCELABLE));
        }
    }

    @ParameterizedTest
    @CsvSource({"mine,tasks/t/pushNotificationConfigs/mine", ",tasks/t/pushNotificationConfigs"})
    void aWebhookAlsoHasTheNameThatSomeServersReadAlone(@Nullable String id, String name) {
        try (AgentClient client = builder().of(card(Map.of(), "0.3"))) {
            var made = client.createPushConfig(new PushConfig(null, id, "t", "http://127.0.0.1:9/hook", null, null));

            assertThat(made.token()).isEqualTo(name);
        }
    }

    @Test
    void aStreamThatIsCutGoesOnWithoutTheTaskThatItHasShown() {
        refusals.add(Status.UNAVAILABLE); // so the second attempt does it

        try (AgentClient client = builder().of(card(Map.of()));
                var stream = client.stream("hello")) {
            assertThat(stream.next()).isInstanceOf(dev.parley.protocol.Task.class);
            assertThat(stream.next())
                    .isInstanceOfSatisfying(
                            TaskStatusUpdateEvent.class,
                            update -> assertThat(update.status().state().isTerminal())
                                    .isTrue());
            assertThat(stream.hasNext()).isFalse();
        }
        assertThat(calls).hasSize(4); // the last reads the task, because no artifact came
    }

    @ParameterizedTest
    @CsvSource({"1.0,FAILED_PRECONDITION", "1.0,INVALID_ARGUMENT", "0.3,UNIMPLEMENTED", "0.3,INVALID_ARGUMENT"})
    void aTaskThatEndedWhileItsStreamWasCutIsReadOnce(String version, Status.Code refusal) {
        refusals.add(refusal.toStatus());

        try (AgentClient client = builder().of(card(Map.of(), version));
                var stream = client.stream("hello")) {
            stream.next();
            assertThat(stream.next())
                    .isInstanceOfSatisfying(
                            dev.parley.protocol.Task.class,
                            task -> assertThat(task.state().isTerminal()).isTrue());
            assertThat(stream.hasNext()).isFalse();
        }
    }

    @Test
    void aStreamThatBeginsWithoutATaskIsGivenOneAndEndsOnce() {
        try (AgentClient client = builder().of(card(Map.of()));
                var stream = client.subscribe("bare")) {
            assertThat(stream.next())
                    .isInstanceOfSatisfying(
                            dev.parley.protocol.Task.class,
                            task -> assertThat(task.id()).isEqualTo("bare"));
            assertThat(stream.next()).isInstanceOf(TaskStatusUpdateEvent.class);
            assertThat(stream.hasNext()).isFalse();
        }
    }

    @Test
    void aSubscriptionIsOpenBeforeThereAreNews() throws InterruptedException {
        try (AgentClient client = builder().of(card(Map.of(), "0.3"));
                var stream = client.subscribe("t")) {
            var subscriber = subscribers.take();
            subscriber.onNext(older(TaskState.TASK_STATE_COMPLETED));
            subscriber.onCompleted();

            assertThat(stream.next())
                    .isInstanceOfSatisfying(
                            dev.parley.protocol.Task.class,
                            task -> assertThat(task.state().isTerminal()).isTrue());
            assertThat(stream.hasNext()).isFalse();
        }
    }

    @Test
    void aServerThatForgetsToCloseDoesNotHoldUpItsReader() throws InterruptedException {
        try (AgentClient client =
                        builder().streamSilence(Duration.ofMillis(200)).of(card(Map.of(), "0.3"));
                var stream = client.subscribe("t")) {
            subscribers.take().onNext(older(TaskState.TASK_STATE_COMPLETED));

            assertThat(stream.next()).isInstanceOf(dev.parley.protocol.Task.class);
            assertThat(stream.hasNext()).isFalse();
            assertThat(calls).hasSize(1);
        }
    }

    @Test
    void aStreamThatCannotBeResumedSaysSo() {
        refusals.addAll(Collections.nCopies(3, Status.UNAVAILABLE));

        try (AgentClient client = builder().reconnects(2).of(card(Map.of()));
                var stream = client.stream("hello")) {
            stream.next();
            assertThatThrownBy(stream::hasNext)
                    .isInstanceOfSatisfying(
                            ClientException.class,
                            cut -> assertThat(cut.problem()).isEqualTo(ClientException.Problem.STREAM_CUT));
            assertThat(stream.hasNext()).isFalse();
        }
        assertThat(calls).hasSize(3);
    }

    @Test
    void aStreamOfNumberedEventsGoesOnAfterTheLastOne() {
        try (AgentClient client = builder().of(card(Map.of()));
                var stream = client.subscribe("numbered")) {
            var numbers = new ArrayList<Long>();
            while (stream.hasNext()) {
                stream.next();
                numbers.add(stream.sequence());
            }

            assertThat(numbers).containsExactly(4L, 5L, 6L);
        }
        assertThat(sent("last-event-id")).isNull();
        assertThat(sent("last-event-id")).isEqualTo("5");
    }

    private static UnknownFieldSet generation(int field, long number) {
        return UnknownFieldSet.newBuilder()
                .addField(
                        field,
                        UnknownFieldSet.Field.newBuilder().addVarint(number).build())
                .build();
    }

    private static StreamResponse update(TaskState state, long number) {
        return StreamResponse.newBuilder()
                .setStatusUpdate(dev.parley.dialect.grpc.v1.TaskStatusUpdateEvent.newBuilder()
                        .setTaskId("numbered")
                        .setContextId("c")
                        .setStatus(TaskStatus.newBuilder().setState(state))
                        .setUnknownFields(generation(5, number)))
                .build();
    }

    private static AgentClientBuilder builder() {
        return AgentClient.builder().backoff(Duration.ZERO, Duration.ZERO);
    }

    private static void call(AgentClientBuilder builder, AgentCard card) {
        try (AgentClient client = builder.of(card)) {
            assertThat(client.task("t").id()).isEqualTo("t");
        }
    }

    private @Nullable String sent(String name) {
        return value(calls.remove(), name);
    }

    private static @Nullable String value(Metadata metadata, String name) {
        return metadata.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
    }

    private AgentCard card(Map<String, SecurityScheme> schemes) {
        return card(schemes, "1.0");
    }

    private AgentCard card(Map<String, SecurityScheme> schemes, String version) {
        return new AgentCard(
                "peer",
                "Does what the test says",
                List.of(new AgentCard.Interface(
                        "127.0.0.1:" + server.getPort(), AgentCard.Interface.GRPC, null, version)),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, false, List.of(), false),
                schemes,
                schemes.keySet().stream()
                        .map(name -> new SecurityRequirement(Map.of(name, List.of())))
                        .toList(),
                List.of("text/plain"),
                List.of("text/plain"),
                List.of(),
                List.of(),
                null);
    }

    private static Task task(TaskState state) {
        return Task.newBuilder()
                .setId("t")
                .setContextId("c")
                .setStatus(TaskStatus.newBuilder().setState(state))
                .build();
    }

    private static dev.parley.dialect.grpc.v03.Task olderTask(TaskState state) {
        return dev.parley.dialect.grpc.v03.Task.newBuilder()
                .setId("t")
                .setContextId("c")
                .setStatus(dev.parley.dialect.grpc.v03.TaskStatus.newBuilder().setStateValue(state.getNumber()))
                .build();
    }

    private static dev.parley.dialect.grpc.v03.StreamResponse older(TaskState state) {
        return dev.parley.dialect.grpc.v03.StreamResponse.newBuilder()
                .setTask(olderTask(state))
                .build();
    }

    private final class Peer extends A2AServiceGrpc.A2AServiceImplBase {
        @Override
        public void getTask(GetTaskRequest request, StreamObserver<Task> answer) {
            Status refusal = refusals.poll();
            if (refusal != null) {
                answer.onError(refusal.asException());
                return;
            }
            answer.onNext(task(TaskState.TASK_STATE_COMPLETED));
            answer.onCompleted();
        }

        @Override
        public void sendStreamingMessage(SendMessageRequest request, StreamObserver<StreamResponse> answer) {
            answer.onNext(StreamResponse.newBuilder()
                    .setTask(task(TaskState.TASK_STATE_WORKING))
                    .build());
            answer.onError(Status.UNAVAILABLE.asException());
        }

        @Override
        public void subscribeToTask(SubscribeToTaskRequest request, StreamObserver<StreamResponse> answer) {
            Status refusal = refusals.poll();
            if (refusal != null) {
                answer.onError(refusal.asException());
                return;
            }
            if (request.getId().equals("numbered")) {
                if (calls.size() == 1) {
                    answer.onNext(StreamResponse.newBuilder()
                            .setTask(task(TaskState.TASK_STATE_WORKING).toBuilder()
                                    .setId("numbered")
                                    .setUnknownFields(generation(7, 4)))
                            .build());
                    answer.onNext(update(TaskState.TASK_STATE_WORKING, 5));
                    answer.onError(Status.UNAVAILABLE.asException());
                } else {
                    answer.onNext(update(TaskState.TASK_STATE_COMPLETED, 6));
                    answer.onCompleted();
                }
                return;
            }
            var completed = StreamResponse.newBuilder()
                    .setStatusUpdate(dev.parley.dialect.grpc.v1.TaskStatusUpdateEvent.newBuilder()
                            .setTaskId(request.getId())
                            .setContextId("c")
                            .setStatus(TaskStatus.newBuilder().setState(TaskState.TASK_STATE_COMPLETED)))
                    .build();
            if (request.getId().equals("bare")) {
                answer.onNext(completed);
            } else {
                answer.onNext(StreamResponse.newBuilder()
                        .setTask(task(TaskState.TASK_STATE_WORKING))
                        .build());
            }
            answer.onNext(completed);
            answer.onCompleted();
        }
    }

    /** Of 0.3; it tells subscribers nothing until something happens. */
    private final class OlderPeer extends dev.parley.dialect.grpc.v03.A2AServiceGrpc.A2AServiceImplBase {
        @Override
        public void getTask(
                dev.parley.dialect.grpc.v03.GetTaskRequest request,
                StreamObserver<dev.parley.dialect.grpc.v03.Task> answer) {
            answer.onNext(olderTask(TaskState.TASK_STATE_COMPLETED));
            answer.onCompleted();
        }

        @Override
        public void cancelTask(
                dev.parley.dialect.grpc.v03.CancelTaskRequest request,
                StreamObserver<dev.parley.dialect.grpc.v03.Task> answer) {
            answer.onError(Status.FAILED_PRECONDITION.asException());
        }

        /** The webhook as it was sent, with the name that it had for a token. */
        @Override
        public void createTaskPushNotificationConfig(
                CreateTaskPushNotificationConfigRequest request, StreamObserver<TaskPushNotificationConfig> answer) {
            var made = request.getConfig().toBuilder();
            made.getPushNotificationConfigBuilder().setToken(made.getName());
            answer.onNext(made.build());
            answer.onCompleted();
        }

        @Override
        public void sendStreamingMessage(
                dev.parley.dialect.grpc.v03.SendMessageRequest request,
                StreamObserver<dev.parley.dialect.grpc.v03.StreamResponse> answer) {
            answer.onNext(older(TaskState.TASK_STATE_WORKING));
            answer.onError(Status.UNAVAILABLE.asException());
        }

        @Override
        public void taskSubscription(
                TaskSubscriptionRequest request, StreamObserver<dev.parley.dialect.grpc.v03.StreamResponse> answer) {
            Status refusal = refusals.poll();
            if (refusal != null) {
                answer.onError(refusal.asException());
            } else {
                subscribers.add(answer);
            }
        }
    }

    private final class Remembering implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            calls.add(headers);
            return next.startCall(call, headers);
        }
    }
}
