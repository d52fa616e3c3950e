package dev.parley.agenttools;

import dev.parley.engine.spi.ConversationMemory;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Memories of conversations as texts, for stores of model libraries. A memory is kept by the hub of the agent whose request is handled; on a
 * hub that does not keep its data, it is in this object. So a memory belongs to one caller and one agent, outlasts a restart, and is
 * removed with the data of the caller and by the retention of the hub.
 *
 * <p>Safe for any thread. The first use in a request is on the thread of its {@link ConversationHandler}; others may follow on threads of
 * the model until the handler returns.
 */
public final class ConversationTexts {
    private final Map<String, HostedCall> calls = new ConcurrentHashMap<>();
    private final Map<String, String> ofProcess = new ConcurrentHashMap<>();

    /**
     * The text of a memory; empty if there is none.
     *
     * @param conversation as {@link ConversationHandler#conversationId} returns it
     * @throws IllegalStateException if no request of this conversation is handled
     */
    public Optional<String> read(String conversation) {
        return call(conversation)
                .request()
                .memory()
                .map(memory -> memory.read())
                .orElseGet(() -> Optional.ofNullable(ofProcess.get(conversation)));
    }

    /**
     * Replaces the text of a memory; see {@link #read}. On disk when this returns, if the hub keeps its data.
     *
     * @param text at most {@link ConversationMemory#MAX_CHARACTERS}
     * @throws java.util.concurrent.CancellationException if the task of the request is canceled
     * @throws IllegalArgumentException if the text is longer
     * @throws dev.parley.protocol.TaskEvent.TaskEndedException if the text does not fit into the quota of the group, which fails the task
     */
    public void write(String conversation, String text) {
        ConversationMemory.requireShort(text);
        call(conversation)
                .request()
                .memory()
                .ifPresentOrElse(memory -> memory.write(text), () -> ofProcess.put(conversation, text));
    }

    /** Removes a memory; see {@link #read}. */
    public void remove(String conversation) {
        call(conversation)
                .request()
                .memory()
                .ifPresentOrElse(memory -> memory.remove(), () -> ofProcess.remove(conversation));
    }

    /** The call of this thread, or the one for which a thread of the model works. */
    private HostedCall call(String conversation) {
        HostedCall current = ConversationHandler.current()
                .filter(call -> call.conversationId().equals(conversation))
                .orElse(null);
        if (current == null) {
            HostedCall known = calls.get(conversation);
            if (known == null) {
                throw new IllegalStateException(
                        "memory \"" + conversation
                                + "\": no request of this conversation (expected: the id of the conversation of a request that is handled)");
            }
            return known;
        }
        HostedCall known = calls.putIfAbsent(conversation, current);
        if (known == null) {
            current.whenOver(() -> calls.remove(conversation, current));
        } else if (known != current) {
            // Else a thread of the model could not tell whose memory it has.
            throw new IllegalStateException("memory \"" + conversation
                    + "\": two agents use it at the same time (expected: a store for each agent)");
        }
        return current;
    }
}
