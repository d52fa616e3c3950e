package dev.parley.dialect.calls;

import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.FailureFraming;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.legacy.UnversionedCall;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.operations.OperationRow;
import dev.parley.dialect.operations.Rest;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.DocumentAnswer;
import dev.parley.protocol.extension.WireDocument;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A request to an agent.
 *
 * @param framing receives the form of an error, as soon as the request shows it
 */
public record ServedRequest(WireRequest http, ServedAgent agent, CallContext caller, FailureFraming framing) {
    /** This request as seen from further down the path. */
    public ServedRequest below(String prefix) {
        return new ServedRequest(http.below(prefix), agent, caller, framing);
    }

    /** This request of a caller to an agent as its dialect shows them. */
    public ServedRequest of(CallContext shown, ServedAgent to) {
        return new ServedRequest(http, to, shown, framing);
    }

    /** Reads the parameters of a call over JSON-RPC, and has the agent answer. */
    public WireAnswer rpc(Dialect dialect, OperationRow row, RpcEnvelope envelope) {
        row.requireSize(http);
        return answer(dialect, row, envelope.params(row.request(), http, caller));
    }

    /** Reads path, query and body of a call over REST, and has the agent answer. */
    public WireAnswer rest(Dialect dialect, Rest<? extends OperationRow> route) {
        OperationRow row = route.operation();
        row.requireSize(http);
        return answer(dialect, row, LargeBodies.compute(http, caller, () -> row.read(http, route.variables())));
    }

    /** Has the agent answer, in the form of the framing. */
    public WireAnswer answer(Dialect dialect, OperationRow row, Operation read) {
        return exchange(dialect, () -> row, read, dialect::before, dialect.has(Dialect.Trait.NAMES_TASKS));
    }

    /** Has the agent answer a call whose dialect its answer shows. */
    public WireAnswer answer(UnversionedCall call, Operation read) {
        return exchange(call.dialect(), call::row, read, (agent, operation) -> call.before(agent), false);
    }

    private WireAnswer exchange(
            Dialect dialect,
            Supplier<OperationRow> row,
            Operation read,
            BiFunction<AgentEndpoint, Operation, AgentEndpoint> view,
            boolean namesTasks) {
        read.requireShortIds();
        Operation operation = row.get().resuming(read, http.header(Headers.LAST_EVENT_ID));
        CallContext context = row.get().caller(context(caller, http), operation, http);
        if (!dialect.equals(Dialect.V1)) {
            context = context.withDialect(dialect.name(), namesTasks);
        }
        var call = new WireCall(
                operation, agent -> view.apply(agent, operation), result -> written(dialect, row.get(), result));
        return agent.exchange(call, context, http.body().length);
    }

    private WireAnswer written(Dialect dialect, OperationRow row, @Nullable Object result) {
        Set<String> asked = extensions(http);
        var headers = new LinkedHashMap<String, String>();
        String activated = agent.activated(asked);
        if (!activated.isEmpty()) {
            headers.put(dialect.extensionsHeader(), activated);
        }
        var answer = new OperationRow.Answer(framing, headers, caller, asked, agent.card());
        if (result instanceof DocumentAnswer source && !framing.form().isRpc()) {
            return document(source.document(), headers);
        }
        if (!(result instanceof Feed<?> stream)) {
            return row.whole(answer, result);
        }
        headers.put("Content-Type", Headers.EVENT_STREAM);
        headers.putAll(dialect.streamHeaders());
        headers.put("X-Accel-Buffering", "no"); // nginx would collect events
        FailureFraming shown = framing; // not this request, whose body would live as long as the stream
        return new WireAnswer.Events(
                headers, row.frames(answer, stream), problem -> shown.form().failure(problem));
    }

    /** A document differs between callers, so caches of several must not keep it. */
    private WireAnswer.Whole document(WireDocument document, Map<String, String> headers) {
        String tag = '"' + document.etag() + '"';
        headers.put("ETag", tag);
        headers.put("Cache-Control", "private, no-cache");
        if (http.hasVersion(tag)) {
            return new WireAnswer.Whole(304, headers, new byte[0]);
        }
        headers.put("Content-Type", document.mediaType());
        headers.put("X-Content-Type-Options", "nosniff");
        return new WireAnswer.Whole(200, headers, document.bytes());
    }

    /** The answers to a call of an extension's operation. */
    public Dialect dialect(ExtensionRow row, Dialect base) {
        return row.dialect(base, agent.card(), extensions(http));
    }

    /** A caller with the extensions and the trace of its request. */
    static CallContext context(CallContext caller, WireRequest http) {
        Set<String> extensions = extensions(http);
        CallContext context = extensions.isEmpty() ? caller : caller.withExtensions(extensions);
        String traceparent = http.header(Headers.TRACE);
        return traceparent == null ? context : context.withTraceparent(traceparent);
    }

    /** Until 0.3 the header began with X; peers of one version also send the other's. */
    private static Set<String> extensions(WireRequest http) {
        String header = http.header(Headers.EXTENSIONS);
        return ServedAgent.extensions(header == null ? http.header("X-" + Headers.EXTENSIONS) : header);
    }
}
