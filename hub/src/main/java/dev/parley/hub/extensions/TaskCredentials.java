package dev.parley.hub.extensions;

import dev.parley.engine.Engine;
import dev.parley.extension.AuthorizeTask;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.ExtensionStyle;
import java.util.List;

/** Answers {@link AuthorizeTask} for one agent. */
public record TaskCredentials(Engine engine, String agent) implements AgentEndpoint {
    /** The one operation, which belongs to no extension. */
    public static final ExtensionProtocol PROTOCOL =
            new ExtensionProtocol("", List.of(AuthorizeTask.ROW), ExtensionStyle.A2A, List.of());

    private static final int LONGEST = 16 << 10;

    @Override
    @SuppressWarnings("unchecked") // the answer of the one operation
    public <R> R call(Operation.Call<R> operation, CallContext caller) {
        if (!(operation instanceof AuthorizeTask given)) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND);
        }
        String credential = required("credential", given.credential());
        if (credential.length() > LONGEST) {
            throw A2AException.invalidParams("credential", "too long (expected: at most " + LONGEST + " characters)");
        }
        Task task = engine.authorize(agent, required("taskId", given.taskId()), credential, caller);
        return (R) new AuthorizeTask.Authorized(task.id(), task.state());
    }

    private static String required(String member, String text) {
        if (text.isEmpty()) {
            throw A2AException.invalidParams(member, "missing (expected: a text)");
        }
        return text;
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
        throw A2AException.of(A2AError.METHOD_NOT_FOUND);
    }
}
