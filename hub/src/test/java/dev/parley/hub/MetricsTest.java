package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.hawkular.agent.prometheus.text.TextPrometheusMetricsProcessor;
import org.hawkular.agent.prometheus.types.Counter;
import org.hawkular.agent.prometheus.types.Gauge;
import org.hawkular.agent.prometheus.types.Histogram;
import org.hawkular.agent.prometheus.types.MetricFamily;
import org.hawkular.agent.prometheus.walkers.CollectorPrometheusMetricsWalker;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of measurements, as a parser of Prometheus' text format reads it. */
@Timeout(60)
final class MetricsTest {
    private static final Agent ECHO =
            Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));

    @TempDir
    Path data = Path.of("");

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    @DisplayName("GEM28: rate, errors, latency and resources are on the page")
    void rateErrorsLatencyAndResources() throws Exception {
        try (Hub hub = Hub.builder().data(data).port(0).agents(ECHO).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            client.send("one");
            client.send("two");
            assertThatThrownBy(() -> client.task("nobody's")).isInstanceOf(A2AException.class);

            var page = scrape(hub);

            var sends = Map.of("agent", "echo", "operation", "SendMessage", "dialect", "1.0");
            assertThat(page.counter("parley_requests_total", sends)).isEqualTo(2);
            assertThat(page.histogram("parley_request_duration_seconds", sends).getSampleCount())
                    .isEqualTo(2);
            assertThat(page.counter(
                            "parley_errors_total",
                            Map.of(
                                    "agent",
                                    "echo",
                                    "operation",
                                    "GetTask",
                                    "dialect",
                                    "1.0",
                                    "error",
                                    "TASK_NOT_FOUND")))
                    .isEqualTo(1);
            assertThat(page.histogram("parley_commit_size", Map.of()).getSampleSum())
                    .isPositive();
            assertThat(page.gauge("parley_waiting_tasks", Map.of("agent", "echo")))
                    .isZero();
            assertThat(page.families())
                    .contains(
                            "jvm_memory_used_bytes",
                            "jvm_gc_collection_seconds",
                            "jvm_threads_current",
                            "process_cpu_seconds_total",
                            "process_start_time_seconds");
        }
    }

    @Test
    @DisplayName("ONE33: response time and success rate of each agent can be told")
    void responseTimeAndSuccessRate() throws Exception {
        Agent moody = Agent.named("moody", "Fails every other time").handle((request, reply) -> {
            if (request.text().equals("bad")) {
                reply.fail("not today");
            } else {
                reply.complete("well");
            }
        });
        try (Hub hub = Hub.builder().inMemory().port(0).agents(ECHO, moody).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("moody"))) {
            client.send("good");
            client.send("bad");

            var page = scrape(hub);

            var completed =
                    page.histogram("parley_run_duration_seconds", Map.of("agent", "moody", "state", "completed"));
            var failed = page.histogram("parley_run_duration_seconds", Map.of("agent", "moody", "state", "failed"));
            assertThat(completed.getSampleCount()).isEqualTo(1);
            assertThat(completed.getSampleSum()).isPositive();
            assertThat(failed.getSampleCount()).isEqualTo(1);
            assertThat(page.histogram(
                                    "parley_request_duration_seconds",
                                    Map.of("agent", "moody", "operation", "SendMessage", "dialect", "1.0"))
                            .getSampleSum())
                    .isPositive();
        }
    }

    @Test
    void requestsOverGrpcAreCountedWithThoseOverHttp() throws Exception {
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .grpcOnCards(true)
                        .agents(ECHO)
                        .start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"));
                AgentClient grpc = AgentClient.builder().prefer("GRPC").connect(hub.agentUrl("echo"))) {
            client.send("one");
            grpc.send("two");

            assertThat(scrape(hub).values("parley_requests_total"))
                    .containsExactly(
                            Map.entry(Map.of("agent", "echo", "operation", "SendMessage", "dialect", "1.0"), 2.0));
        }
    }

    @Test
    void aRequestIsCountedOnceWhateverItsDialectLooksUpBesides() throws Exception {
        try (Hub hub = Hub.builder().inMemory().port(0).agents(ECHO).start()) {
            post(hub, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tasks/get\",\"params\":{\"id\":\"nobody's\"}}");

            assertThat(scrape(hub).values("parley_requests_total").values()).containsExactly(1.0);
        }
    }

    @Test
    void streamsAreCountedAsLongAsTheyAreOpenAndTasksWhileTheyWait() throws Exception {
        var done = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "Takes its time").concurrency(1).handle((request, reply) -> {
            reply.working("begun");
            done.await();
            reply.complete("done");
        });
        try (Hub hub = Hub.builder().inMemory().port(0).agents(slow).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("slow"));
                TaskStream first = client.stream("one");
                TaskStream second = client.stream("two")) {
            assertThat(first.next()).isNotNull();
            assertThat(second.next()).isNotNull();

            var page = scrape(hub);
            done.countDown();

            assertThat(page.gauge("parley_open_streams", Map.of("agent", "slow")))
                    .isEqualTo(2);
            assertThat(page.gauge("parley_running_tasks", Map.of("agent", "slow")))
                    .isEqualTo(1);
            assertThat(page.gauge("parley_waiting_tasks", Map.of("agent", "slow")))
                    .isEqualTo(1);
        }
    }

    @Test
    void webhooksThatHaveNotBeenToldEverythingAreCounted() throws Exception {
        var called = new CountDownLatch(1);
        var read = new CountDownLatch(1);
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            called.countDown();
            await(read);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .agents(ECHO)
                        .webhookAllow(List.of("127.0.0.1"))
                        .start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            String url = "http://127.0.0.1:" + receiver.getAddress().getPort() + "/";
            var webhook = new PushConfig(null, "hook", null, url, null, null);
            var configuration = new SendConfiguration(List.of(), webhook, null, false);
            client.call(
                    new SendMessage(null, Message.user(Part.text("hello")), configuration, Map.of()),
                    CallContext.anonymous());
            await(called);

            var page = scrape(hub);
            read.countDown();

            assertThat(page.gauge("parley_webhooks_pending", Map.of())).isEqualTo(1);
        } finally {
            receiver.stop(0);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void whereCallersHaveToShowSomethingThePageIsForTheScopeMetrics() throws Exception {
        var callers = Callers.builder()
                .environment(Map.of(
                        "PARLEY_CALLER_PROMETHEUS_API_KEY", "scraper-key-0123456789",
                        "PARLEY_CALLER_PROMETHEUS_SCOPES", "metrics",
                        "PARLEY_CALLER_OTHER_API_KEY", "other-key-0123456789"))
                .build();
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .agents(ECHO)
                .callers(callers)
                .authentication(Authentication.named(List.of("apiKey")))
                .start()) {
            assertThat(get(hub, "").statusCode()).isEqualTo(401);
            assertThat(get(hub, "other-key-0123456789").statusCode()).isEqualTo(403);
            assertThat(get(hub, "scraper-key-0123456789").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void whatIsRefusedBeforeItComesToAnAgentIsCountedByItsStatus() throws Exception {
        String key = "scraper-key-0123456789";
        var callers = Callers.builder()
                .apiKey("prometheus", key)
                .scopes("prometheus", List.of("metrics"))
                .build();
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .grpcOnCards(true)
                        .agents(ECHO)
                        .set("max-body", "100B")
                        .callers(callers)
                        .authentication(Authentication.named(List.of("apiKey")))
                        .start();
                AgentClient stranger = AgentClient.builder()
                        .prefer("GRPC")
                        .apiKey("wrong-key-0123456789")
                        .connect(hub.agentUrl("echo"))) {
            var outsider = new Outsider(hub.url());
            assertThat(outsider.post("/agents/echo", "{}").statusCode()).isEqualTo(401);
            assertThatThrownBy(() -> stranger.send("hello")).isInstanceOf(A2AException.class);
            assertThat(outsider.get("/agents/nobody", "X-Api-Key", key).statusCode())
                    .isEqualTo(404);
            assertThat(outsider.post("/agents/echo", " ".repeat(101), "X-Api-Key", key)
                            .statusCode())
                    .isEqualTo(413);
            assertThat(outsider.post("/agents/echo", "{}", "X-Api-Key", key, "Content-Encoding", "gzip")
                            .statusCode())
                    .isEqualTo(415);
            assertThat(outsider.get("/admin/audit", "X-Api-Key", key).statusCode())
                    .isEqualTo(403);
            try (var socket = new Socket(
                    InetAddress.getLoopbackAddress(), URI.create(hub.url()).getPort())) {
                socket.getOutputStream().write("what?\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                        .startsWith("HTTP/1.1 400");
            }

            var page = read(get(hub, key));

            assertThat(page.values("parley_refused_requests_total"))
                    .isEqualTo(Map.of(
                            Map.of("status", "400"), 1.0,
                            Map.of("status", "401"), 2.0,
                            Map.of("status", "403"), 1.0,
                            Map.of("status", "404"), 1.0,
                            Map.of("status", "413"), 1.0,
                            Map.of("status", "415"), 1.0));
            assertThat(page.values("parley_requests_total")).isEmpty();
        }
    }

    @Test
    void metricsAreSelectedByTheirNames() throws Exception {
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .agents(Agent.named("echo", "Repeats").handle((request, reply) -> reply.complete()))
                .start()) {
            var outsider = new Outsider(hub.url());
            post(hub, "{'jsonrpc':'2.0','id':1,'method':'GetTask','params':{'id':'x'}}".replace('\'', '"'));

            assertThat(outsider.get("/metrics?name%5B%5D=parley_open_streams")
                            .body()
                            .lines())
                    .isNotEmpty()
                    .allMatch(line -> line.contains("parley_open_streams"));
            assertThat(outsider.get("/metrics?name%5B%5D=parley_open_streams&name%5B%5D=parley_requests")
                            .body())
                    .contains("parley_open_streams{", "parley_requests_total{")
                    .doesNotContain("jvm_", "parley_errors");
            assertThat(outsider.get("/metrics?name%5B%5D=none").body()).isEmpty();
        }
    }

    @Test
    void onAPortOfItsOwnThePageIsThereUntilTheHubHasStopped() throws Exception {
        var mayGoOn = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "Takes its time").handle((request, reply) -> {
            reply.working("begun");
            mayGoOn.await();
            reply.complete("done");
        });
        Hub hub = Hub.builder().inMemory().port(0).adminPort(0).agents(slow).start();
        var operator = new Outsider(hub.adminUrl());
        assertThat(hub.adminUrl()).startsWith("http://127.0.0.1:").isNotEqualTo(hub.url());
        assertThat(operator.get("/ready").statusCode()).isEqualTo(200);
        Thread closing;
        String send = "{'message':{'messageId':'1','role':'ROLE_USER','parts':[{'text':'go'}]}}";
        try (var frames =
                new Outsider(hub.url()).stream("/agents/slow", "SendStreamingMessage", send, "A2A-Version", "1.0")) {
            assertThat(frames.next()).isNotNull();
            closing = Thread.ofVirtual().start(hub::close);
            frames.all(); // they end when the hub begins to stop
        }

        assertThat(operator.get("/metrics").body()).contains("parley_running_tasks{agent=\"slow\"} 1.0");
        assertThat(operator.get("/ready").statusCode()).isEqualTo(503);
        assertThat(operator.get("/health").statusCode()).isEqualTo(200);

        mayGoOn.countDown();
        assertThat(closing.join(Duration.ofSeconds(30))).isTrue();
        assertThatThrownBy(() -> operator.get("/metrics")).isInstanceOf(IOException.class);
    }

    private HttpResponse<byte[]> get(Hub hub, String key) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(hub.url() + "/metrics"));
        if (!key.isEmpty()) {
            request.header("X-Api-Key", key);
        }
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    private void post(Hub hub, String body) throws IOException, InterruptedException {
        http.send(
                HttpRequest.newBuilder(URI.create(hub.agentUrl("echo")))
                        .header("Content-Type", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.discarding());
    }

    private Read scrape(Hub hub) throws IOException, InterruptedException {
        return read(get(hub, ""));
    }

    private static Read read(HttpResponse<byte[]> answer) {
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/plain; version=0.0.4");
        var collector = new CollectorPrometheusMetricsWalker();
        new TextPrometheusMetricsProcessor(new ByteArrayInputStream(answer.body()), collector).walk();
        return new Read(collector.getAllMetricFamilies());
    }

    /** A page as it was read. */
    private record Read(List<MetricFamily> all) {
        List<String> families() {
            return all.stream().map(MetricFamily::getName).toList();
        }

        double counter(String name, Map<String, String> labels) {
            return metric(Counter.class, name, labels).getValue();
        }

        double gauge(String name, Map<String, String> labels) {
            return metric(Gauge.class, name, labels).getValue();
        }

        Histogram histogram(String name, Map<String, String> labels) {
            return metric(Histogram.class, name, labels);
        }

        Map<Map<String, String>, Double> values(String name) {
            var values = new HashMap<Map<String, String>, Double>();
            all.stream()
                    .filter(family -> family.getName().equals(name))
                    .flatMap(family -> family.getMetrics().stream())
                    .forEach(metric -> values.put(metric.getLabels(), ((Counter) metric).getValue()));
            return values;
        }

        private <M> M metric(Class<M> type, String name, Map<String, String> labels) {
            return all.stream()
                    .filter(family -> family.getName().equals(name))
                    .flatMap(family -> family.getMetrics().stream())
                    .filter(metric -> metric.getLabels().equals(labels))
                    .map(type::cast)
                    .findAny()
                    .orElseThrow(() -> new AssertionError(name + labels + " is not on the page"));
        }
    }
}
