package dev.parley.dialect.spi;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The client's side of a wire dialect: operations become requests, answers become results. Safe for any thread. */
public interface Binding {
    /**
     * A request to be sent; {@code url} is absolute.
     *
     * @param id of the request in its body, which its answer repeats; null for none
     */
    record Outgoing(
            String method,
            String url,
            Map<String, String> headers,
            byte[] body,
            @Nullable String id) {
        public Outgoing(String method, String url, Map<String, String> headers, byte[] body) {
            this(method, url, headers, body, null);
        }
    }

    /**
     * Returns this binding for the answers to one request: it refuses those to another one.
     *
     * @param id of the request; null if it has none
     * @param mediaType of the answer, for errors; null for none
     */
    default Binding answering(@Nullable String id, @Nullable String mediaType) {
        return this;
    }

    /**
     * True if a message is answered with nothing but the id of its task: what becomes of it, a subscription shows. Then
     * the result of a cancellation says nothing of the task either.
     */
    default boolean tellsIdsOnly() {
        return false;
    }

    /** Metadata of the error for an answer to another request. */
    Map<String, String> ANOTHER_REQUEST = Map.of("answers", "another request");

    /** Returns the error for an answer to another request, of which it must tell nothing. */
    static A2AException ofAnotherRequest(String message) {
        return A2AException.of(A2AError.INVALID_AGENT_RESPONSE, message, ANOTHER_REQUEST);
    }

    /** Returns the request that asks for {@code operation} at {@code agent}. */
    Outgoing request(Operation operation, CallContext context, AgentCard.Interface agent);

    /**
     * Reads the answer to {@code operation}.
     *
     * @throws A2AException if it is an error answer, or no answer that this dialect knows
     */
    <R> R result(Operation.Call<R> operation, int status, byte[] body);

    /** Types of server-sent events that this dialect has beside those without a name. */
    default Set<String> eventTypes() {
        return Set.of();
    }

    /**
     * Reads one server-sent event of an answer to a {@link Operation.Watch}.
     *
     * @param id the value of the event's {@code id} line; becomes the sequence if it is a number, else that is 0
     * @return null for an update that says nothing which can be read
     * @throws A2AException if it is an error frame, or no event that this dialect knows
     */
    @Nullable
    LoggedEvent event(@Nullable String id, String data);

    /** Returns the error that the answer to a {@link Operation.Watch} is, when no stream began. */
    A2AException refusal(int status, byte[] body);
}
