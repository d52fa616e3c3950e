package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.TaskStream;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.SendMessageResponse;
import dev.parley.engine.Agent;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.Task;
import io.grpc.BindableService;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.okhttp.OkHttpServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** The interfaces of gRPC and of HTTP in a card stand in for each other. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FallBackTest {
    private final AtomicInteger asked = new AtomicInteger();
    private final Hub hub = Hub.builder()
            .port(0)
            .inMemory()
            .drain(Duration.ZERO)
            .agents(Agent.named("echo", "Says it again").handle((request, reply) -> {
                asked.incrementAndGet();
                reply.complete(request.text());
            }))
            .start();
    private final Interface overHttp = new Interface(hub.agentUrl("echo"), Interface.JSONRPC, null, "1.0");
    private final Interface overGrpc = grpc(Integer.parseInt(hub.url().replaceFirst(".*:", "")));

    @AfterAll
    void stop() {
        hub.close();
    }

    @Test
    void whereNobodyTakesTheConnectionOfGrpcTheAgentIsReachedOverHttp() throws Exception {
        try (AgentClient client = client(grpc(closed()), overHttp)) {
            assertThat(((Task) client.send("hello")).text()).isEqualTo("hello");
            assertThat(client.address()).isEqualTo(overHttp);
        }
    }

    @Test
    void whereNobodyIsThereOverHttpTheAgentIsReachedOverGrpc() throws Exception {
        var nobody = new Interface("http://127.0.0.1:" + closed() + "/", Interface.JSONRPC, null, "1.0");
        var nothing = new Interface(hub.agentUrl("echo") + "/no/such/thing", Interface.HTTP_JSON, null, "1.0");

        try (AgentClient client = client(nobody, nothing, overGrpc)) {
            assertThat(((Task) client.send("hello")).text()).isEqualTo("hello");
            assertThat(client.address()).isEqualTo(overGrpc);
        }
    }

    @Test
    void aStreamBeginsAtTheInterfaceThatAnswers() throws Exception {
        try (AgentClient client = client(grpc(closed()), overHttp);
                TaskStream stream = client.stream("hello")) {
            assertThat(stream.next()).isInstanceOf(Task.class);
            assertThat(client.address()).isEqualTo(overHttp);
        }
    }

    @Test
    void whoTakesTheConnectionAndSaysNothingIsNotWaitedForLongerThanConnectingMayTake() throws Exception {
        try (var silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                AgentClient client = builder(grpc(silent.getLocalPort()), overHttp)
                        .connectTimeout(Duration.ofMillis(200))
                        .of(card(grpc(silent.getLocalPort()), overHttp))) {
            assertThat(((Task) client.send("hello")).text()).isEqualTo("hello");
            assertThat(client.address()).isEqualTo(overHttp);
        }
    }

    @Test
    void whatSpeaksNoGrpcOrDoesNotKnowTheServiceIsPassedBy() throws Exception {
        Server other = server();
        try (var http = new Hook()) {
            for (int port : List.of(other.getPort(), Integer.parseInt(http.url().replaceFirst(".*:(\\d+).*", "$1")))) {
                try (AgentClient client = client(grpc(port), overHttp)) {
                    assertThat(((Task) client.send("hello")).text()).isEqualTo("hello");
                    assertThat(client.address()).isEqualTo(overHttp);
                }
            }
        } finally {
            other.shutdownNow();
        }
    }

    @Test
    void whatMayHaveHadAnEffectOverGrpcIsNotSentOverHttp() throws Exception {
        Server breaking = server(new A2AServiceGrpc.A2AServiceImplBase() {
            @Override
            public void sendMessage(SendMessageRequest request, StreamObserver<SendMessageResponse> answer) {
                answer.onError(Status.UNAVAILABLE.asException());
            }
        });
        int before = asked.get();
        try (AgentClient client = client(grpc(breaking.getPort()), overHttp)) {
            ClientException lost = catchThrowableOfType(ClientException.class, () -> client.send("hello"));

            assertThat(lost.problem()).isEqualTo(Problem.LOST);
            assertThat(asked.get()).isEqualTo(before);
        } finally {
            breaking.shutdownNow();
        }
    }

    @Test
    void anInterfaceThatHasAnsweredIsKept() throws Exception {
        Hub elsewhere = Hub.builder()
                .port(0)
                .inMemory()
                .drain(Duration.ZERO)
                .agents(Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete("first")))
                .start();
        Interface first = grpc(Integer.parseInt(elsewhere.url().replaceFirst(".*:", "")));
        try (AgentClient client = client(first, overHttp)) {
            assertThat(((Task) client.send("hello")).text()).isEqualTo("first");
            elsewhere.close();

            ClientException gone = catchThrowableOfType(ClientException.class, () -> client.send("hello"));

            assertThat(gone.problem()).isIn(Problem.UNREACHABLE, Problem.LOST);
            assertThat(client.address()).isEqualTo(first);
        } finally {
            elsewhere.close();
        }
    }

    @Test
    void onlySoManyInterfacesAreTried() throws Exception {
        var all = new Interface[9];
        Arrays.fill(all, grpc(closed()));
        all[8] = overHttp;

        try (AgentClient client = client(all)) {
            ClientException nobody = catchThrowableOfType(ClientException.class, () -> client.send("hello"));

            assertThat(nobody.problem()).isEqualTo(Problem.UNREACHABLE);
        }
    }

    private static AgentClient client(Interface... interfaces) {
        return builder(interfaces).of(card(interfaces));
    }

    /** One that may go to all of these, and does not try again. */
    private static AgentClientBuilder builder(Interface... interfaces) {
        AgentClientBuilder builder = AgentClient.builder().retries(0);
        for (Interface one : interfaces) {
            builder.allowOrigin(one.url().contains("://") ? one.url() : "http://" + one.url());
        }
        return builder;
    }

    private static AgentCard card(Interface... interfaces) {
        return new AgentCard(
                "echo",
                "Says it again",
                List.of(interfaces),
                null,
                "1",
                null,
                new AgentCard.Capabilities(true, false, List.of(), false),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                null);
    }

    private static Interface grpc(int port) {
        return new Interface("127.0.0.1:" + port, Interface.GRPC, "echo", "1.0");
    }

    /** A port that nobody listens at. */
    private static int closed() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Server server(BindableService... services) throws IOException {
        var builder = OkHttpServerBuilder.forPort(0, InsecureServerCredentials.create());
        for (BindableService service : services) {
            builder.addService(service);
        }
        return builder.build().start();
    }
}
