package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What takes spans by OTLP over HTTP and keeps them. */
final class SpanReceiver implements AutoCloseable {
    private final HttpServer server;
    private final List<Span> spans = new ArrayList<>();

    SpanReceiver() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/traces", exchange -> {
            var sent = ExportTraceServiceRequest.parseFrom(exchange.getRequestBody());
            byte[] answer = ExportTraceServiceResponse.getDefaultInstance().toByteArray();
            exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
            exchange.close();
            sent.getResourceSpansList().stream()
                    .flatMap(resource -> resource.getScopeSpansList().stream())
                    .flatMap(scope -> scope.getSpansList().stream())
                    .forEach(this::add);
        });
        server.start();
    }

    private synchronized void add(Span span) {
        spans.add(span);
        notifyAll();
    }

    /** An SDK that sends each span here as soon as it has ended. */
    OpenTelemetrySdk sdk() {
        var exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint("http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces")
                .build();
        return OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .build();
    }

    /** The span of that name and kind, and with all of these attributes, once it is here. */
    synchronized Span span(Span.SpanKind kind, String name, Map<String, String> attributes)
            throws InterruptedException {
        long end = System.nanoTime() + 20_000_000_000L;
        Optional<Span> found = find(kind, name, attributes);
        while (found.isEmpty()) {
            long millis = (end - System.nanoTime()) / 1_000_000;
            assertThat(millis).as("%s %s in %s", kind, name, spans).isPositive();
            wait(millis);
            found = find(kind, name, attributes);
        }
        return found.get();
    }

    synchronized List<Span> all() {
        return List.copyOf(spans);
    }

    private Optional<Span> find(Span.SpanKind kind, String name, Map<String, String> attributes) {
        return spans.stream()
                .filter(span -> span.getKind() == kind && span.getName().equals(name))
                .filter(span -> attributes(span).entrySet().containsAll(attributes.entrySet()))
                .findFirst();
    }

    static Map<String, String> attributes(Span span) {
        var attributes = new TreeMap<String, String>();
        for (KeyValue each : span.getAttributesList()) {
            attributes.put(
                    each.getKey(),
                    each.getValue().hasStringValue()
                            ? each.getValue().getStringValue()
                            : "" + each.getValue().getIntValue());
        }
        return attributes;
    }

    static String hex(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
