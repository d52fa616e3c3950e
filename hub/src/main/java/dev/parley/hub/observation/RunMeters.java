package dev.parley.hub.observation;

import static java.util.Objects.requireNonNullElse;

import dev.parley.client.spi.Traces;
import dev.parley.engine.Request;
import dev.parley.engine.RunObserver;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.TaskState;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Measures the runs of agents, runs each in a span, so that its calls of other agents belong to the same trace and its log lines to its
 * task, and writes audit rows for events that an agent emits after the end of its task.
 */
public record RunMeters(
        Metrics metrics, Traces traces, @Nullable AuditTrail audit) implements RunObserver {
    @Override
    public void observe(String agent, Request request, Runnable work) {
        boolean traced = !traces.isOff() || request.context().traceparent() != null;
        Span span = traced
                ? traces.begin(SpanKind.INTERNAL, "invoke_agent " + agent, agent, request.context())
                : Span.getInvalid();
        Context here = traced ? Context.current().with(span) : Context.current();
        here = Traces.of(request.context().chain(), here);
        try (Scope within = Correlation.of(request).in(here).makeCurrent()) {
            metrics.run(agent, request, work);
        } finally {
            if (span.isRecording()) {
                note(span, request);
            }
            span.end();
        }
    }

    @Override
    public void dropped(String agent, Request request, long events) {
        if (audit == null) {
            return;
        }
        CallContext context = request.context();
        audit.note(new AuditEntry(
                context.scope().group(),
                "agent:" + agent,
                "task.dropped",
                request.taskId(),
                context.scope().group() + "/" + context.caller(),
                request.task().map(task -> task.state().name()).orElse("MESSAGE"),
                "",
                requireNonNullElse(context.traceparent(), ""),
                Map.of("agent", agent, "events", events)));
    }

    private static void note(Span span, Request request) {
        span.setAttribute("gen_ai.operation.name", "invoke_agent");
        span.setAttribute("a2a.attempt", request.attempt());
        Traces.note(span, "a2a.message.id", request.message().messageId());
        Traces.noteTask(span, request.contextId(), null);
        request.task().ifPresent(task -> {
            Traces.noteTask(span, null, task.id());
            Traces.note(span, "a2a.task.state", task.state().name().toLowerCase(Locale.ROOT));
            if (task.state() == TaskState.FAILED) {
                span.setStatus(StatusCode.ERROR);
            }
        });
    }
}
