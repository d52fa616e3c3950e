package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.health.HealthCheckRequest;
import dev.parley.dialect.grpc.health.HealthCheckResponse;
import dev.parley.dialect.grpc.health.HealthCheckResponse.ServingStatus;
import dev.parley.dialect.grpc.health.HealthGrpc;
import dev.parley.dialect.grpc.reflection.ServerReflectionGrpc;
import dev.parley.dialect.grpc.reflection.ServerReflectionRequest;
import dev.parley.dialect.grpc.reflection.ServerReflectionResponse;
import dev.parley.dialect.grpc.reflection.ServiceResponse;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.testkit.Eventually;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What tools and load balancers ask over gRPC, whatever agents there are. */
@Timeout(60)
class GrpcToolsTest {
    private static final MethodDescriptor<ServerReflectionRequest, ServerReflectionResponse> REFLECTION =
            ServerReflectionGrpc.getServerReflectionInfoMethod();

    private volatile boolean ready = true;
    private Server server;
    private ManagedChannel channel;
    private final List<ManagedChannel> others = new ArrayList<>();

    @BeforeEach
    void start() {
        server = TestServer.builder()
                .grpc(DialectSettings.DEFAULTS)
                .readiness(() -> ready ? Optional.empty() : Optional.of("not yet"))
                .start();
        channel = OkHttpChannelBuilder.forTarget(server.authority())
                .usePlaintext()
                .build();
    }

    @AfterEach
    void stop() {
        others.forEach(ManagedChannel::shutdownNow);
        channel.shutdownNow();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v1alpha"})
    void reflectionListsTheServices(String version) throws Exception {
        var answer = reflect(
                        version,
                        ServerReflectionRequest.newBuilder().setListServices("").build())
                .getFirst();

        assertThat(answer.getListServicesResponse().getServiceList())
                .extracting(ServiceResponse::getName)
                .containsExactlyInAnyOrder(
                        "lf.a2a.v1.A2AService",
                        "a2a.v1.A2AService",
                        "knowledge.v1.KnowledgeService",
                        "grpc.health.v1.Health",
                        "grpc.reflection.v1.ServerReflection");
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1", "v1alpha"})
    void reflectionHasTheFileOfASymbolAndAllThatItNeeds(String version) throws Exception {
        var answers = reflect(
                version,
                symbol("lf.a2a.v1.A2AService"),
                symbol("lf.a2a.v1.A2AService.SendMessage"),
                symbol("lf.a2a.v1.Part"));

        for (var answer : answers) {
            var files = new ArrayList<FileDescriptorProto>();
            for (var bytes : answer.getFileDescriptorResponse().getFileDescriptorProtoList()) {
                files.add(FileDescriptorProto.parseFrom(bytes));
            }
            assertThat(files.getFirst().getPackage()).isEqualTo("lf.a2a.v1");
            assertThat(files)
                    .extracting(FileDescriptorProto::getName)
                    .containsAll(files.stream()
                            .flatMap(file -> file.getDependencyList().stream())
                            .toList());
        }
    }

    @Test
    void oneConversationOfReflectionAsksManyThings() throws Exception {
        var answers = reflect(
                "v1",
                symbol("lf.a2a.v1.NoSuchThing"),
                ServerReflectionRequest.newBuilder()
                        .setFileByFilename("a2a_v03.proto")
                        .build(),
                ServerReflectionRequest.getDefaultInstance());

        assertThat(answers.get(0).getErrorResponse().getErrorCode()).isEqualTo(Status.Code.NOT_FOUND.value());
        assertThat(answers.get(0).getOriginalRequest()).isEqualTo(symbol("lf.a2a.v1.NoSuchThing"));
        assertThat(answers.get(1).hasFileDescriptorResponse()).isTrue();
        assertThat(answers.get(2).getErrorResponse().getErrorCode()).isEqualTo(Status.Code.INVALID_ARGUMENT.value());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "lf.a2a.v1.A2AService", "a2a.v1.A2AService"})
    void healthIsWhetherTheServerIsReady(String service) {
        assertThat(check(service)).isEqualTo(ServingStatus.SERVING);

        ready = false;

        assertThat(check(service)).isEqualTo(ServingStatus.NOT_SERVING);
    }

    @Test
    void theHealthOfAServiceThatIsNotThereIsNotFound() {
        assertThatThrownBy(() -> check("lf.a2a.v2.A2AService")).hasMessageStartingWith("NOT_FOUND");
    }

    @Test
    void whoWatchesTheHealthIsToldWhenTheServerStops() throws Exception {
        var answers = watch("");

        assertThat(answers.next().getStatus()).isEqualTo(ServingStatus.SERVING);
        var stopping = Thread.ofVirtual().start(server::close);
        assertThat(answers.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
        assertThatThrownBy(answers::hasNext).hasMessageStartingWith("UNAVAILABLE");
        assertThat(stopping.join(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void whoWatchesTheHealthOfAServiceThatIsNotThereWaitsForIt() {
        var answers = ClientCalls.blockingServerStreamingCall(
                channel,
                HealthGrpc.getWatchMethod(),
                CallOptions.DEFAULT.withDeadlineAfter(Duration.ofMillis(300)),
                HealthCheckRequest.newBuilder()
                        .setService("lf.a2a.v2.A2AService")
                        .build());

        assertThat(answers.next().getStatus()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);
        assertThatThrownBy(answers::hasNext).hasMessageStartingWith("DEADLINE_EXCEEDED");
    }

    @Test
    void watchesOfHealthTakeNoStreamsOfCallersAndAreFewForEachConnection() throws Exception {
        server.close();
        var agent = new ScriptedAgent();
        server = TestServer.builder()
                .grpc(DialectSettings.DEFAULTS)
                .defaultAgent("first")
                .maxStreams(1)
                .start();
        server.add(agent.served(server, "first"));
        channel.shutdownNow();
        channel = OkHttpChannelBuilder.forTarget(server.authority())
                .usePlaintext()
                .build();

        for (int i = 0; i < 8; i++) {
            assertThat(watch("").next().getStatus()).isEqualTo(ServingStatus.SERVING);
        }
        assertThatThrownBy(() -> watch("").next())
                .hasMessageStartingWith("UNAVAILABLE")
                .hasMessageContaining("Too many health watches");
        // What one connection has used up, others have still.
        for (int i = 0; i < 3; i++) {
            ManagedChannel other = OkHttpChannelBuilder.forTarget(server.authority())
                    .usePlaintext()
                    .build();
            others.add(other);
            for (int k = 0; k < 8; k++) {
                assertThat(watch(other, "").next().getStatus()).isEqualTo(ServingStatus.SERVING);
            }
            assertThatThrownBy(() -> watch(other, "").next())
                    .hasMessageStartingWith("UNAVAILABLE")
                    .hasMessageContaining("Too many health watches");
        }

        agent.events.show(1);
        var events = A2AServiceGrpc.newBlockingStub(channel)
                .subscribeToTask(SubscribeToTaskRequest.newBuilder().setId("t1").build());
        assertThat(events.hasNext()).isTrue();
        agent.events.end();
        assertThat(events.next().hasStatusUpdate()).isTrue();
        assertThat(events.hasNext()).isFalse();
    }

    @Test
    void aWatchOfHealthThatHasEndedMakesRoomForAnother() {
        for (int i = 0; i < 20; i++) {
            var answers = ClientCalls.blockingServerStreamingCall(
                    channel,
                    HealthGrpc.getWatchMethod(),
                    CallOptions.DEFAULT.withDeadlineAfter(Duration.ofMillis(20)),
                    HealthCheckRequest.getDefaultInstance());
            assertThatThrownBy(() -> answers.forEachRemaining(answer -> {}))
                    .hasMessageStartingWith("DEADLINE_EXCEEDED");
        }
        var http = (HttpServer) server;
        Eventually.asserted(
                "watches end",
                () -> assertThat(http.connections().watches().count()).isZero());

        assertThat(watch("").next().getStatus()).isEqualTo(ServingStatus.SERVING);
    }

    private Iterator<HealthCheckResponse> watch(String service) {
        return watch(channel, service);
    }

    private static Iterator<HealthCheckResponse> watch(ManagedChannel connection, String service) {
        return ClientCalls.blockingServerStreamingCall(
                connection,
                HealthGrpc.getWatchMethod(),
                CallOptions.DEFAULT,
                HealthCheckRequest.newBuilder().setService(service).build());
    }

    private ServingStatus check(String service) {
        HealthCheckResponse answer = HealthGrpc.newBlockingStub(channel)
                .check(HealthCheckRequest.newBuilder().setService(service).build());
        return answer.getStatus();
    }

    private static ServerReflectionRequest symbol(String name) {
        return ServerReflectionRequest.newBuilder()
                .setFileContainingSymbol(name)
                .build();
    }

    private List<ServerReflectionResponse> reflect(String version, ServerReflectionRequest... questions)
            throws Exception {
        var method = REFLECTION.toBuilder()
                .setFullMethodName(REFLECTION.getFullMethodName().replace(".v1.", "." + version + "."))
                .build();
        var answers = new ArrayList<ServerReflectionResponse>();
        var all = new CompletableFuture<List<ServerReflectionResponse>>();
        var conversation = ClientCalls.asyncBidiStreamingCall(
                channel.newCall(method, CallOptions.DEFAULT), new StreamObserver<ServerReflectionResponse>() {
                    @Override
                    public void onNext(ServerReflectionResponse answer) {
                        answers.add(answer);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        all.completeExceptionally(failure);
                    }

                    @Override
                    public void onCompleted() {
                        all.complete(answers);
                    }
                });
        for (var question : questions) {
            conversation.onNext(question);
        }
        conversation.onCompleted();
        return all.get(10, TimeUnit.SECONDS);
    }
}
