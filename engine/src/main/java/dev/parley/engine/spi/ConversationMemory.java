package dev.parley.engine.spi;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The memory of the conversation that a request belongs to: a text that the hub keeps for the agent, until its retention is over or the data
 * of the caller is erased. Safe for any thread.
 */
public final class ConversationMemory {
    /** Most characters of a memory. */
    public static final int MAX_CHARACTERS = 4 << 20;

    private final Memories memories;
    private final Memories.Key key;
    private final long begun;
    private final BooleanSupplier isWanted;
    private final Consumer<A2AException> full;

    /**
     * To be made when the request comes: if its data are erased from then on, it is not written.
     *
     * @param isWanted whether the task of the request goes on
     * @param full ends the task because the quota of its group is used up, and throws
     */
    public ConversationMemory(
            Memories memories, Memories.Key key, BooleanSupplier isWanted, Consumer<A2AException> full) {
        this.memories = memories;
        this.key = key;
        this.begun = memories.newestErasure();
        this.isWanted = isWanted;
        this.full = full;
    }

    /** The text that an earlier request of the conversation wrote last; empty if there is none. */
    public Optional<String> read() {
        return memories.read(key);
    }

    /**
     * Replaces the text, and waits until it is on disk.
     *
     * @param text at most {@link #MAX_CHARACTERS}
     * @throws CancellationException if the task of the request is canceled, or the data of its caller or its context were erased since it began
     * @throws IllegalArgumentException if the text is longer
     * @throws TaskEndedException if the text does not fit into the quota of the group, which fails the task. The memory is unchanged
     */
    public void write(String text) {
        requireShort(text);
        try {
            if (!memories.write(key, text, begun, isWanted)) {
                throw new CancellationException(
                        "the task that would change the memory is canceled, or its data are erased");
            }
        } catch (A2AException refused) {
            if (refused.error() == A2AError.QUOTA_EXCEEDED) {
                full.accept(refused);
            }
            throw refused;
        }
    }

    /**
     * Refuses a text that is too long for a memory.
     *
     * @throws IllegalArgumentException if it has more than {@link #MAX_CHARACTERS}
     */
    public static void requireShort(String text) {
        if (text.length() > MAX_CHARACTERS) {
            throw new IllegalArgumentException("memory of a conversation: " + text.length()
                    + " characters (expected: at most " + MAX_CHARACTERS + ")");
        }
    }

    /** Removes the text. */
    public void remove() {
        memories.remove(key);
    }
}
