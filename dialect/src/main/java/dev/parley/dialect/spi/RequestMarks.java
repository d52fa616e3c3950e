package dev.parley.dialect.spi;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Operation.Send;
import dev.parley.protocol.Operation.SubscribeToTask;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What headers of a request, or the metadata of a call over gRPC, say about repetitions and resumptions. Stateless, for any thread. */
public final class RequestMarks {
    private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]{1,255}");

    private RequestMarks() {}

    /**
     * Returns a subscription that begins after the event of a header, which is newer than a cursor of the request: a browser repeats the
     * request as it was. Other operations, and ids of other servers, change nothing.
     *
     * @param lastEventId the header {@code Last-Event-ID}; null if there is none
     */
    public static Operation resumed(Operation operation, @Nullable String lastEventId) {
        Long after = lastEventId == null ? null : sequence(lastEventId);
        return after != null && operation instanceof SubscribeToTask subscribe
                ? new SubscribeToTask(subscribe.tenant(), subscribe.id(), after)
                : operation;
    }

    /** Returns the header {@code Last-Event-ID} that an operation is to be sent with; null for none. */
    public static @Nullable String lastEventId(Operation operation) {
        return operation instanceof SubscribeToTask subscribe && subscribe.after() != null
                ? subscribe.after().toString()
                : null;
    }

    /** Returns the number of an event that an id is, from 0; null if it is not one. */
    public static @Nullable Long sequence(String eventId) {
        try {
            long sequence = Long.parseLong(eventId.trim());
            return sequence < 0 ? null : (Long) sequence;
        } catch (NumberFormatException foreign) {
            return null;
        }
    }

    /**
     * Returns the caller of a message with the key that it gives the message; other operations have none. A preview of A2A 1.1.
     *
     * @param key the header {@code Idempotency-Key}; null if there is none
     * @throws A2AException INVALID_PARAMS if it is no such key
     */
    public static CallContext keyed(CallContext caller, Operation operation, @Nullable String key) {
        if (key == null || !(operation instanceof Send)) {
            return caller;
        }
        if (!KEY.matcher(key).matches()) {
            throw A2AException.invalidParams(
                    Headers.IDEMPOTENCY_KEY, "not a key (expected: 1 to 255 visible characters of ASCII)");
        }
        return caller.withIdempotencyKey(key);
    }
}
