package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.engine.Agent;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
final class HubTest {
    private static final Agent ECHO =
            Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));

    @TempDir
    Path data = Path.of("");

    @Test
    void tasksAreThereAfterARestart() {
        String id;
        try (Hub hub = hub().start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            id = ((Task) client.send("keep this")).id();
        }

        try (Hub hub = hub().start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            assertThat(client.task(id).text()).isEqualTo("keep this");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /health, 'GET, HEAD'",
        "POST, /metrics, 'GET, HEAD'",
        "POST, /extensions, 'GET, HEAD'",
        "POST, /extensions/knowledge-graph/v1, 'GET, HEAD'",
        "POST, /.well-known/oauth-protected-resource, 'GET, HEAD'",
        "GET, /oauth/token, POST",
        "GET, /admin/privacy/erase?principal=alice, POST",
        "PUT, /admin/knowledge/shapes, 'GET, HEAD, POST'"
    })
    void whoTakesAnotherMethodIsToldWhich(String method, String path, String allowed) throws Exception {
        try (Hub hub = hub().start();
                HttpClient http = HttpClient.newHttpClient()) {
            var answer = http.send(
                    HttpRequest.newBuilder(URI.create(hub.url() + path))
                            .method(method, BodyPublishers.noBody())
                            .build(),
                    BodyHandlers.discarding());

            assertThat(answer.statusCode()).isEqualTo(405);
            assertThat(answer.headers().firstValue("Allow")).contains(allowed);
        }
    }

    @Test
    void aHubThatCannotStartLetsGoOfItsDirectory(@TempDir Path other) {
        Agent knowing = Agent.named("knowing", "Knows")
                .uses(SharedKnowledge.VIEW)
                .handle((request, reply) -> reply.complete(request.text()));
        try (Hub first = hub().start()) {
            int taken = URI.create(first.url()).getPort();
            assertThatThrownBy(() -> Hub.builder()
                            .data(other)
                            .port(taken)
                            .agents(knowing)
                            .start())
                    .isInstanceOf(RuntimeException.class);
        }

        try (Hub second = Hub.builder().data(other).port(0).agents(knowing).start()) {
            assertThat(second.url()).isNotEmpty();
        }
    }

    @Test
    void aDirectoryIsUsedByOneHubAtATime() {
        try (Hub first = hub().start()) {
            assertThatThrownBy(() -> hub().start()).hasMessageContaining("is in use by another hub");
            assertThat(first.url()).isNotEmpty();
        }
    }

    @Test
    void withoutAuthenticationOnlyLoopbackAddressesAreBound() {
        assertThatThrownBy(() -> hub().bind("0.0.0.0").start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0.0.0.0 (expected: a loopback address");
    }

    @Test
    void anUnknownDefaultAgentIsNamedNextToThoseThatExist() {
        assertThatThrownBy(() -> hub().defaultAgent("nobody").start())
                .hasMessage("default agent: nobody (expected: one of echo)");
    }

    @Test
    void aThousandAgentsAreHostedAtOnce() {
        Agent[] agents = IntStream.range(0, 1_000)
                .mapToObj(i -> Agent.named("agent-" + i, "One of many")
                        .handle((request, reply) -> reply.complete("from " + i)))
                .toArray(Agent[]::new);
        long begin = System.nanoTime();

        try (Hub hub = Hub.builder().inMemory().port(0).agents(agents).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("agent-999"))) {
            System.out.printf("1,000 agents hosted in %d ms%n", (System.nanoTime() - begin) / 1_000_000);
            assertThat(((Task) client.send("hello")).text()).isEqualTo("from 999");
        }
    }

    @Test
    void aHubIsUnavailableUntilAllOfItsAgentsAreHosted() throws Exception {
        int port;
        try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        var answers = new ArrayList<String>();
        Logger log = Logger.getLogger("dev.parley.hub");
        // Called while the second agent is about to be hosted, since its name looks like that of the first.
        var between = new Handler() {
            @Override
            public void publish(LogRecord row) {
                for (String path : List.of("/ready", "/agents/ech0", "/agents/echo")) {
                    answers.add(path + " " + status("http://127.0.0.1:" + port + path));
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        log.addHandler(between);
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(port)
                .agents(
                        Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete("again")),
                        Agent.named("ech0", "Looks like echo").handle((request, reply) -> reply.complete("never")))
                .start()) {
            assertThat(answers).hasSize(3).startsWith("/ready 503", "/agents/ech0 503");
            assertThat(answers.getLast()).doesNotEndWith(" 503");
            assertThat(status(hub.url() + "/ready")).isEqualTo(200);
        } finally {
            log.removeHandler(between);
        }
    }

    private static int status(String url) {
        var request = HttpRequest.newBuilder(URI.create(url))
                .timeout(Duration.ofSeconds(30))
                .build();
        try (HttpClient http = HttpClient.newHttpClient()) {
            return http.send(request, BodyHandlers.discarding()).statusCode();
        } catch (IOException failure) {
            return -1;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            return -1;
        }
    }

    @Test
    void webhooksAreToldInOrderAndSigned() throws Exception {
        try (var receiver = new Receiver(200);
                Hub hub = hub().webhookAllow(List.of("127.0.0.1")).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            client.call(sendWithWebhook(receiver.url()), CallContext.anonymous());

            var signatures = StandardWebhooks.of(List.of(WebhookSecrets.in(data).of("default")));
            for (String expected : List.of("\"task\"", "artifactUpdate", "TASK_STATE_COMPLETED")) {
                Delivery delivery = receiver.next();
                assertThat(new String(delivery.body(), StandardCharsets.UTF_8)).contains(expected);
                assertThat(delivery.headers().get("X-a2a-notification-token")).isEqualTo("token-1");
                assertThat(delivery.headers().get("Authorization")).isEqualTo("Bearer secret-1");
                assertThat(signatures.verify(
                                name -> delivery.headers().get(canonical(name)), delivery.body(), Instant.now()))
                        .isInstanceOf(StandardWebhooks.Verdict.Genuine.class);
            }
        }
    }

    @Test
    void webhooksToPrivateAddressesAreRefused() {
        try (Hub hub = hub().start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            assertThatThrownBy(() ->
                            client.call(sendWithWebhook("http://169.254.169.254/latest"), CallContext.anonymous()))
                    .isInstanceOf(A2AException.class)
                    .hasMessageContaining("url");
        }
    }

    @Test
    void deliveriesThatWereGivenUpAreListedAndCanBeTakenUpAgain() throws Exception {
        try (var receiver = new Receiver(410);
                Hub hub = hub().webhookAllow(List.of("127.0.0.1")).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            Task task = (Task) client.call(sendWithWebhook(receiver.url()), CallContext.anonymous());
            receiver.next();
            String list = Eventually.value(
                    "the webhook is given up",
                    () -> request(hub, "GET", "/admin/webhooks/dead").body(),
                    dead -> dead.contains(task.id()));
            assertThat(list).contains("status 410").doesNotContain("secret-1");
            receiver.status = 200;

            HttpResponse<String> again = request(hub, "POST", "/admin/webhooks/" + task.id() + "/hook-1/redeliver");

            assertThat(again.statusCode()).isEqualTo(200);
            assertThat(new String(receiver.next().body(), StandardCharsets.UTF_8))
                    .contains("\"task\"");
        }
    }

    @Test
    void deliveriesThatFailedAreListedWithTheNextAttempt() throws Exception {
        try (var receiver = new Receiver(503);
                Hub hub = hub().webhookAllow(List.of("127.0.0.1")).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            assertThat(request(hub, "GET", "/admin/webhooks/waiting").body()).isEqualTo("{\"webhooks\":[]}");
            Task task = (Task) client.call(sendWithWebhook(receiver.url()), CallContext.anonymous());
            receiver.next();
            String list = Eventually.value(
                    "the webhook waits",
                    () -> request(hub, "GET", "/admin/webhooks/waiting").body(),
                    waiting -> waiting.contains(task.id()));

            assertThat(list)
                    .contains("status 503", "\"nextAttempt\":\"", "\"attempts\":")
                    .doesNotContain("secret-1");
            assertThat(request(hub, "GET", "/admin/webhooks/dead").body()).doesNotContain(task.id());
        }
    }

    private HubBuilder hub() {
        return Hub.builder().data(data).port(0).agents(ECHO);
    }

    private static SendMessage sendWithWebhook(String url) {
        var config = new PushConfig(
                null, "hook-1", null, url, "token-1", new PushConfig.Authentication("Bearer", "secret-1"));
        return new SendMessage(
                null,
                Message.user(Part.text("hello")),
                new SendConfiguration(List.of(), config, null, false),
                Map.of());
    }

    private static HttpResponse<String> request(Hub hub, String method, String path)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("Content-Type", "application/json")
                .method(method, HttpRequest.BodyPublishers.ofString(method.equals("POST") ? "{}" : ""))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    /** The spelling in which the receiver's server keeps header names. */
    private static String canonical(String name) {
        return Character.toUpperCase(name.charAt(0)) + name.substring(1).toLowerCase(java.util.Locale.ROOT);
    }

    private record Delivery(Map<String, String> headers, byte[] body) {}

    /** A webhook on the loopback interface. */
    private static final class Receiver implements AutoCloseable {
        private final BlockingQueue<Delivery> deliveries = new LinkedBlockingQueue<>();
        private final HttpServer server;
        private volatile int status;

        Receiver(int status) throws IOException {
            this.status = status;
            this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", exchange -> {
                var headers = new java.util.HashMap<String, String>();
                exchange.getRequestHeaders().forEach((name, values) -> headers.put(name, values.getFirst()));
                byte[] body = exchange.getRequestBody().readAllBytes();
                exchange.sendResponseHeaders(this.status, -1);
                exchange.close();
                deliveries.add(new Delivery(headers, body));
            });
            server.start();
        }

        String url() {
            return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
        }

        Delivery next() throws InterruptedException {
            return requireNonNull(deliveries.poll(20, TimeUnit.SECONDS), "a delivery within 20 seconds");
        }

        @Override
        public void close() {
            server.stop(0);
        }
    }
}
