package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendStreamingMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Spans of a hub behind the OpenTelemetry Collector, as they leave it again. When it is skipped is as with {@link InteropTest}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CollectorTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT = "b7ad6b7169203331";
    private static final String SECRET = "the-number-of-my-card";

    private final LinkedBlockingQueue<Map<String, Object>> arrived = new LinkedBlockingQueue<>();
    private HttpServer behind;
    private ForeignServer collector;
    private OpenTelemetrySdk telemetry;

    @BeforeAll
    void start() throws IOException {
        try {
            ForeignSdk.COLLECTOR.install();
        } catch (IOException failure) {
            Requirement.missing(String.valueOf(failure.getMessage()));
        }
        behind = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        behind.createContext("/", exchange -> {
            Map<?, ?> sent = Json.read(exchange.getRequestBody().readAllBytes(), Map.class);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
            for (Map<?, ?> resource : objects(sent, "resourceSpans")) {
                for (Map<?, ?> scope : objects(resource, "scopeSpans")) {
                    objects(scope, "spans").forEach(span -> arrived.add(known(span)));
                }
            }
        });
        behind.start();
        collector = ForeignSdk.COLLECTOR.start(
                "http://127.0.0.1:" + behind.getAddress().getPort());
        var exporter = OtlpHttpSpanExporter.builder()
                .setEndpoint(collector.url() + "/v1/traces")
                .build();
        telemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
                        .build())
                .build();
    }

    @AfterAll
    void stop() {
        if (collector != null) { // else it could not be built
            telemetry.close();
            collector.close();
            behind.stop(0);
        }
    }

    @Test
    @DisplayName(
            "GEM26: behind a collector, the spans of a call, of both agents and of the stream are of the caller's trace")
    void spansOfOneCallAreOfOneTrace() throws Exception {
        Agent echo = Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));
        try (Hub second = hub(echo);
                AgentClient other =
                        AgentClient.builder().openTelemetry(telemetry).connect(second.agentUrl("echo"))) {
            Agent asking = Agent.named("asking", "Asks another").handle((request, reply) -> {
                reply.working("asking");
                reply.complete(((Task) other.send(request.text())).text());
            });
            try (Hub first = hub(asking);
                    AgentClient caller = AgentClient.connect(first.agentUrl("asking"));
                    Feed<LoggedEvent> events = caller.watch(
                            new SendStreamingMessage(
                                    null, Message.user(Part.text(SECRET)), SendConfiguration.DEFAULTS, Map.of()),
                            CallContext.anonymous().withTraceparent("00-" + TRACE + "-" + PARENT + "-01"))) {
                while (events.next(Duration.ofSeconds(30)) != null) {
                    // only its span is of interest
                }
            }
        }
        telemetry.getSdkTracerProvider().forceFlush();

        Map<String, Map<String, Object>> spans = spans(5);

        assertThat(spans.values())
                .allSatisfy(span -> assertThat(span).containsEntry("traceId", TRACE))
                .noneSatisfy(span -> assertThat(span.toString()).contains(SECRET));
        assertThat(spans.get("SendStreamingMessage asking"))
                .containsEntry("parentSpanId", PARENT)
                .containsEntry("a2a.operation", "SendStreamingMessage")
                .containsKey("a2a.stream.events");
        assertThat(spans.get("invoke_agent asking"))
                .containsEntry("gen_ai.operation.name", "invoke_agent")
                .containsEntry("gen_ai.agent.name", "asking")
                .containsEntry("a2a.task.state", "completed");
        assertThat(parents(spans))
                .containsEntry("invoke_agent asking", "SendStreamingMessage asking")
                .containsEntry("call of echo", "invoke_agent asking")
                .containsEntry("SendMessage echo", "call of echo")
                .containsEntry("invoke_agent echo", "SendMessage echo");
    }

    private Hub hub(Agent agent) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(agent)
                .openTelemetry(telemetry)
                .start();
    }

    /** The next spans to arrive, by name. */
    private Map<String, Map<String, Object>> spans(int number) throws InterruptedException {
        var spans = new LinkedHashMap<String, Map<String, Object>>();
        while (spans.size() < number) {
            Map<String, Object> next = arrived.poll(60, TimeUnit.SECONDS);
            assertThat(next).as("a span besides %s", spans).isNotNull();
            // Only the kind tells a call from what it is answered with.
            boolean call = next.get("kind") instanceof Number kind && kind.intValue() == 3;
            spans.put(call ? "call of " + next.get("gen_ai.agent.name") : String.valueOf(next.get("name")), next);
        }
        return spans;
    }

    /** The name of each span's parent, if that is there. */
    private static Map<String, String> parents(Map<String, Map<String, Object>> spans) {
        var names = new LinkedHashMap<Object, String>();
        spans.forEach((name, span) -> names.put(span.get("spanId"), name));
        var parents = new LinkedHashMap<String, String>();
        spans.forEach((name, span) -> parents.put(name, names.get(span.get("parentSpanId"))));
        return parents;
    }

    /** Members and attributes of a span together. */
    private static Map<String, Object> known(Map<?, ?> span) {
        var all = new LinkedHashMap<String, Object>();
        span.forEach((name, value) -> all.put(String.valueOf(name), value));
        for (Map<?, ?> attribute : objects(span, "attributes")) {
            if (attribute.get("value") instanceof Map<?, ?> value) {
                all.put(
                        String.valueOf(attribute.get("key")),
                        value.values().iterator().next());
            }
        }
        return all;
    }

    @SuppressWarnings("unchecked") // JSON has no other objects
    private static List<Map<?, ?>> objects(Map<?, ?> in, String member) {
        var list = (List<Map<?, ?>>) in.get(member);
        return list == null ? List.of() : list;
    }
}
