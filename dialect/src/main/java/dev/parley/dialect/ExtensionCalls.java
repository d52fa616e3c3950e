package dev.parley.dialect;

import static java.util.Objects.requireNonNullElse;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One call of an operation of an extension: over JSON-RPC at the agent's address, whichever version of A2A the rest is spoken in,
 * or over REST below it.
 */
final class ExtensionCalls {
    private static final byte[] NOTHING = {};

    private final ExtensionRow row;
    private final Dialect dialect;
    private final WireRequest request;
    private final ServedAgent agent;
    private final CallContext context;
    private final boolean activated;
    private final Map<String, String> headers = new LinkedHashMap<>();

    ExtensionCalls(ExtensionRow row, Dialect base, WireRequest request, ServedAgent agent, CallContext caller) {
        this.row = row;
        this.request = request;
        this.agent = agent;
        Set<String> extensions = WireCall.extensions(request);
        this.context = WireCall.context(caller, extensions, request.header(Dialects.TRACE), base);
        this.activated = ExtensionDialect.isActivated(row, agent.card(), extensions);
        this.dialect = ExtensionDialect.of(base, row, activated);
        String echoed = WireCall.activated(extensions, agent.card());
        if (!echoed.isEmpty()) {
            headers.put(base.extensionsHeader(), echoed);
        }
    }

    /** Framing of the answer over JSON-RPC. */
    Form rpcForm(Envelope envelope) {
        return Form.rpc(dialect, envelope.id());
    }

    Dialect dialect() {
        return dialect;
    }

    WireAnswer answerRpc(Envelope envelope, Form form) {
        requireSize();
        Operation.Extension operation = envelope.params(row.request(), request, context);
        return answer(operation, form, row.style().numbersRpcEvents(activated));
    }

    WireAnswer answerRest(Map<String, String> variables, Form form) {
        requireSize();
        Operation.Extension operation = LargeBodies.compute(request, context, () -> row.read(request, variables));
        return answer(operation, form, true);
    }

    private void requireSize() {
        int most = row.style().maxRequestBytes();
        if (request.body().length > most) {
            throw A2AException.of(
                    A2AError.PAYLOAD_TOO_LARGE, request.body().length + " bytes (expected: at most " + most + ")");
        }
    }

    private WireAnswer answer(Operation.Extension read, Form form, boolean numbered) {
        read.requireShortIds();
        var endpoint = agent.door().apply(agent.endpoint());
        Operation.Extension operation = row.resuming(read, request.header(Dialects.LAST_EVENT_ID));
        return switch (operation) {
            case Operation.ExtensionCall<?> call -> {
                Object result = endpoint.call(call, context);
                String mediaType = row.method().mediaType();
                yield mediaType == null ? result(form, result) : document(mediaType, String.valueOf(result));
            }
            case Operation.ExtensionWatch<?> watch -> stream(form, endpoint.watch(watch, context), numbered);
        };
    }

    private WireAnswer result(Form form, @Nullable Object result) {
        Object value = requireNonNullElse(result, Codecs.NULL);
        return LargeBodies.encode(
                row.method().contentOf(value), context, () -> form.result(row.answer(), value, headers));
    }

    private WireAnswer document(String mediaType, String text) {
        headers.put("Content-Type", mediaType + "; charset=utf-8");
        headers.put("Cache-Control", "private, max-age=60");
        return new WireAnswer.Whole(200, headers, text.getBytes(StandardCharsets.UTF_8));
    }

    private WireAnswer stream(Form form, Feed<?> feed, boolean numbered) {
        headers.put("Content-Type", Dialects.EVENT_STREAM);
        headers.put("Cache-Control", row.style().cacheControl());
        headers.put("X-Accel-Buffering", "no"); // nginx would collect events
        String position = feed.position();
        if (position != null) {
            headers.put(row.style().positionHeader(), position);
        }
        return new WireAnswer.Events(headers, feed.as(element -> frame(form, element, numbered)), form::failure);
    }

    private byte[] frame(Form form, Object element, boolean numbered) {
        return LargeBodies.encode(row.method().contentOf(element), context, () -> {
            byte[] json = Json.write(NOTHING, row.answer(), element, NOTHING);
            return form.frame(numbered ? row.method().id(element) : null, json);
        });
    }
}
