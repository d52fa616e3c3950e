package dev.parley.dialect.operations;

import static dev.parley.protocol.json.Codecs.TEXT;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.RequestMarks;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.v1.Generations;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One operation on the wire of one dialect.
 *
 * @param method the JSON-RPC method
 * @param verbs the HTTP methods of the REST binding, the one a client uses first; none if it has no such binding
 * @param path of the REST binding; null if there is none
 * @param request how its fields look as JSON, and as path and query
 * @param result how its answer looks; null if that is a stream of events
 * @param previews whether events show their numbers, and a message may have a key of its sender
 */
public record WireOperation(
        Class<? extends Operation> type,
        String method,
        List<String> verbs,
        @Nullable PathTemplate path,
        ObjectCodec<Operation> request,
        @Nullable Codec<Object> result,
        boolean previews)
        implements OperationRow {
    /** @param rest verbs and path, such as {@code POST,GET /tasks/{id}:subscribe}; empty if there is no REST binding */
    public static <O extends Operation> WireOperation of(
            Class<O> type, String method, String rest, ObjectCodec<O> request, @Nullable Codec<?> result) {
        int blank = rest.indexOf(' ');
        @SuppressWarnings("unchecked") // both meet only what belongs to this operation
        var row = new WireOperation(
                type,
                method,
                blank < 0 ? List.of() : List.of(rest.substring(0, blank).split(",", -1)),
                blank < 0 ? null : PathTemplate.of(rest.substring(blank + 1)),
                (ObjectCodec<Operation>) (ObjectCodec<?>) request,
                (Codec<Object>) result,
                false);
        return row;
    }

    /** This row as a preview of A2A 1.1 has it. */
    WireOperation previewing() {
        return new WireOperation(type, method, verbs, path, request, result, true);
    }

    /** The beginning of a request's shape: what every operation has. */
    static <O extends Operation> ObjectCodec.Builder<O> fields() {
        return ObjectCodec.<O>of().optional("tenant", TEXT, Operation::tenant);
    }

    @Override
    public Operation read(WireRequest http, Map<String, String> variables) {
        if (!http.method().equals("POST")) {
            return request.read(null, variables, http.query());
        }
        return http.hasNoBody()
                ? request.read(null, variables, Map.of())
                : JsonText.request(http.body(), in -> request.read(in, variables, Map.of()));
    }

    @Override
    public WireAnswer whole(Answer answer, @Nullable Object of) {
        Object value = requireNonNull(of);
        Codec<Object> codec = requireNonNull(result);
        if (value instanceof AgentCard) {
            answer.headers().put("Cache-Control", "private, max-age=60");
            answer.headers().put("Vary", "A2A-Version, Accept");
        }
        return LargeBodies.encode(value, answer.caller(), () -> answer.form().result(codec, value, answer.headers()));
    }

    @Override
    public Feed<byte[]> frames(Answer answer, Feed<?> stream) {
        return stream.as(element -> {
            var logged = (LoggedEvent) element;
            LoggedEvent event = previews ? Generations.numbered(logged) : logged;
            return LargeBodies.encode(
                    event, answer.caller(), () -> answer.form().frame(event));
        });
    }

    /** A subscription begins after the event of the header. Ids of other servers are ignored. */
    @Override
    public Operation resuming(Operation operation, @Nullable String lastEventId) {
        return RequestMarks.resumed(operation, lastEventId);
    }

    @Override
    public CallContext caller(CallContext caller, Operation operation, WireRequest http) {
        return previews ? RequestMarks.keyed(caller, operation, http.header(Headers.IDEMPOTENCY_KEY)) : caller;
    }
}
