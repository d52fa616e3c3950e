package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc;
import dev.parley.dialect.grpc.v1.A2AServiceGrpc.A2AServiceBlockingStub;
import dev.parley.dialect.grpc.v1.Message;
import dev.parley.dialect.grpc.v1.Part;
import dev.parley.dialect.grpc.v1.Role;
import dev.parley.dialect.grpc.v1.SendMessageConfiguration;
import dev.parley.dialect.grpc.v1.SendMessageRequest;
import dev.parley.dialect.grpc.v1.SubscribeToTaskRequest;
import dev.parley.engine.Agent;
import dev.parley.protocol.AgentCard;
import dev.parley.testkit.Eventually;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.okhttp.OkHttpChannelBuilder;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.Iterator;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hub that stops while calls are in progress, and its next start. */
@Timeout(120)
@Tag("heavy")
final class StopTest {
    @TempDir
    Path data = Path.of("");

    private final Semaphore begun = new Semaphore(0);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient http = HttpClient.newHttpClient();

    @AfterEach
    void close() {
        threads.shutdownNow();
        http.close();
    }

    private Agent endless() {
        return Agent.named("endless", "Never ends").handle((request, reply) -> {
            reply.working("busy");
            begun.release();
            new CountDownLatch(1).await();
        });
    }

    private Hub hub(Duration drain) {
        return Hub.builder()
                .port(0)
                .data(data)
                .grpcOnCards(true)
                .agents(endless())
                .drain(drain)
                .start();
    }

    @Test
    void everybodyWhoWaitsIsToldOfTheStopWithinTheDrainTime() throws Exception {
        Hub hub = hub(Duration.ofSeconds(1));
        URI url = URI.create(hub.agentUrl("endless"));
        Future<HttpResponse<String>> blocked =
                threads.submit(() -> http.send(post(url, "SendMessage", "blocked"), BodyHandlers.ofString()));
        Future<String> stream = threads.submit(() -> readAll(url));
        try (AgentClient grpc =
                AgentClient.builder().prefer(AgentCard.Interface.GRPC).connect(hub.agentUrl("endless"))) {
            Future<?> called = threads.submit(() -> grpc.send("go"));
            begun.acquire(3);

            long start = System.nanoTime();
            hub.close();
            Duration took = Duration.ofNanos(System.nanoTime() - start);

            assertThat(blocked.get().statusCode()).isEqualTo(503);
            assertThat(blocked.get().body()).contains("The server is stopping");
            assertThat(stream.get()).contains("The server is stopping");
            // The client goes on to the other interfaces of the card, where nobody listens any more.
            assertThatThrownBy(called::get).isInstanceOf(ExecutionException.class);
            // The drain time of 1 s, and room for a busy machine; far less than the 10 s of a default.
            assertThat(took).isLessThan(Duration.ofSeconds(8));
        }
    }

    /** Calls over gRPC that wait: for an outcome, for the next event of a message, for the next event of a task. */
    enum Waiting {
        CALL {
            @Override
            void await(A2AServiceBlockingStub stub, Runnable begun) {
                stub.sendMessage(message(UUID.randomUUID().toString()));
            }
        },
        STREAM {
            @Override
            void await(A2AServiceBlockingStub stub, Runnable begun) {
                stub.sendStreamingMessage(message(UUID.randomUUID().toString())).forEachRemaining(event -> {});
            }
        },
        SUBSCRIPTION {
            @Override
            void await(A2AServiceBlockingStub stub, Runnable begun) {
                String id = stub.sendMessage(message(UUID.randomUUID().toString()).toBuilder()
                                .setConfiguration(
                                        SendMessageConfiguration.newBuilder().setReturnImmediately(true))
                                .build())
                        .getTask()
                        .getId();
                Iterator<?> events = stub.subscribeToTask(SubscribeToTaskRequest.newBuilder()
                        .setTenant("endless")
                        .setId(id)
                        .build());
                events.next();
                begun.run();
                events.forEachRemaining(event -> {});
            }
        };

        /** Waits until the hub stops. */
        abstract void await(A2AServiceBlockingStub stub, Runnable begun);

        private static SendMessageRequest message(String id) {
            return SendMessageRequest.newBuilder()
                    .setTenant("endless")
                    .setMessage(Message.newBuilder()
                            .setMessageId(id)
                            .setRole(Role.ROLE_USER)
                            .addParts(Part.newBuilder().setText("go")))
                    .build();
        }
    }

    @ParameterizedTest
    @EnumSource
    void callersOverGrpcAreToldThatTheServerIsStopping(Waiting waiting) throws Exception {
        Hub hub = hub(Duration.ofSeconds(1));
        URI url = URI.create(hub.url());
        ManagedChannel channel = OkHttpChannelBuilder.forAddress(
                        url.getHost(), url.getPort(), InsecureChannelCredentials.create())
                .build();
        try {
            var subscribed = new CountDownLatch(waiting == Waiting.SUBSCRIPTION ? 1 : 0);
            Future<?> call =
                    threads.submit(() -> waiting.await(A2AServiceGrpc.newBlockingStub(channel), subscribed::countDown));
            begun.acquire();
            assertThat(subscribed.await(60, TimeUnit.SECONDS)).isTrue();

            hub.close();

            assertThatThrownBy(() -> call.get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOfSatisfying(StatusRuntimeException.class, told -> {
                        assertThat(told.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                        assertThat(told.getStatus().getDescription()).isIn("The server is stopping", "Shutting down");
                    });
        } finally {
            hub.close();
            channel.shutdownNow();
        }
    }

    @Test
    void aTaskThatCannotBeReadIsShownToOperatorsAndKeepsTheHubFromNothing() throws Exception {
        Hub before = hub(Duration.ZERO);
        var blocked = threads.submit(() -> http.send(
                post(URI.create(before.agentUrl("endless")), "SendMessage", "damaged"), BodyHandlers.discarding()));
        begun.acquire();
        before.close();
        assertThat(blocked.get().statusCode()).isEqualTo(503);
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE segment SET events = x'00'");
        }

        try (Hub after = hub(Duration.ZERO)) {
            HttpRequest unreadable = HttpRequest.newBuilder(URI.create(after.url() + "/admin/tasks/unreadable"))
                    .build();
            Eventually.asserted(
                    "the task is listed",
                    () -> assertThat(http.send(unreadable, BodyHandlers.ofString())
                                    .body())
                            .contains("\"agent\":\"endless\"")
                            .contains("cannot be read"));
        }
    }

    private static HttpRequest post(URI url, String method, String messageId) {
        return HttpRequest.newBuilder(url)
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .POST(BodyPublishers.ofString("""
                        {"jsonrpc":"2.0","id":1,"method":"%s","params":{"message":
                        {"messageId":"%s","role":"ROLE_USER","parts":[{"text":"go"}]}}}""".formatted(method, messageId)))
                .build();
    }

    private String readAll(URI url) throws Exception {
        var answer = http.send(post(url, "SendStreamingMessage", "stream"), BodyHandlers.ofInputStream());
        try (var reader = new BufferedReader(new InputStreamReader(answer.body(), StandardCharsets.UTF_8))) {
            return String.join("\n", reader.lines().toList());
        }
    }
}
