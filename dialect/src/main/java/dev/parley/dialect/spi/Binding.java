package dev.parley.dialect.spi;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The client's side of a wire dialect: operations become requests, answers become results. Safe for any thread. */
public interface Binding {
    /** A request to be sent; {@code url} is absolute. */
    record Outgoing(String method, String url, Map<String, String> headers, byte[] body) {}

    /**
     * True if a message is answered with nothing but the id of its task: what becomes of it, a subscription shows. Then
     * the result of a cancellation says nothing of the task either.
     */
    default boolean tellsIdsOnly() {
        return false;
    }

    /** Returns the request that asks for {@code operation} at {@code agent}. */
    Outgoing request(Operation operation, CallContext context, AgentCard.Interface agent);

    /**
     * Reads the answer to {@code operation}.
     *
     * @throws A2AException if it is an error answer, or no answer that this dialect knows
     */
    <R> R result(Operation.Call<R> operation, int status, byte[] body);

    /**
     * Reads one server-sent event of an answer to a {@link Operation.Watch}.
     *
     * @param id the value of the event's {@code id} line; becomes the sequence if it is a number, else that is 0
     * @throws A2AException if it is an error frame, or no event that this dialect knows
     */
    LoggedEvent event(@Nullable String id, String data);

    /** Returns the error that the answer to a {@link Operation.Watch} is, when no stream began. */
    A2AException refusal(int status, byte[] body);
}
