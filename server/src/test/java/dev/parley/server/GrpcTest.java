package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.health.HealthCheckRequest;
import dev.parley.dialect.grpc.health.HealthCheckResponse.ServingStatus;
import dev.parley.dialect.grpc.health.HealthGrpc;
import dev.parley.dialect.grpc.rpc.BadRequest;
import dev.parley.dialect.grpc.rpc.ErrorInfo;
import dev.parley.dialect.grpc.rpc.RetryInfo;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.dialect.grpc.v1.StreamResponse;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Operation;
import dev.parley.testkit.Eventually;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GrpcTest {
    private static final Duration SOON = Duration.ofSeconds(10);

    private final ScriptedAgent agent = new ScriptedAgent();
    private Server server;
    private ManagedChannel channel;

    @BeforeEach
    void start() {
        start(TestServer.builder());
    }

    private void start(ServerBuilder settings) {
        server = settings.defaultAgent("first")
                .grpc(DialectSettings.DEFAULTS)
                .maxBodyBytes(100_000)
                .maxStreams(2)
                .start();
        server.add(agent.served(server, "first"));
        channel = OkHttpChannelBuilder.forTarget(server.authority())
                .usePlaintext()
                .build();
    }

    @AfterEach
    void stop() {
        channel.shutdownNow();
        server.close();
    }

    @Test
    void aMessageIsAnswered() {
        var answer = stub().sendMessage(message("Grüße"));

        assertThat(answer.getMessage().getParts(0).getText()).isEqualTo("Grüße");
        assertThat(agent.asked).hasSize(1);
    }

    @Test
    void theFramesOfAnAnswerAreSentInOneWrite() throws Exception {
        try (var client = RawHttp2Client.to(server)) {
            send(client, 1);
            client.awaitEnd(1);

            send(client, 3);

            assertThat(client.read(3))
                    .containsExactly(RawHttp2Client.HEADERS, RawHttp2Client.DATA, RawHttp2Client.HEADERS);
        }
    }

    @Test
    void theHeadersOfAnAnswerDoNotWaitForRoomForItsMessage() throws Exception {
        try (var client = RawHttp2Client.to(server)) {
            client.initialWindow(0);
            send(client, 1);
            assertThat(client.read(1)).containsExactly(RawHttp2Client.HEADERS);

            client.window(1, 10);
            assertThat(client.read(1)).containsExactly(RawHttp2Client.DATA);
            client.window(1, 1000);
            client.awaitEnd(1);
        }
    }

    private static void send(RawHttp2Client client, int stream) throws IOException {
        client.call(stream, A2AServiceGrpc.getSendMessageMethod().getFullMethodName());
        var message = message("hello").toByteArray();
        var frame = ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message);
        client.data(stream, frame.array(), true);
    }

    @Test
    void theTenantNamesTheAgent() {
        var other = new ScriptedAgent();
        server.add(other.served(server, "second"));

        stub().sendMessage(message("hello").toBuilder().setTenant("second").build());

        assertThat(agent.asked).isEmpty();
        assertThat(other.asked).singleElement().extracting(Operation::tenant).isEqualTo("second");
        assertThatThrownBy(() -> stub().sendMessage(
                                message("hello").toBuilder().setTenant("third").build()))
                .hasMessageStartingWith("NOT_FOUND");
    }

    @Test
    void whoIsNotLetInHearsTheSameOfEveryName() {
        stop();
        start(TestServer.builder().authenticator((name, arrival) -> {
            throw A2AException.refused(A2AError.UNAUTHENTICATED, "Who?", "Caller realm=\"test\"");
        }));

        for (String name : List.of("first", "third")) {
            assertThat(refusal(message("hello").toBuilder().setTenant(name).build()))
                    .as(name)
                    .hasMessage("UNAUTHENTICATED: Who?");
        }
    }

    @Test
    void anErrorTellsItsReasonAndItsFields() throws Exception {
        var refused = refusal(SendMessageRequest.newBuilder()
                .setMessage(Message.newBuilder()
                        .setMessageId("m")
                        .setRole(Role.ROLE_USER)
                        .addParts(Part.newBuilder()))
                .build());

        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        var details = details(refused);
        assertThat(details.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT.value());
        assertThat(details.getDetails(0).unpack(ErrorInfo.class).getReason()).isEqualTo("INVALID_PARAMS");
        assertThat(details.getDetails(0).unpack(ErrorInfo.class).getDomain()).isEqualTo("a2a-protocol.org");
        assertThat(details.getDetails(1)
                        .unpack(BadRequest.class)
                        .getFieldViolations(0)
                        .getField())
                .isEqualTo("message.parts[0]");
    }

    @Test
    void whatIsTooLongToBeAnIdReachesNoAgent() {
        var refused = catchRefusal(() -> stub().getTask(
                        GetTaskRequest.newBuilder().setId("x".repeat(5000)).build()));

        assertThat(refused)
                .hasMessage("INVALID_ARGUMENT: Invalid parameters: id: 5000 characters (expected: at most 256)");
        assertThat(agent.asked).isEmpty();
    }

    @Test
    void whatIsWrongHereIsNotToldInDetail() throws Exception {
        var refused = catchRefusal(
                () -> stub().getTask(GetTaskRequest.newBuilder().setId("t").build()));

        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(refused.getStatus().getDescription()).startsWith("Internal error (reference ");
    }

    @Test
    void messagesThatAreTooLargeAreRefused() {
        var refused = refusal(message("x".repeat(100_001)));

        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(stub().sendMessage(message("small")).hasMessage()).isTrue();
    }

    @Test
    void messagesMayBeCompressed() {
        var answer = stub().withCompression("gzip").sendMessage(message("x".repeat(50_000)));

        assertThat(answer.getMessage().getParts(0).getText()).hasSize(50_000);
        assertThatThrownBy(() -> stub().withCompression("gzip").sendMessage(message("x".repeat(200_000))))
                .hasMessageStartingWith("RESOURCE_EXHAUSTED");
    }

    @Test
    void aStreamBringsItsEventsAndEnds() {
        agent.events.show(1).show(2, 3).end();

        var events = new ArrayList<StreamResponse>();
        stub().subscribeToTask(subscription()).forEachRemaining(events::add);

        assertThat(events).hasSize(3).allMatch(StreamResponse::hasStatusUpdate);
    }

    @Test
    void aStreamThatBreaksSaysWhy() {
        agent.events.show(1).breakWith(A2AException.of(A2AError.UNAVAILABLE));

        var stream = stub().subscribeToTask(subscription());

        assertThat(stream.next().hasStatusUpdate()).isTrue();
        assertThatThrownBy(stream::hasNext).hasMessageStartingWith("UNAVAILABLE");
    }

    @Test
    void aClientThatCancelsClosesItsStream() throws Exception {
        agent.events.show(1);
        var seen = new Seen<StreamResponse>();
        var call = subscribe(seen);
        call.request(1);
        assertThat(seen.messages.poll(10, TimeUnit.SECONDS)).isNotNull();

        call.cancel("enough", null);

        assertThat(agent.events.isClosedWithin(SOON)).isTrue();
    }

    @Test
    void callsThatAreGivenUpLeaveTheOthersAlone() throws Exception {
        agent.events.show(1);
        var other = stub().subscribeToTask(subscription());
        other.next();

        for (int i = 0; i < 100; i++) {
            var call = A2AServiceGrpc.newFutureStub(channel).sendMessage(message("never mind"));
            agent.asked.take();
            call.cancel(true);
        }

        agent.events.show(2).end();
        assertThat(other.next().hasStatusUpdate()).isTrue();
        assertThat(other.hasNext()).isFalse();
    }

    @Test
    void manyCallsThatAreGivenUpBeforeTheirAnswerLeaveTheOthersAlone() throws Exception {
        agent.events.show(1);
        var other = stub().subscribeToTask(subscription());
        other.next();
        agent.asked.take();
        agent.before = GrpcTest::awaitInterrupt;

        for (int i = 0; i < 200; i++) {
            var call = A2AServiceGrpc.newFutureStub(channel).sendMessage(message("never mind"));
            agent.asked.take();
            call.cancel(true);
        }

        agent.events.show(2).end();
        assertThat(other.next().hasStatusUpdate()).isTrue();
        assertThat(other.hasNext()).isFalse();
    }

    private static void awaitInterrupt() {
        await(new CountDownLatch(1));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException givenUp) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aDeadlineEndsTheStream() throws Exception {
        agent.events.show(1);

        var stream = stub().withDeadlineAfter(300, TimeUnit.MILLISECONDS).subscribeToTask(subscription());
        stream.next();

        assertThatThrownBy(stream::hasNext).hasMessageStartingWith("DEADLINE_EXCEEDED");
        assertThat(agent.events.isClosedWithin(SOON)).isTrue();
    }

    @Test
    void aClientThatDoesNotReadHoldsUpItsOwnStreamOnly() throws Exception {
        var large = new FullStream();
        agent.stream = large;
        var call = subscribe(new Seen<>());
        assertThat(large.isBegunWithin(SOON)).isTrue();

        assertThat(stub().sendMessage(message("still there")).hasMessage()).isTrue();

        call.cancel("enough", null);
        assertThat(large.isClosedWithin(SOON)).isTrue();
    }

    @Test
    void aClientThatDoesNotReadIsCutInTheEnd() throws Exception {
        var large = new FullStream();
        agent.stream = large;
        stop();
        start(TestServer.builder().writeTimeout(Duration.ofMillis(200)));

        subscribe(new Seen<>());

        // What was taken until then is what fits into windows and buffers.
        assertThat(large.isClosedWithin(SOON)).isTrue();
        assertThat(large.taken()).isLessThan(100);
    }

    @Test
    void whileTheServerDrainsRunningCallsFinishAndNewOnesAreRefused() throws Exception {
        var entered = new CountDownLatch(1);
        var mayGo = new CountDownLatch(1);
        agent.before = () -> {
            entered.countDown();
            await(mayGo);
        };
        var running = A2AServiceGrpc.newFutureStub(channel).sendMessage(message("before"));
        assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        agent.events.show(1);
        var stream = stub().subscribeToTask(subscription());
        stream.next();

        var drain = Thread.ofVirtual().start(() -> server.drain(Duration.ofSeconds(30)));

        // Nor shall a stream that is cut short look as if it had come to its end.
        assertThatThrownBy(stream::hasNext).hasMessageStartingWith("UNAVAILABLE");
        var refused = refusal(message("after"));
        var health = HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance());
        mayGo.countDown();
        assertThat(health.getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
        assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(details(refused)
                        .getDetails(1)
                        .unpack(RetryInfo.class)
                        .getRetryDelay()
                        .getSeconds())
                .isPositive();
        assertThat(running.get(10, TimeUnit.SECONDS).getMessage().getParts(0).getText())
                .isEqualTo("before");
        assertThat(drain.join(Duration.ofSeconds(20))).isTrue();
        assertThat(agent.asked).hasSize(2);
    }

    @Test
    void theRestOfARequestThatWasRefusedLeavesRunningCallsAlone() throws Exception {
        channel.shutdownNow();
        channel = OkHttpChannelBuilder.forTarget(server.authority())
                .usePlaintext()
                .disableRetry() // otherwise the client sends the rest only if the refusal comes at that very moment
                .build();
        var entered = new CountDownLatch(1);
        var mayGo = new CountDownLatch(1);
        agent.before = () -> {
            entered.countDown();
            await(mayGo);
        };
        var running = A2AServiceGrpc.newFutureStub(channel).sendMessage(message("before"));
        assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        var drain = Thread.ofVirtual().start(() -> server.drain(Duration.ofSeconds(30)));
        Eventually.within(SOON, "the server drains", () -> health() == ServingStatus.NOT_SERVING);

        var seen = new Seen<SendMessageResponse>();
        var late = channel.newCall(A2AServiceGrpc.getSendMessageMethod(), CallOptions.DEFAULT);
        late.start(seen, new Metadata());
        assertThat(health()).isEqualTo(ServingStatus.NOT_SERVING); // sends the headers of the other call, too
        var refusal = seen.end.poll(10, TimeUnit.SECONDS);
        late.sendMessage(message("after"));
        late.halfClose();

        assertThat(refusal).extracting(Status::getCode).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(health()).isEqualTo(ServingStatus.NOT_SERVING);
        mayGo.countDown();
        assertThat(running.get(10, TimeUnit.SECONDS).getMessage().getParts(0).getText())
                .isEqualTo("before");
        assertThat(drain.join(Duration.ofSeconds(20))).isTrue();
    }

    private ServingStatus health() {
        return HealthGrpc.newBlockingStub(channel)
                .check(HealthCheckRequest.getDefaultInstance())
                .getStatus();
    }

    @Test
    void thereAreOnlySoManyStreams() {
        agent.events.show(1);
        stub().subscribeToTask(subscription()).next();
        agent.stream = new ScriptedEvents().show(1);
        stub().subscribeToTask(subscription()).next();

        assertThatThrownBy(() -> stub().subscribeToTask(subscription()).hasNext())
                .hasMessageStartingWith("UNAVAILABLE");
    }

    @Test
    void otherVersionsAreRefusedBeforeAnythingElse() {
        for (var version : new String[] {"0.3", "2.0", "1", "nonsense"}) {
            assertThatThrownBy(() -> stub(version).sendMessage(message("hello")))
                    .hasMessageStartingWith("FAILED_PRECONDITION: Protocol version not supported");
        }
        assertThat(stub("1.0.1").sendMessage(message("hello")).hasMessage()).isTrue();
        assertThat(agent.asked).hasSize(1);
    }

    private A2AServiceGrpc.A2AServiceBlockingStub stub() {
        return A2AServiceGrpc.newBlockingStub(channel);
    }

    private A2AServiceGrpc.A2AServiceBlockingStub stub(String version) {
        var metadata = new Metadata();
        metadata.put(Metadata.Key.of("a2a-version", Metadata.ASCII_STRING_MARSHALLER), version);
        return stub().withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    private ClientCall<SubscribeToTaskRequest, StreamResponse> subscribe(Seen<StreamResponse> seen) {
        var call = channel.newCall(A2AServiceGrpc.getSubscribeToTaskMethod(), stub().getCallOptions());
        call.start(seen, new Metadata());
        call.sendMessage(subscription());
        call.halfClose();
        return call;
    }

    private static final class Seen<T> extends ClientCall.Listener<T> {
        final BlockingQueue<T> messages = new ArrayBlockingQueue<>(100);
        final BlockingQueue<Status> end = new ArrayBlockingQueue<>(1);

        @Override
        public void onMessage(T message) {
            messages.add(message);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            end.add(status);
        }
    }

    private static SendMessageRequest message(String text) {
        return SendMessageRequest.newBuilder()
                .setMessage(Message.newBuilder()
                        .setMessageId("m")
                        .setRole(Role.ROLE_USER)
                        .addParts(Part.newBuilder().setText(text)))
                .build();
    }

    private static SubscribeToTaskRequest subscription() {
        return SubscribeToTaskRequest.newBuilder().setId("t").build();
    }

    private StatusRuntimeException refusal(SendMessageRequest request) {
        return catchRefusal(() -> stub().sendMessage(request));
    }

    private static StatusRuntimeException catchRefusal(Runnable call) {
        try {
            call.run();
        } catch (StatusRuntimeException refused) {
            return refused;
        }
        throw new AssertionError("it was not refused");
    }

    private static dev.parley.dialect.grpc.rpc.Status details(StatusRuntimeException refused) throws Exception {
        var key = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);
        return dev.parley.dialect.grpc.rpc.Status.parseFrom(
                refused.getTrailers().get(key));
    }
}
