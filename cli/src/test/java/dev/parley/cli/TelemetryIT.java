package dev.parley.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.OtlpReceiver.Mode;
import dev.parley.testkit.Eventually;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.ScopeLogs;
import io.opentelemetry.proto.logs.v1.SeverityNumber;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Traces, metrics and logs that {@code parley up} sends by OTLP, as a receiver decodes them. In processes, because loggers are global. */
@Timeout(300)
@Tag("heavy")
class TelemetryIT {
    private static final Path JAR = Path.of(System.getProperty("parley.program"));
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String SECRET = "a-secret-of-mine";

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    /** A hub that sends telemetry often. */
    private final class Program implements AutoCloseable {
        private final Process process;
        private final String url;

        Program(Map<String, String> environment, String... more) throws IOException {
            Path java = Path.of(System.getProperty("java.home"), "bin", "java");
            var line = new ArrayList<>(List.of(
                    java.toString(), "-XX:TieredStopAtLevel=1", "-Duser.home=" + directory, "-jar", JAR.toString()));
            line.addAll(List.of("up", "--port", "0", "--in-memory"));
            line.addAll(List.of(more));
            var command = new ProcessBuilder(line).directory(directory.toFile());
            command.environment().keySet().removeIf(name -> name.matches("(A2ACLI|PARLEY|JAVA|OTEL)_.*"));
            command.environment().put("OTEL_METRIC_EXPORT_INTERVAL", "300");
            command.environment().put("OTEL_BSP_SCHEDULE_DELAY", "100");
            command.environment().put("OTEL_BLRP_SCHEDULE_DELAY", "100");
            command.environment().putAll(environment);
            process = command.redirectError(log().toFile()).start();
            url = url(process.inputReader());
        }

        private static String url(BufferedReader announcement) throws IOException {
            for (String line = announcement.readLine(); line != null; line = announcement.readLine()) {
                if (line.startsWith("URL: ")) {
                    return line.substring("URL: ".length());
                }
            }
            throw new AssertionError("the hub did not start");
        }

        String get(String path) throws IOException, InterruptedException {
            return http.send(HttpRequest.newBuilder(URI.create(url + path)).build(), BodyHandlers.ofString())
                    .body();
        }

        /** Sends a message, and returns the answer. */
        String send() throws IOException, InterruptedException {
            var request = HttpRequest.newBuilder(URI.create(url + "/agents/echo/message:send"))
                    .header("Content-Type", "application/json")
                    .header("A2A-Version", "1.0")
                    .header("traceparent", "00-" + TRACE + "-b7ad6b7169203331-01")
                    .POST(BodyPublishers.ofString("{\"message\":{\"messageId\":\"m-" + System.nanoTime()
                            + "\",\"contextId\":\"c-1\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"" + SECRET
                            + "\"}]}}"))
                    .build();
            HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            return answer.body();
        }

        @Override
        public void close() throws InterruptedException {
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    private Path log() {
        return directory.resolve("log");
    }

    /** The lines of the log about telemetry. */
    private List<String> told() throws IOException {
        return Files.readAllLines(log()).stream()
                .filter(line -> line.contains("dev.parley.telemetry") || line.contains("opentelemetry"))
                .toList();
    }

    @Test
    @DisplayName(
            "metrics of /metrics, and the log with severity, logger and trace, reach a receiver beside the traces of the same call")
    void oneEndpointReceivesAllThree() throws Exception {
        try (var receiver = new OtlpReceiver(Mode.ACCEPT);
                var hub = new Program(Map.of(), "--verbose", "--otlp-endpoint", receiver.url())) {
            String answer = hub.send();

            Eventually.asserted(
                    "the spans of the call are received",
                    () -> assertThat(receiver.spans()).anySatisfy(span -> {
                        assertThat(span.getName()).isEqualTo("SendMessage echo");
                        assertThat(hex(span.getTraceId().toByteArray())).isEqualTo(TRACE);
                    }));
            Eventually.asserted(
                    "the line of the call is received",
                    () -> assertThat(records("dev.parley.requests", receiver))
                            .anySatisfy(logged -> requireLineOfCall(logged, answer)));
            Eventually.asserted("the metrics are those of the page", () -> {
                Map<String, Metric> received = byName(receiver.metrics());
                assertThat(received.keySet()).isEqualTo(names(hub.get("/metrics")));
                requireCountsOfCall(received);
            });
            assertThat(receiver.resources()).contains("service.name", "parley");
            assertThat(receiver.logs() + " " + receiver.metrics() + receiver.spans())
                    .doesNotContain(SECRET);
            assertThat(told()).isEmpty();
        }
    }

    private static void requireLineOfCall(LogRecord logged, String answer) {
        assertThat(logged.getBody().getStringValue())
                .startsWith("SendMessage of echo")
                .contains("answered");
        assertThat(logged.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_INFO);
        assertThat(logged.getSeverityText()).isEqualTo("INFO");
        assertThat(hex(logged.getTraceId().toByteArray())).isEqualTo(TRACE);
        assertThat(logged.getSpanId().toByteArray()).hasSize(8);
        assertThat(logged.getTimeUnixNano()).isPositive();
        Map<String, String> attributes = attributes(logged.getAttributesList());
        assertThat(attributes).containsEntry("gen_ai.conversation.id", "c-1").containsKeys("a2a.message.id");
        assertThat(answer).contains("\"id\":\"" + attributes.get("a2a.task.id") + '"');
    }

    private static void requireCountsOfCall(Map<String, Metric> received) {
        Metric requests = requireNonNull(received.get("parley_requests"));
        assertThat(requests.getSum().getIsMonotonic()).isTrue();
        assertThat(requests.getSum().getAggregationTemporality())
                .isEqualTo(AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE);
        Map<String, String> call = Map.of("agent", "echo", "operation", "SendMessage", "dialect", "1.0");
        NumberDataPoint count = requests.getSum().getDataPointsList().stream()
                .filter(point -> attributes(point.getAttributesList()).equals(call))
                .findFirst()
                .orElseThrow(() -> new AssertionError(requests));
        assertThat(count.getAsDouble()).isEqualTo(1);
        Metric durations = requireNonNull(received.get("parley_request_duration_seconds"));
        assertThat(durations.getUnit()).isEqualTo("s");
        HistogramDataPoint duration = durations.getHistogram().getDataPointsList().stream()
                .filter(point -> attributes(point.getAttributesList()).equals(call))
                .findFirst()
                .orElseThrow(() -> new AssertionError(durations));
        assertThat(duration.getCount()).isEqualTo(1);
        assertThat(duration.getExplicitBoundsList()).startsWith(0.0005).endsWith(300.0);
        assertThat(duration.getBucketCountsList())
                .hasSize(duration.getExplicitBoundsCount() + 1)
                .containsOnlyOnce(1L);
        assertThat(requireNonNull(received.get("parley_running_tasks"))
                        .getGauge()
                        .getDataPointsList())
                .isNotEmpty();
        assertThat(requireNonNull(received.get("jvm_gc_collection_seconds"))
                        .getSummary()
                        .getDataPointsList())
                .isNotEmpty();
    }

    @Test
    void aReceiverOfMetricsOnlyGetsNothingElse() throws Exception {
        try (var receiver = new OtlpReceiver(Mode.ACCEPT);
                var hub = new Program(
                        Map.of("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", receiver.url() + "/v1/metrics"), "--verbose")) {
            hub.send();

            Eventually.holds("metrics are received twice", () -> receiver.requests("metrics") > 1);
            assertThat(receiver.requests("traces") + receiver.requests("logs")).isZero();
        }
    }

    @Test
    void aCollectorThatDoesNotAnswerCostsOneLine() throws Exception {
        try (var receiver = new OtlpReceiver(Mode.SILENT);
                var hub = new Program(Map.of(), "--verbose", "--otlp-endpoint", receiver.url())) {
            Eventually.holds("each signal has failed", () -> {
                hub.send();
                return Stream.of("traces", "metrics", "logs").allMatch(signal -> receiver.requests(signal) > 5);
            });

            assertThat(told()).singleElement().asString().contains("WARNING", "no answer from " + receiver.url());

            receiver.answersAs(Mode.ACCEPT);
            Eventually.holds("all are received again", () -> {
                hub.send();
                return told().size() == 2
                        && !receiver.metrics().isEmpty()
                        && !receiver.logs().isEmpty();
            });
            assertThat(told()).last().asString().contains("INFO", "telemetry is sent again");
        }
    }

    @Test
    void aReceiverOfTracesOnlyCostsOneLineForEachOfTheOthers() throws Exception {
        try (var receiver = new OtlpReceiver(Mode.TRACES_ONLY);
                var hub = new Program(Map.of(), "--verbose", "--otlp-endpoint", receiver.url())) {
            Eventually.holds("the others are refused several times", () -> {
                hub.send();
                return !receiver.spans().isEmpty() && receiver.requests("metrics") > 3 && receiver.requests("logs") > 3;
            });

            assertThat(told())
                    .hasSize(2)
                    .anySatisfy(line -> assertThat(line).contains("metrics are refused", "OTEL_METRICS_EXPORTER=none"))
                    .anySatisfy(line -> assertThat(line).contains("logs are refused", "OTEL_LOGS_EXPORTER=none"));
        }
    }

    @Test
    void aCollectorThatHangsHoldsNoCallAndTheQueueIsBounded() throws Exception {
        Map<String, String> smallQueue =
                Map.of("OTEL_BLRP_MAX_QUEUE_SIZE", "100", "OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", "50");
        try (var receiver = new OtlpReceiver(Mode.HANGING)) {
            try (var hub = new Program(smallQueue, "--verbose", "--otlp-endpoint", receiver.url())) {
                for (int i = 0; i < 400; i++) {
                    hub.send();
                }
                receiver.release();
            }

            assertThat(Files.readAllLines(log()).stream().filter(line -> line.contains("SendMessage of echo")))
                    .hasSize(400);
            assertThat(records("dev.parley.requests", receiver)).hasSizeBetween(1, 200);
        }
    }

    private static List<LogRecord> records(String logger, OtlpReceiver receiver) {
        return receiver.logs().stream()
                .filter(scope -> scope.getScope().getName().equals(logger))
                .map(ScopeLogs::getLogRecordsList)
                .flatMap(List::stream)
                .toList();
    }

    private static Map<String, Metric> byName(List<Metric> metrics) {
        var byName = new TreeMap<String, Metric>();
        metrics.forEach(
                metric -> assertThat(byName.put(metric.getName(), metric)).isNull());
        return byName;
    }

    /** Names of the metrics on a page, as they are sent: those that have a line. */
    private static Set<String> names(String page) {
        List<String> lines = page.lines().toList();
        Predicate<String> shown = name -> lines.stream().anyMatch(line -> line.startsWith(name));
        return lines.stream()
                .filter(line -> line.startsWith("# TYPE "))
                .map(line -> line.split(" ", -1)[2])
                .filter(shown)
                .map(name -> name.replaceFirst("_total$", ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Map<String, String> attributes(List<KeyValue> list) {
        return list.stream()
                .collect(Collectors.toMap(
                        KeyValue::getKey, each -> each.getValue().getStringValue()));
    }

    private static String hex(byte[] id) {
        return HexFormat.of().formatHex(id);
    }
}
