package dev.parley.dialect;

import static dev.parley.dialect.Codecs.TEXT;

import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.SubscribeToTask;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One operation on the wire of one dialect.
 *
 * @param method the JSON-RPC method
 * @param verbs the HTTP methods of the REST binding, the one a client uses first; none if it has no such binding
 * @param path of the REST binding; null if there is none
 * @param request how its fields look as JSON, and as path and query
 * @param result how its answer looks; null if that is a stream of events
 */
record WireOperation(
        Class<? extends Operation> type,
        String method,
        List<String> verbs,
        @Nullable PathTemplate path,
        Shape<Operation> request,
        @Nullable Codec<Object> result)
        implements Routed {

    /** @param rest verbs and path, such as {@code POST,GET /tasks/{id}:subscribe}; empty if there is no REST binding */
    static <O extends Operation> WireOperation of(
            Class<O> type, String method, String rest, Shape<O> request, @Nullable Codec<?> result) {
        int blank = rest.indexOf(' ');
        @SuppressWarnings("unchecked") // both meet only what belongs to this operation
        var row = new WireOperation(
                type,
                method,
                blank < 0 ? List.of() : List.of(rest.substring(0, blank).split(",", -1)),
                blank < 0 ? null : PathTemplate.of(rest.substring(blank + 1)),
                (Shape<Operation>) (Shape<?>) request,
                (Codec<Object>) result);
        return row;
    }

    /** The beginning of a request's shape: what every operation has. */
    static <O extends Operation> Shape.Builder<O> fields() {
        return Shape.<O>of().optional("tenant", TEXT, Operation::tenant);
    }

    /**
     * Returns the operation with the position of the header {@code Last-Event-ID}: a subscription then begins behind that event.
     * Ids of other servers are ignored.
     */
    static Operation resuming(Operation operation, @Nullable String lastEventId) {
        if (lastEventId != null && operation instanceof SubscribeToTask subscribe) {
            Long after = sequence(lastEventId);
            return new SubscribeToTask(subscribe.tenant(), subscribe.id(), after);
        }
        return operation;
    }

    /** Returns the header {@code Last-Event-ID} that an operation is to be sent with, or null. */
    static @Nullable String lastEventId(Operation operation) {
        return operation instanceof SubscribeToTask subscribe && subscribe.after() != null
                ? subscribe.after().toString()
                : null;
    }

    /** Returns the sequence number that an event id is; null if it is none. */
    static @Nullable Long sequence(String eventId) {
        try {
            long sequence = Long.parseLong(eventId.trim());
            return sequence < 0 ? null : (Long) sequence;
        } catch (NumberFormatException foreign) {
            return null;
        }
    }
}
