package dev.parley.client.spi;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.Scope;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Spans of OpenTelemetry around calls of agents, on either side of the wire; a stream's lasts as long as the
 * stream. They have names, ids and states, and no contents of messages. Safe for any thread.
 *
 * <p>A span's parent is the one that the calling thread works in, else that of the call's {@code traceparent}.
 */
public final class Traces {
    private static final int LONGEST = 200;
    private static final ContextKey<CallChain> CHAIN = ContextKey.named("parley-agents");

    private final Tracer tracer;
    private final boolean off;

    private Traces(OpenTelemetry telemetry) {
        this.tracer = telemetry.getTracer("dev.parley");
        this.off = telemetry.equals(OpenTelemetry.noop());
    }

    /** Spans for {@code telemetry}. Those of {@link OpenTelemetry#noop()} are not recorded, but pass the trace on. */
    public static Traces of(OpenTelemetry telemetry) {
        return new Traces(requireNonNull(telemetry, "telemetry"));
    }

    /** True if spans are dropped. */
    public boolean isOff() {
        return off;
    }

    /** Begins a span. */
    public Span begin(SpanKind kind, String name, String agent, CallContext context) {
        return tracer.spanBuilder(name)
                .setSpanKind(kind)
                .setParent(parent(context.traceparent()))
                .setAttribute("gen_ai.agent.name", agent)
                .startSpan();
    }

    /** Trace of the calling thread, otherwise the one of {@code traceparent}. */
    public static Context parent(@Nullable String traceparent) {
        Context current = Context.current();
        if (traceparent == null || Span.fromContext(current).getSpanContext().isValid()) {
            return current;
        }
        return current.with(Span.wrap(SpanContext.createFromRemoteParent(
                traceparent.substring(3, 35),
                traceparent.substring(36, 52),
                TraceFlags.fromHex(traceparent, 53),
                TraceState.getDefault())));
    }

    /** Returns this context for calls by an agent, the last of {@code chain}. */
    public static Context of(CallChain chain, Context context) {
        return context.with(CHAIN, chain);
    }

    /** Returns {@code work} for another thread, whose calls belong to the trace and the call chain of the calling thread. */
    public static Runnable inCurrentContext(Runnable work) {
        return Context.current().wrap(work);
    }

    /** Headers of a request, with the chain of the agent that makes it on this thread. */
    public static Map<String, String> chained(Map<String, String> headers) {
        CallChain chain = Context.current().get(CHAIN);
        String baggage = chain == null ? null : chain.baggage();
        if (baggage == null) {
            return headers;
        }
        var chained = new LinkedHashMap<>(headers);
        chained.putIfAbsent(CallChain.HEADER, baggage);
        return chained;
    }

    /** The trace context of a span for other services; {@code otherwise} if it is of no trace. */
    public static @Nullable String traceparent(Span span, @Nullable String otherwise) {
        SpanContext context = span.getSpanContext();
        return context.isValid()
                ? "00-" + context.getTraceId() + "-" + context.getSpanId() + "-"
                        + context.getTraceFlags().asHex()
                : otherwise;
    }

    /** Sets an attribute of a span; limits its length, which a caller may have chosen. */
    public static void note(Span span, String name, @Nullable String value) {
        if (value != null && !value.isEmpty()) {
            span.setAttribute(name, value.length() > LONGEST ? value.substring(0, LONGEST) : value);
        }
    }

    /** Notes of which conversation and of which task a span is; null if that is not known. */
    public static void noteTask(Span span, @Nullable String contextId, @Nullable String taskId) {
        note(span, "gen_ai.conversation.id", contextId);
        note(span, "a2a.task.id", taskId);
    }

    /** An endpoint behind spans. */
    public AgentEndpoint before(SpanKind kind, Supplier<String> agent, AgentEndpoint endpoint) {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                Span span = begin(kind, agent.get(), operation, context);
                try (Scope here = span.makeCurrent()) {
                    R result = endpoint.call(operation, within(span, context));
                    noteResult(span, result);
                    return result;
                } catch (Throwable failure) {
                    failed(span, kind, failure);
                    throw failure;
                } finally {
                    span.end();
                }
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                Span span = begin(kind, agent.get(), operation, context);
                try (Scope here = span.makeCurrent()) {
                    return new Traced<>(span, kind, endpoint.watch(operation, within(span, context)));
                } catch (Throwable failure) {
                    failed(span, kind, failure);
                    span.end();
                    throw failure;
                }
            }
        };
    }

    private Span begin(SpanKind kind, String agent, Operation operation, CallContext context) {
        String name = operation.name();
        boolean invokes = kind == SpanKind.CLIENT && operation instanceof Operation.Send;
        Span span = begin(kind, (invokes ? "invoke_agent" : name) + " " + agent, agent, context);
        if (!span.isRecording()) {
            return span;
        }
        span.setAttribute("a2a.operation", name);
        span.setAttribute("a2a.dialect", context.dialect());
        if (invokes) {
            span.setAttribute("gen_ai.operation.name", "invoke_agent");
        }
        note(span, "a2a.task.id", operation.relatedTask());
        if (operation instanceof Operation.Send send) {
            note(span, "gen_ai.conversation.id", send.message().contextId());
            note(span, "a2a.message.id", send.message().messageId());
        }
        return span;
    }

    private static CallContext within(Span span, CallContext context) {
        String traceparent = traceparent(span, null);
        CallContext traced = traceparent == null ? context : context.withTraceparent(traceparent);
        CallChain chain = Context.current().get(CHAIN);
        return chain == null || !traced.chain().agents().isEmpty() ? traced : traced.through(chain);
    }

    private static void noteResult(Span span, @Nullable Object result) {
        switch (result) {
            case Task task -> {
                noteTask(span, task.contextId(), task.id());
                note(span, "a2a.task.state", task.state().name().toLowerCase(Locale.ROOT));
            }
            case Message message -> noteTask(span, message.contextId(), message.taskId());
            case null, default -> {}
        }
    }

    /** A refused request is not a failure of the server, by the conventions for server spans. */
    private static void failed(Span span, SpanKind kind, Throwable failure) {
        boolean answered = failure instanceof A2AException;
        span.setAttribute(
                "error.type",
                failure instanceof A2AException answer
                        ? answer.error().name()
                        : failure.getClass().getName());
        if (!answered
                || kind == SpanKind.CLIENT
                || ((A2AException) failure).error().httpStatus() >= 500) {
            span.setStatus(StatusCode.ERROR);
        }
    }

    /** A stream that ends its span. */
    private static final class Traced<E> implements Feed<E> {
        private final Span span;
        private final SpanKind kind;
        private final Feed<E> feed;
        private long number;

        Traced(Span span, SpanKind kind, Feed<E> feed) {
            this.span = span;
            this.kind = kind;
            this.feed = feed;
        }

        @Override
        public @Nullable List<E> next(Duration patience) throws InterruptedException {
            List<E> next;
            try {
                next = feed.next(patience);
            } catch (RuntimeException failure) {
                failed(span, kind, failure);
                end();
                throw failure;
            }
            if (next == null) {
                end();
            } else {
                if (number == 0 && !next.isEmpty() && span.isRecording()) {
                    noteFirst(next.getFirst());
                }
                number += next.size();
            }
            return next;
        }

        private void noteFirst(E first) {
            if (first instanceof LoggedEvent logged) {
                noteResult(span, logged.event());
            }
        }

        @Override
        public @Nullable String position() {
            return feed.position();
        }

        private void end() {
            span.setAttribute("a2a.stream.events", number);
            span.end();
        }

        @Override
        public void close() {
            end();
            feed.close();
        }
    }
}
