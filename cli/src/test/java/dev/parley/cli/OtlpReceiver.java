package dev.parley.cli;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.logs.v1.ScopeLogs;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A receiver of OTLP over HTTP that decodes requests, and can fail as collectors do. */
final class OtlpReceiver implements AutoCloseable {
    /** Scope of the metrics of {@code /metrics}. */
    static final String HUB = "dev.parley.hub";

    /** Ways of answering. */
    enum Mode {
        ACCEPT,
        /** Closes each connection without an answer. */
        SILENT,
        /** Answers 404 to all but traces, as receivers of traces do. */
        TRACES_ONLY,
        /** Answers after {@link #release}. */
        HANGING
    }

    @FunctionalInterface
    private interface Decoder {
        void decode(InputStream body) throws IOException;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch released = new CountDownLatch(1);
    private final List<Span> spans = new ArrayList<>();
    private final List<ScopeLogs> logs = new ArrayList<>();
    private final Map<String, Integer> requests = new HashMap<>();
    private List<Metric> metrics = List.of();
    private String resources = "";
    private volatile Mode mode;

    OtlpReceiver(Mode mode) throws IOException {
        this.mode = mode;
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/v1/traces", exchange -> answer(exchange, this::traces));
        server.createContext("/v1/metrics", exchange -> answer(exchange, this::metrics));
        server.createContext("/v1/logs", exchange -> answer(exchange, this::logs));
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    void answersAs(Mode other) {
        mode = other;
    }

    void release() {
        mode = Mode.ACCEPT;
        released.countDown();
    }

    private void answer(HttpExchange exchange, Decoder decoder) throws IOException {
        String path = exchange.getRequestURI().getPath();
        synchronized (this) {
            requests.merge(path, 1, Integer::sum);
        }
        switch (mode) {
            case HANGING -> awaitRelease();
            case SILENT -> {
                exchange.close();
                return;
            }
            case TRACES_ONLY -> {
                if (!path.equals("/v1/traces")) {
                    exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(404, -1);
                    exchange.close();
                    return;
                }
            }
            case ACCEPT -> {}
        }
        decoder.decode(exchange.getRequestBody());
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    private void awaitRelease() {
        try {
            released.await();
        } catch (InterruptedException closed) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void traces(InputStream body) throws IOException {
        var request = ExportTraceServiceRequest.parseFrom(body);
        resources = request.getResourceSpansList().stream()
                .map(each -> each.getResource().toString())
                .toList()
                .toString();
        request.getResourceSpansList().stream()
                .flatMap(resource -> resource.getScopeSpansList().stream())
                .forEach(scope -> spans.addAll(scope.getSpansList()));
    }

    private synchronized void metrics(InputStream body) throws IOException {
        var request = ExportMetricsServiceRequest.parseFrom(body);
        resources = request.getResourceMetricsList().stream()
                .map(each -> each.getResource().toString())
                .toList()
                .toString();
        metrics = request.getResourceMetricsList().stream()
                .flatMap(resource -> resource.getScopeMetricsList().stream())
                .filter(scope -> scope.getScope().getName().equals(HUB))
                .flatMap(scope -> scope.getMetricsList().stream())
                .toList();
    }

    private synchronized void logs(InputStream body) throws IOException {
        ExportLogsServiceRequest.parseFrom(body).getResourceLogsList().stream()
                .flatMap(resource -> resource.getScopeLogsList().stream())
                .forEach(logs::add);
    }

    synchronized List<Span> spans() {
        return List.copyOf(spans);
    }

    /** The logs so far, in lists of one logger each. */
    synchronized List<ScopeLogs> logs() {
        return List.copyOf(logs);
    }

    /** The newest metrics of the hub. */
    synchronized List<Metric> metrics() {
        return metrics;
    }

    /** The resources of the newest spans or metrics as text. */
    synchronized String resources() {
        return resources;
    }

    /** Number of requests for a signal so far. */
    synchronized int requests(String signal) {
        return requests.getOrDefault("/v1/" + signal, 0);
    }

    @Override
    public void close() {
        released.countDown();
        server.stop(0);
        threads.close();
    }
}
