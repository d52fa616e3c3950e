package dev.parley.hub;

import static dev.parley.hub.SpanReceiver.attributes;
import static dev.parley.hub.SpanReceiver.hex;
import static io.opentelemetry.proto.trace.v1.Span.SpanKind.SPAN_KIND_CLIENT;
import static io.opentelemetry.proto.trace.v1.Span.SpanKind.SPAN_KIND_INTERNAL;
import static io.opentelemetry.proto.trace.v1.Span.SpanKind.SPAN_KIND_SERVER;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Operation.SendConfiguration;
import dev.parley.protocol.Operation.SendMessage;
import dev.parley.protocol.Part;
import dev.parley.protocol.PushConfig;
import dev.parley.protocol.Task;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Spans, as a receiver of OTLP gets them. */
@Timeout(60)
final class TracesTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT = "b7ad6b7169203331";
    private static final String SECRET = "the-number-of-my-card";
    private static final CallContext TRACED =
            CallContext.anonymous().withTraceparent("00-" + TRACE + "-" + PARENT + "-01");
    private static final Agent ECHO =
            Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));

    private final SpanReceiver receiver = new SpanReceiver();
    private final OpenTelemetrySdk telemetry = receiver.sdk();

    TracesTest() throws IOException {}

    @AfterEach
    void stop() {
        telemetry.close();
        receiver.close();
    }

    private HubBuilder hub(Agent... agents) {
        return Hub.builder().inMemory().port(0).agents(agents).openTelemetry(telemetry);
    }

    @Test
    @DisplayName("GEM26: the traceparent of a call is in the spans of both agents when one calls the other")
    void aTraceGoesThroughBothAgents() throws Exception {
        try (Hub second = hub(ECHO).start();
                AgentClient other =
                        AgentClient.builder().openTelemetry(telemetry).connect(second.agentUrl("echo"))) {
            Agent asking = Agent.named("asking", "Asks another")
                    .handle((request, reply) -> reply.complete(((Task) other.send(request.text())).text()));
            try (Hub first = hub(asking).start();
                    AgentClient caller = AgentClient.connect(first.agentUrl("asking"))) {
                var task = (Task) caller.call(SendMessage.of(Message.user(Part.text(SECRET))), TRACED);
                assertThat(task.text()).isEqualTo(SECRET);

                Span asked = receiver.span(SPAN_KIND_SERVER, "SendMessage asking", Map.of());
                Span worked = receiver.span(SPAN_KIND_INTERNAL, "invoke_agent asking", Map.of());
                Span called = receiver.span(SPAN_KIND_CLIENT, "invoke_agent echo", Map.of());
                Span heard = receiver.span(SPAN_KIND_SERVER, "SendMessage echo", Map.of());
                Span answered = receiver.span(SPAN_KIND_INTERNAL, "invoke_agent echo", Map.of());

                assertThat(hex(asked.getTraceId())).isEqualTo(TRACE);
                assertThat(List.of(asked, worked, called, heard, answered))
                        .allSatisfy(span -> assertThat(span.getTraceId()).isEqualTo(asked.getTraceId()));
                assertThat(worked.getParentSpanId()).isEqualTo(asked.getSpanId());
                assertThat(called.getParentSpanId()).isEqualTo(worked.getSpanId());
                assertThat(heard.getParentSpanId()).isEqualTo(called.getSpanId());
                assertThat(answered.getParentSpanId()).isEqualTo(heard.getSpanId());
                assertThat(attributes(worked))
                        .containsEntry("gen_ai.operation.name", "invoke_agent")
                        .containsEntry("gen_ai.agent.name", "asking")
                        .containsEntry("gen_ai.conversation.id", task.contextId())
                        .containsEntry("a2a.task.id", task.id())
                        .containsEntry("a2a.task.state", "completed");
                assertThat(receiver.all().toString()).doesNotContain(SECRET);
            }
        }
    }

    @Test
    void aTraceIsPassedOnWhereNobodyGetsTheSpans() throws Exception {
        try (Hub second = hub(ECHO).start();
                AgentClient other = AgentClient.connect(second.agentUrl("echo"))) {
            Agent asking = Agent.named("asking", "Asks another")
                    .handle((request, reply) -> reply.complete(((Task) other.send(request.text())).text()));
            try (Hub first = Hub.builder().inMemory().port(0).agents(asking).start();
                    AgentClient caller = AgentClient.connect(first.agentUrl("asking"))) {
                caller.call(SendMessage.of(Message.user(Part.text("hello"))), TRACED);

                Span heard = receiver.span(SPAN_KIND_SERVER, "SendMessage echo", Map.of());
                assertThat(hex(heard.getTraceId())).isEqualTo(TRACE);
            }
        }
    }

    @Test
    void aSpanOfAStreamLastsAsLongAsTheStream() throws Exception {
        Agent counting = Agent.named("counting", "Counts").handle((request, reply) -> {
            reply.working("one");
            reply.complete("two");
        });
        try (Hub hub = hub(counting).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("counting"));
                TaskStream stream = client.stream("go")) {
            int events = 0;
            while (stream.hasNext()) {
                stream.next();
                events++;
            }

            Span streamed = receiver.span(SPAN_KIND_SERVER, "SendStreamingMessage counting", Map.of());
            Span worked = receiver.span(SPAN_KIND_INTERNAL, "invoke_agent counting", Map.of());
            assertThat(attributes(streamed)).containsEntry("a2a.stream.events", "" + events);
            assertThat(streamed.getEndTimeUnixNano()).isGreaterThanOrEqualTo(worked.getStartTimeUnixNano());
        }
    }

    @Test
    void whatIsRefusedSaysWhyAndIsNoFailureOfTheServer() throws Exception {
        try (Hub hub = hub(ECHO).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            assertThatThrownBy(() -> client.call(GetTask.of("nobody's"), TRACED))
                    .isInstanceOf(A2AException.class);

            Span refused = receiver.span(SPAN_KIND_SERVER, "GetTask echo", Map.of());
            assertThat(attributes(refused)).containsEntry("error.type", "TASK_NOT_FOUND");
            assertThat(refused.getStatus().getCodeValue()).isZero();
        }
    }

    @Test
    @DisplayName("KG32: every operation of the knowledge graph has a span")
    void knowledgeHasSpans() throws Exception {
        Agent knowing = Agent.named("knowing", "Knows")
                .uses(SharedKnowledge.VIEW)
                .handle((request, reply) -> {
                    request.extension(SharedKnowledge.VIEW).query("{ entity(id: \"ex:p1\") { id } }", Map.of());
                    reply.complete("asked");
                });
        try (Hub hub = hub(knowing).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("knowing"))) {
            KnowledgeExtension.endpoint(client, client.card())
                    .query(KnowledgeOperation.Query.graphql("{ entity(id: \"ex:p1\") { id } }", Map.of()), TRACED);
            client.call(SendMessage.of(Message.user(Part.text("ask"))), TRACED);

            KnowledgeExtension.endpoint(client, client.card())
                    .update(
                            KnowledgeOperation.Update.of(Patch.add(Statement.of("ex:p1", "ex:q", Literal.of("o")))),
                            TRACED);
            KnowledgeExtension.endpoint(client, client.card())
                    .subscribe(
                            KnowledgeOperation.Subscribe.graphql("subscription { knowledgeChanged { op } }", Map.of()),
                            TRACED)
                    .close();

            Span asked = receiver.span(
                    SPAN_KIND_SERVER, "knowledge/query knowing", Map.of("a2a.operation", "knowledge/query"));
            for (String method : List.of("knowledge/update", "knowledge/subscribe")) {
                Span other = receiver.span(SPAN_KIND_SERVER, method + " knowing", Map.of("a2a.operation", method));
                assertThat(hex(other.getTraceId())).isEqualTo(TRACE);
            }
            Span worked = receiver.span(SPAN_KIND_INTERNAL, "invoke_agent knowing", Map.of());
            Span within = receiver.span(SPAN_KIND_INTERNAL, "knowledge/query graph", Map.of());
            assertThat(hex(asked.getTraceId())).isEqualTo(TRACE);
            assertThat(within.getParentSpanId()).isEqualTo(worked.getSpanId());
        }
    }

    @Test
    void aTaskThatARestartInterruptedGoesOnInItsTrace(@TempDir Path data) throws Exception {
        var begun = new CountDownLatch(1);
        var forever = new CountDownLatch(1);
        Agent patient = Agent.named("patient", "Begins again").resumable(true).handle((request, reply) -> {
            if (request.attempt() == 1) {
                reply.working("begun");
                begun.countDown();
                forever.await();
            }
            reply.complete("done");
        });
        try (Hub hub = hub(patient).data(data).drain(Duration.ofMillis(100)).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("patient"))) {
            var configuration = new SendConfiguration(List.of(), null, null, true);
            client.call(new SendMessage(null, Message.user(Part.text("go")), configuration, Map.of()), TRACED);
            begun.await();
        }

        try (Hub hub = hub(patient).data(data).start()) {
            Span again = receiver.span(SPAN_KIND_INTERNAL, "invoke_agent patient", Map.of("a2a.attempt", "2"));
            Span asked = receiver.span(SPAN_KIND_SERVER, "SendMessage patient", Map.of());

            assertThat(hex(again.getTraceId())).isEqualTo(TRACE);
            assertThat(again.getParentSpanId()).isEqualTo(asked.getSpanId());
            assertThat(hub.url()).isNotEmpty();
        }
    }

    @Test
    void webhooksCarryTheTraceOfTheirTask() throws Exception {
        try (var hook = new Hook();
                Hub hub = hub(ECHO).webhookAllow(List.of("127.0.0.1")).start();
                AgentClient client = AgentClient.connect(hub.agentUrl("echo"))) {
            var webhook = new PushConfig(null, "hook", null, hook.url(), null, null);
            var configuration = new SendConfiguration(List.of(), webhook, null, false);
            client.call(new SendMessage(null, Message.user(Part.text("go")), configuration, Map.of()), TRACED);

            String told = requireNonNull(hook.next().headers().get("traceparent"));

            assertThat(told).startsWith("00-" + TRACE + "-");
            Span span = receiver.span(SPAN_KIND_CLIENT, "webhook echo", Map.of());
            assertThat(hex(span.getTraceId())).isEqualTo(TRACE);
        }
    }
}
