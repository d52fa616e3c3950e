package dev.parley.dialect.operations;

import dev.parley.dialect.answers.FailureFraming;
import dev.parley.dialect.answers.ResponseFraming;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.json.Codec;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A row of a table: an operation on the wire, and its answers. */
public interface OperationRow {
    /** The HTTP methods of the REST binding, the one a client uses first; none if it has no such binding. */
    List<String> verbs();

    /** The path of the REST binding; null if there is none. */
    @Nullable
    PathTemplate path();

    /** The operation as the parameters of a JSON-RPC request. */
    Codec<? extends Operation> request();

    /** Reads the operation from path, query and body of a REST request. A blank body and {@code null} are no body. */
    Operation read(WireRequest request, Map<String, String> variables);

    /** Refuses a body that is larger than the operation allows. */
    default void requireSize(WireRequest request) {}

    /** The operation as the header {@code Last-Event-ID} resumes it. */
    Operation resuming(Operation operation, @Nullable String lastEventId);

    /** The caller of the operation, as the headers of the request describe it further. */
    default CallContext caller(CallContext caller, Operation operation, WireRequest request) {
        return caller;
    }

    /**
     * The answer to a call.
     *
     * @param framing its form
     * @param headers of the answer so far; rows add theirs
     * @param extensions that the caller activates
     * @param card of the agent
     */
    record Answer(
            FailureFraming framing,
            Map<String, String> headers,
            CallContext caller,
            Set<String> extensions,
            AgentCard card) {
        /** The form of the answer, as far as it is known. */
        ResponseFraming form() {
            return framing.form();
        }
    }

    /** The answer with a result. */
    WireAnswer whole(Answer answer, @Nullable Object result);

    /** The frames of a stream. */
    Feed<byte[]> frames(Answer answer, Feed<?> stream);
}
