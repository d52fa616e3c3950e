package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.grpc.health.HealthCheckRequest;
import dev.parley.dialect.grpc.health.HealthCheckResponse;
import dev.parley.dialect.grpc.health.HealthCheckResponse.ServingStatus;
import dev.parley.dialect.grpc.health.HealthGrpc;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.GetTaskRequest;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.io.IOException;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server whose service has ended while its port stays open. */
@Timeout(60)
class EndOfServiceTest {
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch mayGo = new CountDownLatch(1);
    private final ScriptedEvents events = new ScriptedEvents();
    private final ScriptedAgent agent = new ScriptedAgent();
    private volatile boolean ended;
    private final Server server = server();

    private Server server() {
        Server started = TestServer.builder()
                .ended(() -> ended ? Optional.of("the data is gone") : Optional.empty())
                .readinessTest(() -> {
                    if (ended) {
                        throw new IllegalStateException("there is nothing to test");
                    }
                    return Optional.empty();
                })
                .partsDown(() -> ended ? Map.of("part", "needs the data") : Map.of())
                .grpc(DialectSettings.DEFAULTS)
                .defaultAgent("echo")
                .handler("/slow", (request, body) -> {
                    entered.countDown();
                    try {
                        mayGo.await();
                    } catch (InterruptedException stop) {
                        Thread.currentThread().interrupt();
                    }
                    return TestServer.text("from the old data");
                })
                .handler("/events", (request, body) -> events.answer())
                .start();
        started.add(agent.served(started, "echo"));
        return started;
    }

    private void end() {
        ended = true;
        server.endStreams();
    }

    @AfterEach
    void close() {
        mayGo.countDown();
        server.close();
    }

    private RawClient.Answer get(String path) throws IOException {
        try (var client = RawClient.to(server)) {
            return client.send("GET " + path + " HTTP/1.1\nHost: x\n\n").answer();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/agents",
                "/agents/echo",
                "/agents/echo/.well-known/agent-card.json",
                "/agents/echo/v1/tasks/t1",
                "/agents/none",
                "/echo",
                "/health/more"
            })
    void readsAreRefusedForNow(String path) throws Exception {
        end();

        var refused = get(path);

        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.headers()).containsKey("retry-after");
        assertThat(refused.body()).contains("The server is not ready");
        assertThat(agent.asked).isEmpty();
    }

    @Test
    void callsAndUnknownMethodsAreRefusedForNow() throws Exception {
        end();

        try (var client = RawClient.to(server)) {
            var body = Requests.send("hello");
            client.send("POST /agents/echo HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: "
                    + body.length() + "\n\n");
            var refused = client.sendExactly(body).answer();
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.body()).contains("\"jsonrpc\"");
        }
        try (var client = RawClient.to(server)) {
            assertThat(client.send("TRACE /agents/echo HTTP/1.1\nHost: x\n\n")
                            .answer()
                            .status())
                    .isEqualTo(503);
        }
        assertThat(agent.asked).isEmpty();
    }

    @Test
    void theConditionIsToldToTheLast() throws Exception {
        end();

        assertThat(get("/health").status()).isEqualTo(200);
        assertThat(get("/ready").status()).isEqualTo(503);
        assertThat(get("/ready").headers()).containsEntry("retry-after", "5");
        assertThat(get("/ready").body()).isEqualTo("{\"reason\":\"the data is gone\",\"status\":\"not ready\"}");
    }

    @Test
    void anAnswerThatIsMadeMeanwhileIsNotSent() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send("GET /slow HTTP/1.1\nHost: x\n\n");
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();

            end();
            mayGo.countDown();

            var refused = client.answer();
            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.body()).doesNotContain("old data");
        }
    }

    @Test
    void anOpenStreamEndsWithAnErrorThatClientsRetry() throws Exception {
        try (var client = RawClient.to(server)) {
            client.send("GET /events HTTP/1.1\nHost: x\n\n").head();
            client.chunk();

            end();

            assertThat(client.chunk()).contains("UNAVAILABLE");
            assertThat(client.chunk()).isEmpty();
        }
    }

    @Test
    void callsOverGrpcAreRefusedAndHealthTellsIt() {
        ManagedChannel channel = OkHttpChannelBuilder.forTarget(server.authority())
                .usePlaintext()
                .build();
        try {
            var stub = A2AServiceGrpc.newBlockingStub(channel);
            var health = HealthGrpc.newBlockingStub(channel);
            Iterator<HealthCheckResponse> watch = health.watch(HealthCheckRequest.getDefaultInstance());
            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.SERVING);
            agent.events.show(1);
            Iterator<?> stream = stub.subscribeToTask(
                    SubscribeToTaskRequest.newBuilder().setId("t1").build());
            stream.next();

            end();

            requireUnavailable(stream::next);
            assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
            requireUnavailable(watch::next);
            requireUnavailable(
                    () -> stub.getTask(GetTaskRequest.newBuilder().setId("t1").build()));
            assertThat(health.check(HealthCheckRequest.getDefaultInstance()).getStatus())
                    .isEqualTo(ServingStatus.NOT_SERVING);
        } finally {
            channel.shutdownNow();
        }
    }

    private static void requireUnavailable(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class,
                        refused -> assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
    }
}
