package dev.parley.interop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.agents.DemoAgents;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.spi.Priority;
import dev.parley.hub.Hub;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation.Query;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The dashboard of {@code deploy/grafana}, with its queries in a Prometheus that reads a hub with callers. When it is skipped is as with
 * {@link InteropTest}.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DashboardTest {
    private static final Path DASHBOARD = Path.of("..", "deploy", "grafana", "parley.json");

    /** Panels of a fault that these callers do not meet: the counter has no series, and the query finds nothing. */
    private static final Set<String> WITHOUT_FAULT = Set.of("Answers UNAVAILABLE by agent");

    private static final Pattern METRIC = Pattern.compile("\\b(?:parley|process|jvm)_[a-z_]+");
    private static final Pattern LABEL = Pattern.compile("\\{\\{([a-z_]+)}}");
    private static final Pattern VALUES = Pattern.compile("label_values\\((.+), ([a-z_]+)\\)");

    /** A query of a panel. */
    private record Shown(String panel, String expression, String legend) {}

    private final CountDownLatch released = new CountDownLatch(1);
    private final Agent unready = Agent.named("unready", "Fails").handle((request, reply) -> reply.fail("no"));
    private final Agent busy = Agent.named("busy", "Waits")
            .concurrency(1)
            .priority(message -> Priority.HIGH)
            .handle((request, reply) -> {
                reply.working("waits");
                released.await();
                reply.complete("done");
            });

    private HttpServer receiver;
    private Hub hub;
    private Prometheus prometheus;
    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/accepts", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        receiver.start();
        hub = Hub.builder()
                .data(directory.resolve("data"))
                .port(0)
                .set("group-quota", "10GB")
                .webhookAllow(List.of("127.0.0.1"))
                .agents(Stream.concat(DemoAgents.all().stream(), Stream.of(unready, busy))
                        .toArray(Agent[]::new))
                .start();
        try (AgentClient waiting = AgentClient.connect(hub.agentUrl("busy"))) {
            for (int i = 0; i < 3; i++) {
                waiting.call(send(new SendConfiguration(List.of(), null, null, true)), CallContext.anonymous());
            }
        }
        try {
            prometheus = Prometheus.start(directory, hub.url());
        } catch (IOException notInstalled) {
            Requirement.missing(String.valueOf(notInstalled.getMessage()));
            throw new IllegalStateException("missing", notInstalled);
        }
    }

    @AfterAll
    void stop() {
        released.countDown();
        if (prometheus != null) {
            prometheus.close();
        }
        hub.close();
        receiver.stop(0);
        http.close();
    }

    @Test
    void eachQueryFindsTheMetricsOfAHub() throws Exception {
        List<Shown> queries = queries();
        try (AgentClient echo = AgentClient.connect(hub.agentUrl("echo"));
                AgentClient failing = AgentClient.connect(hub.agentUrl("unready"));
                AgentClient sensor = AgentClient.connect(hub.agentUrl("sensor"))) {
            // Rates are of numbers that grow between two readings, so the calls go on until each query has an answer.
            Eventually.asserted("each query has an answer", () -> {
                call(echo, failing, KnowledgeExtension.endpoint(sensor, sensor.card()));
                assertThat(queries).allSatisfy(this::requireAnswer);
            });
        }
    }

    /** Makes a call of each kind, failing ones included. */
    private void call(AgentClient echo, AgentClient failing, KnowledgeEndpoint graph)
            throws IOException, InterruptedException {
        failing.send("hello");
        echo.stream("hello").forEachRemaining(event -> {});
        String receiverUrl = "http://127.0.0.1:" + receiver.getAddress().getPort();
        for (String path : List.of("/accepts", "/refuses")) {
            var webhook = new PushConfig(null, "hook", null, receiverUrl + path, null, null);
            echo.call(send(new SendConfiguration(List.of(), webhook, null, false)), CallContext.anonymous());
        }
        for (String query : List.of("SELECT * WHERE { ?s ?p ?o } LIMIT 1", "no query")) {
            try {
                graph.query(Query.sparql(query), CallContext.anonymous());
            } catch (A2AException refused) {
                assertThat(query).isEqualTo("no query");
            }
        }
        for (String path : List.of(
                "/registry/agents", "/registry/agents/missing", "/agents/nobody", "/agents/echo/tasks/missing")) {
            read(path);
        }
    }

    private static SendMessage send(SendConfiguration configuration) {
        return new SendMessage(null, Message.user(Part.text("hello")), configuration, Map.of());
    }

    private String read(String path) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(URI.create(hub.url() + path)).header("A2A-Version", "1.0");
        return http.send(request.build(), BodyHandlers.ofString()).body();
    }

    private void requireAnswer(Shown shown) throws IOException, InterruptedException {
        List<Prometheus.Sample> answer = prometheus.query(filled(shown.expression()));

        if (WITHOUT_FAULT.contains(shown.panel())) {
            assertThat(answer).as(shown.toString()).isEmpty();
            return;
        }
        assertThat(answer).as(shown.toString()).anyMatch(sample -> Double.isFinite(sample.value()));
        Set<String> labels = matches(LABEL, shown.legend(), 1);
        assertThat(answer)
                .as(shown.toString())
                .allSatisfy(sample -> assertThat(sample.labels()).containsKeys(labels.toArray(String[]::new)));
    }

    /** An expression with the values of the dashboard's variables: all hubs and agents of the job. */
    private static String filled(String expression) {
        String filled = expression
                .replace("$__rate_interval", "30s")
                .replace("$job", "parley")
                .replace("$instance", ".*")
                .replace("$agent", ".*");
        assertThat(filled).doesNotContain("$");
        return filled;
    }

    @Test
    void aHubHasEachMetricOfTheDashboard() throws Exception {
        String all = queries().stream().map(Shown::expression).collect(Collectors.joining("\n"));
        Set<String> used = matches(METRIC, all, 0);

        Set<String> documented = matches(METRIC, Files.readString(Path.of("..", "docs", "observability.md")), 0);

        assertThat(used).hasSizeGreaterThan(25);
        // Counters have a series from the first event on; the other test has raised those that are no longer missing
        // here.
        Eventually.asserted("each metric is on the page", () -> {
            try (AgentClient echo = AgentClient.connect(hub.agentUrl("echo"));
                    AgentClient failing = AgentClient.connect(hub.agentUrl("unready"));
                    AgentClient sensor = AgentClient.connect(hub.agentUrl("sensor"))) {
                call(echo, failing, KnowledgeExtension.endpoint(sensor, sensor.card()));
            }
            assertThat(matches(METRIC, read("/metrics"), 0)).containsAll(used);
        });
        assertThat(documented)
                .containsAll(used.stream()
                        .filter(name -> name.startsWith("parley_"))
                        .map(name -> name.replaceFirst("_(bucket|count|sum)$", ""))
                        .collect(Collectors.toSet()));
    }

    @Test
    void variablesHaveValues() throws Exception {
        for (Map<?, ?> variable : objects((Map<?, ?>) requireNonNull(dashboard().get("templating")), "list")) {
            if (!"query".equals(variable.get("type"))) {
                assertThat(variable.get("name")).isEqualTo("datasource");
                continue;
            }
            Matcher values = VALUES.matcher(String.valueOf(variable.get("query")));
            assertThat(values.matches()).as(variable.toString()).isTrue();
            String expression = filled(values.group(1));
            Eventually.asserted(expression + " has a value", () -> {
                read("/agents/echo/tasks/missing");
                assertThat(prometheus.query(expression))
                        .anyMatch(sample -> sample.labels().containsKey(values.group(2)));
            });
        }
    }

    @Test
    void panelsHavePlacesOfTheirOwn() throws Exception {
        var places = new HashSet<List<Integer>>();
        var ids = new ArrayList<Object>();
        var titles = new ArrayList<Object>();
        for (Map<?, ?> panel : objects(dashboard(), "panels")) {
            ids.add(panel.get("id"));
            titles.add(panel.get("title"));
            var at = (Map<?, ?>) requireNonNull(panel.get("gridPos"));
            for (int x = number(at, "x"); x < number(at, "x") + number(at, "w"); x++) {
                for (int y = number(at, "y"); y < number(at, "y") + number(at, "h"); y++) {
                    assertThat(places.add(List.of(x, y))).as(panel.toString()).isTrue();
                    assertThat(x).isLessThan(24);
                }
            }
        }
        assertThat(ids).doesNotHaveDuplicates().doesNotContainNull();
        assertThat(titles).doesNotHaveDuplicates().doesNotContainNull();
        assertThat(titles).containsAll(WITHOUT_FAULT);
    }

    private static int number(Map<?, ?> in, String member) {
        return ((Number) requireNonNull(in.get(member))).intValue();
    }

    private static List<Shown> queries() throws IOException {
        var queries = new ArrayList<Shown>();
        for (Map<?, ?> panel : objects(dashboard(), "panels")) {
            for (Map<?, ?> target : objects(panel, "targets")) {
                queries.add(new Shown(
                        String.valueOf(panel.get("title")),
                        String.valueOf(target.get("expr")),
                        String.valueOf(target.get("legendFormat"))));
            }
        }
        assertThat(queries).hasSizeGreaterThan(40);
        return queries;
    }

    private static Map<?, ?> dashboard() throws IOException {
        return Json.read(Files.readAllBytes(DASHBOARD), Map.class);
    }

    @SuppressWarnings("unchecked") // JSON has no other objects
    private static List<Map<?, ?>> objects(Map<?, ?> in, String member) {
        var list = (List<Map<?, ?>>) in.get(member);
        return list == null ? List.of() : list;
    }

    private static Set<String> matches(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult match) -> match.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
