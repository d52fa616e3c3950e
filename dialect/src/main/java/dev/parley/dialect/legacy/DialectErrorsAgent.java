package dev.parley.dialect.legacy;

import dev.parley.dialect.spi.Headers;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import java.util.function.UnaryOperator;

/** An agent whose errors use the names that fields and values have in a dialect. */
public record DialectErrorsAgent(AgentEndpoint agent, UnaryOperator<String> field, UnaryOperator<String> text)
        implements AgentEndpoint {
    /** Errors with the names that roles and headers have before 1.0. */
    static DialectErrorsAgent older(AgentEndpoint agent) {
        return new DialectErrorsAgent(
                agent,
                field -> field,
                text -> text.replace("ROLE_USER", "user")
                        .replace("ROLE_AGENT", "agent")
                        .replace("the " + Headers.EXTENSIONS + " header", "the X-" + Headers.EXTENSIONS + " header"));
    }

    /** A text about a message that names its task, where the request does so by its id. */
    public static String withoutTaskId(String text) {
        return text.replace("without taskId", "without id");
    }

    @Override
    public <R> R call(Operation.Call<R> operation, CallContext context) {
        try {
            return agent.call(operation, context);
        } catch (A2AException refused) {
            throw refused.inWords(field, text);
        }
    }

    @Override
    public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
        try {
            return agent.watch(operation, context);
        } catch (A2AException refused) {
            throw refused.inWords(field, text);
        }
    }
}
