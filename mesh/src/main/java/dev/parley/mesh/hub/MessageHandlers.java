package dev.parley.mesh.hub;

import dev.parley.mesh.Envelope;
import dev.parley.mesh.MeshContent;
import dev.parley.mesh.MessageType;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Handlers of messages by agent and type. */
record MessageHandlers(Map<Key, MessageHandler> handlers) {
    static final MessageHandlers NONE = new MessageHandlers(Map.of());

    /** Types with messages that begin or continue a task. */
    private static final Set<MessageType> OF_TASKS =
            EnumSet.of(MessageType.TASK_DELEGATION, MessageType.QUERY, MessageType.COORDINATION);

    record Key(String agent, MessageType type) {}

    MessageHandlers {
        handlers = Map.copyOf(handlers);
    }

    MessageHandlers with(String agent, MessageType type, MessageHandler handler) {
        if (OF_TASKS.contains(type)) {
            throw new IllegalArgumentException("type " + type.word() + ": begins a task (expected: one of "
                    + EnumSet.complementOf(EnumSet.copyOf(OF_TASKS)).stream()
                            .map(MessageType::word)
                            .collect(Collectors.joining(", "))
                    + ")");
        }
        var more = new HashMap<>(handlers);
        more.put(new Key(agent, type), handler);
        return new MessageHandlers(more);
    }

    /** Calls the handler of an agent for a message, if it has one. */
    void handle(String agent, Envelope envelope, MeshContent content, CallContext caller) {
        MessageHandler handler = handlers.get(new Key(agent, content.type()));
        if (handler == null) {
            return;
        }
        try {
            handler.handle(envelope, content, caller);
        } catch (RuntimeException refused) {
            throw refused;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.of(A2AError.UNAVAILABLE, "The agent stops");
        } catch (Exception failure) {
            throw A2AException.of(A2AError.INTERNAL).causedBy(failure);
        }
    }
}
