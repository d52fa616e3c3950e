package dev.parley.gateway.upstream;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.parley.client.AgentClient;
import dev.parley.gateway.hub.Admin;
import dev.parley.hub.Hub;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Metrics and traces of routes, by their values after known traffic. */
@Timeout(60)
@Tag("heavy")
final class GatewayMetricsTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static Hub hub;

    /** Settings of a route with which a call fails for each cause; the text of the message is the cause. */
    private static final Map<String, List<String>> CAUSES = new LinkedHashMap<>();

    static {
        for (String cause : Failure.CAUSES) {
            CAUSES.put(cause, List.of());
        }
        CAUSES.put("first_byte", List.of("first-byte-timeout=0.3s"));
        CAUSES.put("total", List.of("total-timeout=0.3s"));
        CAUSES.put("idle", List.of("idle-timeout=0.05s", "resumes=0"));
    }

    private final CountDownLatch end = new CountDownLatch(1);
    private ScriptedReplica replica;

    @BeforeEach
    void start() throws IOException {
        replica = new ScriptedReplica((body, out, in) -> {
            if (body.contains("\"GetTask\"")) {
                String other = ScriptedReplica.task("other", "TASK_STATE_WORKING");
                ScriptedReplica.result(out, other.substring("{\"task\":".length(), other.length() - 1));
            } else if (body.contains("task please")) {
                ScriptedReplica.result(out, ScriptedReplica.task("t", "TASK_STATE_WORKING"));
            } else if (body.contains("cause agent")) {
                ScriptedReplica.answer(
                        out, "200 OK", "", "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32004,\"message\":\"no\"}}");
            } else if (body.contains("cause busy")) {
                ScriptedReplica.error(out, "429 Too Many Requests", "");
            } else if (body.contains("cause unavailable")) {
                ScriptedReplica.error(out, "503 Service Unavailable", "");
            } else if (body.contains("cause credential")) {
                ScriptedReplica.error(out, "401 Unauthorized", "WWW-Authenticate: Bearer\r\n");
            } else if (body.contains("cause invalid")) {
                ScriptedReplica.result(out, "{\"neither\":1}");
            } else if (body.contains("cause first_byte") || body.contains("cause total")) {
                int unused = in.read();
            } else if (body.contains("cause idle")) {
                ScriptedReplica.stream(out);
                ScriptedReplica.event(out, ScriptedReplica.task("i", "TASK_STATE_WORKING"));
                int unused = in.read();
            } else if (body.contains("\"SendStreamingMessage\"")) {
                ScriptedReplica.stream(out);
                ScriptedReplica.event(out, ScriptedReplica.task("s", "TASK_STATE_WORKING"));
                end.await();
                ScriptedReplica.event(
                        out,
                        "{\"artifactUpdate\":{\"taskId\":\"s\",\"contextId\":\"c\",\"artifact\":{\"artifactId\":\"a\","
                                + "\"parts\":[{\"text\":\"x\"}]}}}");
                ScriptedReplica.event(out, status("TASK_STATE_COMPLETED"));
            } else if (!body.contains("cause lost")) {
                ScriptedReplica.result(out, ScriptedReplica.MESSAGE);
            }
        });
    }

    @AfterEach
    void stop() {
        end.countDown();
        replica.close();
    }

    @BeforeAll
    static void host() {
        hub = Hub.builder().inMemory().port(0).drain(Duration.ZERO).start();
    }

    @AfterAll
    static void close() {
        hub.close();
    }

    private static String status(String state) {
        return "{\"statusUpdate\":{\"taskId\":\"s\",\"contextId\":\"c\",\"status\":{\"state\":\"" + state + "\"}}}";
    }

    private void route(String name, List<String> settings, String... replicas) throws Exception {
        var set = new ArrayList<>(settings);
        set.add("retries=0");
        set.add("probe=1h");
        var options = new LinkedHashMap<String, Object>(Map.of("set", set));
        if (replicas.length > 0) {
            options.put("replicas", List.of(replicas));
        }
        Admin.of(hub).add(name, replica.url(), options);
    }

    private static AgentClient client(String route) {
        return AgentClient.builder().retries(0).reconnects(0).connect(hub.agentUrl(route));
    }

    private static String metrics() throws Exception {
        HttpRequest request =
                HttpRequest.newBuilder(URI.create(hub.url() + "/metrics")).build();
        return Admin.HTTP.send(request, BodyHandlers.ofString()).body();
    }

    @Test
    void callsAndEventsOfAStreamAreCounted() throws Exception {
        route("good", List.of());
        try (AgentClient client = client("good")) {
            client.send("one");
            client.send("two");
            try (var stream = client.stream("three")) {
                assertThat(stream.next()).isNotNull();
                assertThat(metrics())
                        .contains("gateway_open_streams{route=\"good\"} 1.0")
                        .contains("gateway_events_total{route=\"good\"} 1.0");
                end.countDown();
                while (stream.hasNext()) {
                    assertThat(stream.next()).isNotNull();
                }
            }
        }

        assertThat(metrics())
                .contains("gateway_first_event_seconds_count{route=\"good\"} 3")
                .contains("gateway_first_event_seconds_bucket{route=\"good\",le=\"60.0\"} 3")
                .contains("gateway_events_total{route=\"good\"} 3.0")
                .contains("gateway_open_streams{route=\"good\"} 0.0")
                .doesNotContainPattern("gateway_upstream_failures_total\\{[^}]*route=\"good\"[^}]*}");
    }

    @Test
    void eachFailedAttemptIsCountedByItsCause() throws Exception {
        String closed;
        try (var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = "http://127.0.0.1:" + server.getLocalPort() + "/agent";
        }
        for (var cause : CAUSES.entrySet()) {
            String name = cause.getKey().replace('_', '-');
            route(name, cause.getValue(), cause.getKey().equals("connect") ? new String[] {closed} : new String[0]);
            try (AgentClient client = client(name)) {
                Message message = Message.user(Part.text("cause " + cause.getKey()));
                if (cause.getKey().equals("idle")) {
                    try (var stream = client.stream(message)) {
                        assertThat(catchThrowable(() -> stream.forEachRemaining(
                                        event -> assertThat(event).isNotNull())))
                                .as(name)
                                .isNotNull();
                    }
                    continue;
                }
                boolean waits = !cause.getKey().equals("first_byte");
                var configuration = new SendConfiguration(List.of(), null, null, !waits);
                assertThat(catchThrowable(() -> client.call(
                                new Operation.SendMessage(null, message, configuration, Map.of()),
                                CallContext.anonymous())))
                        .as(name)
                        .isNotNull();
            }
        }

        List<String> counted = metrics()
                .lines()
                .filter(line -> line.startsWith("gateway_upstream_failures_total"))
                .filter(line -> !line.contains("route=\"broken\""))
                .toList();

        assertThat(counted)
                .containsExactlyInAnyOrderElementsOf(CAUSES.keySet().stream()
                        .map(cause -> "gateway_upstream_failures_total{cause=\"" + cause + "\",route=\""
                                + cause.replace('_', '-') + "\"} 1.0")
                        .toList());
    }

    @Test
    void breakersAndForeignAnswersAreShown() throws Exception {
        route("broken", List.of("failures=1", "pause=1h"));
        String breaker = "gateway_breaker_state{replica=\"" + Replica.id(replica.url()) + "\",route=\"broken\"} ";
        try (AgentClient client = client("broken")) {
            String id = ((Task) client.send("task please")).id();
            assertThat(catchThrowable(() -> client.task(id))).isNotNull();
            assertThat(metrics()).contains("gateway_foreign_answers_total{route=\"broken\"} 1.0");

            assertThat(catchThrowable(() -> client.send("cause lost"))).isNotNull();
            assertThat(metrics()).contains(breaker + "2.0");
        }
    }

    @Test
    @DisplayName("the page of the gateway lists the metrics that a hub shows, and no others")
    void documentation() throws Exception {
        var documented = new TreeSet<String>();
        var names = Pattern.compile("^\\| `(gateway_[a-z_]+?)(_total)?` \\|");
        try (BufferedReader page = Files.newBufferedReader(Path.of("../docs/gateway.md"), UTF_8)) {
            page.lines().map(names::matcher).filter(Matcher::find).forEach(row -> documented.add(row.group(1)));
        }
        String source = Files.readString(Path.of("src/main/java/dev/parley/gateway/upstream/GatewayMetrics.java"))
                + Files.readString(Path.of("src/main/java/dev/parley/gateway/hub/Routes.java"));
        var made = new TreeSet<String>();
        Pattern.compile("\"(gateway_[a-z_]+)\"").matcher(source).results().forEach(name -> made.add(name.group(1)));

        assertThat(documented).isNotEmpty().isEqualTo(made);
    }

    @Test
    void theTraceOfACallerGoesToTheAgent() throws Exception {
        route("traced", List.of());
        String body =
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":{\"message\":{\"messageId\":\"m\","
                        + "\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hi\"}]}}}";
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.agentUrl("traced")))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-01")
                .POST(BodyPublishers.ofString(body))
                .build();

        assertThat(Admin.HTTP.send(request, BodyHandlers.ofString()).body()).contains("\"message\"");

        assertThat(replica.heads).singleElement().asString().containsIgnoringCase("traceparent: 00-" + TRACE + "-");
    }
}
