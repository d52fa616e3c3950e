package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of an operation of A2A, as its dialect has read it from a request.
 *
 * @param row of the operation in the table of the dialect
 * @param operation what is called, with the position at which a stream resumes
 * @param form of the answer
 * @param extensions that the caller activates
 */
record WireCall(
        Dialect dialect,
        WireOperation row,
        Operation operation,
        Form form,
        Set<String> extensions,
        @Nullable String traceparent) {
    static WireCall of(Dialect dialect, WireOperation row, Operation read, Form form, WireRequest request) {
        read.requireShortIds();
        Operation operation = WireOperation.resuming(read, request.header(Dialects.LAST_EVENT_ID));
        return new WireCall(dialect, row, operation, form, extensions(request), request.header(Dialects.TRACE));
    }

    /** Has the agent answer. */
    WireAnswer exchange(ServedAgent agent, CallContext caller) {
        CallContext context = context(caller, extensions, traceparent, dialect);
        AgentEndpoint endpoint = agent.door().apply(dialect.before(agent.endpoint(), operation));
        var headers = new LinkedHashMap<String, String>();
        String activated = activated(extensions, agent.card());
        if (!activated.isEmpty()) {
            headers.put(dialect.extensionsHeader(), activated);
        }
        return switch (operation) {
            case Operation.Call<?> call -> {
                Object result = requireNonNull(endpoint.call(call, context));
                if (result instanceof AgentCard) {
                    headers.put("Cache-Control", "private, max-age=60");
                    headers.put("Vary", "Authorization, A2A-Version, Accept");
                }
                yield LargeBodies.encode(
                        result, caller, () -> form.result(requireNonNull(row.result()), result, headers));
            }
            case Operation.Watch<?> watch -> {
                headers.put("Content-Type", Dialects.EVENT_STREAM);
                headers.putAll(dialect.streamHeaders());
                headers.put("X-Accel-Buffering", "no"); // nginx would collect events
                yield form.stream(headers, endpoint.watch((Operation.TaskWatch) watch, context), caller);
            }
        };
    }

    static CallContext context(
            CallContext caller, Set<String> extensions, @Nullable String traceparent, Dialect dialect) {
        CallContext context = extensions.isEmpty() ? caller : caller.withExtensions(extensions);
        if (!dialect.equals(Dialect.V1)) {
            context = context.withDialect(dialect.name(), dialect.namesTasks());
        }
        return traceparent == null ? context : context.withTraceparent(traceparent);
    }

    /** Until 0.3 the header began with X; peers of one version also send the other's. */
    static Set<String> extensions(WireRequest request) {
        String header = request.header(Dialects.EXTENSIONS);
        if (header == null) {
            header = request.header("X-" + Dialects.EXTENSIONS);
        }
        if (header == null) {
            return Set.of();
        }
        var uris = new LinkedHashSet<String>();
        for (String uri : header.split(",", -1)) {
            if (!uri.isBlank()) {
                uris.add(uri.trim());
            }
        }
        return uris;
    }

    /** The extensions that the caller asked for and the agent has, as the header that tells the caller so. */
    static String activated(Set<String> extensions, AgentCard card) {
        if (extensions.isEmpty()) {
            return "";
        }
        return String.join(
                ", ",
                card.capabilities().extensions().stream()
                        .map(AgentCard.Extension::uri)
                        .filter(extensions::contains)
                        .toList());
    }
}
