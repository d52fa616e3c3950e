package dev.parley.dialect.calls;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.Envelope;
import dev.parley.dialect.answers.Form;
import dev.parley.dialect.operations.Rest;
import dev.parley.dialect.operations.Row;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.wire.Headers;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.dialect.wire.WireAnswer;
import dev.parley.dialect.wire.WireRequest;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.LinkedHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of an operation, of A2A or of an extension, as its dialect has read it from a request.
 *
 * @param row of the operation in its table
 * @param operation what is called, with the position at which a stream resumes
 * @param form of the answer
 * @param extensions that the caller activates
 */
public record WireCall(
        Dialect dialect,
        Row row,
        Operation operation,
        Form form,
        Set<String> extensions,
        @Nullable String traceparent) {
    /** Reads the parameters of a JSON-RPC request. */
    public static WireCall rpc(
            Dialect dialect, Row row, Envelope envelope, Form form, WireRequest request, CallContext caller) {
        row.requireSize(request);
        return of(dialect, row, envelope.params(row.request(), request, caller), form, request);
    }

    /** Reads path, query and body of a REST request. */
    public static WireCall rest(
            Dialect dialect, Rest<? extends Row> route, Form form, WireRequest request, CallContext caller) {
        Row row = route.operation();
        row.requireSize(request);
        Operation read = LargeBodies.compute(request, caller, () -> row.read(request, route.variables()));
        return of(dialect, row, read, form, request);
    }

    public static WireCall of(Dialect dialect, Row row, Operation read, Form form, WireRequest request) {
        read.requireShortIds();
        Operation operation = row.resuming(read, request.header(Headers.LAST_EVENT_ID));
        return new WireCall(dialect, row, operation, form, extensions(request), request.header(Headers.TRACE));
    }

    /** Has the agent answer. */
    public WireAnswer exchange(ServedAgent agent, CallContext caller) {
        CallContext context = dialect.equals(Dialect.V1)
                ? context(caller)
                : context(caller).withDialect(dialect.name(), dialect.namesTasks());
        AgentEndpoint endpoint = agent.door().apply(dialect.before(agent.endpoint(), operation));
        var headers = new LinkedHashMap<String, String>();
        String activated = agent.activated(extensions);
        if (!activated.isEmpty()) {
            headers.put(dialect.extensionsHeader(), activated);
        }
        return switch (operation) {
            case Operation.Call<?> call -> row.answer(form, endpoint.call(call, context), headers, caller);
            case Operation.Watch<?> watch -> {
                Feed<?> stream = endpoint.watch(watch, context);
                headers.put("Content-Type", Headers.EVENT_STREAM);
                headers.putAll(dialect.streamHeaders());
                headers.put("X-Accel-Buffering", "no"); // nginx would collect events
                yield new WireAnswer.Events(
                        headers, row.frames(form, agent.card(), extensions, stream, headers, caller), form::failure);
            }
        };
    }

    private CallContext context(CallContext caller) {
        return context(caller, extensions, traceparent);
    }

    /** The caller of a request that a dialect of others reads. */
    static CallContext context(CallContext caller, WireRequest request) {
        return context(caller, extensions(request), request.header(Headers.TRACE));
    }

    private static CallContext context(CallContext caller, Set<String> extensions, @Nullable String traceparent) {
        CallContext context = extensions.isEmpty() ? caller : caller.withExtensions(extensions);
        return traceparent == null ? context : context.withTraceparent(traceparent);
    }

    /** Until 0.3 the header began with X; peers of one version also send the other's. */
    public static Set<String> extensions(WireRequest request) {
        String header = request.header(Headers.EXTENSIONS);
        return ServedAgent.extensions(header == null ? request.header("X-" + Headers.EXTENSIONS) : header);
    }
}
