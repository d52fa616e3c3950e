package dev.parley.mesh.hub;

import dev.parley.engine.spi.Priority;
import dev.parley.mesh.MeshProtocol;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Priorities of messages, and the right to the critical one. */
final class Priorities {
    private Priorities() {}

    /** The priority that a message names; null if it names none. */
    static @Nullable Priority of(Message message) {
        String word = EnvelopeMembers.of(message).priority();
        if (word != null) {
            for (Priority priority : Priority.values()) {
                if (priority.name().toLowerCase(Locale.ROOT).equals(word)) {
                    return priority;
                }
            }
        }
        return null;
    }

    /** An agent that refuses critical messages of callers without the scope, in any dialect. */
    static AgentEndpoint before(AgentEndpoint agent) {
        return new AgentEndpoint() {
            @Override
            public <R> R call(Operation.Call<R> operation, CallContext context) {
                require(operation, context);
                return agent.call(operation, context);
            }

            @Override
            public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
                require(operation, context);
                return agent.watch(operation, context);
            }
        };
    }

    private static void require(Operation operation, CallContext context) {
        if (operation instanceof Operation.Send send
                && of(send.message()) == Priority.CRITICAL
                && !context.caller().equals(CallContext.anonymous().caller())
                && !context.grants().contains(MeshProtocol.CRITICAL_SCOPE)) {
            throw A2AException.refused(
                    A2AError.PERMISSION_DENIED,
                    "critical priority: the scope " + MeshProtocol.CRITICAL_SCOPE + " was not granted",
                    "Bearer realm=\"parley\", error=\"insufficient_scope\", scope=\"" + MeshProtocol.CRITICAL_SCOPE
                            + '"');
        }
    }
}
