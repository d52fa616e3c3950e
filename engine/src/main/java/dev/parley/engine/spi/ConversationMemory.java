package dev.parley.engine.spi;

import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;

/**
 * The memory of the conversation that a request belongs to: a text that the hub keeps for the agent, until its retention is over or the data
 * of the caller is erased. Safe for any thread.
 */
public final class ConversationMemory {
    private final Memories memories;
    private final Memories.Key key;
    private final BooleanSupplier isWanted;

    /** @param isWanted whether the task of the request goes on */
    public ConversationMemory(Memories memories, Memories.Key key, BooleanSupplier isWanted) {
        this.memories = memories;
        this.key = key;
        this.isWanted = isWanted;
    }

    /** The text that an earlier request of the conversation wrote last; empty if there is none. */
    public Optional<String> read() {
        return memories.read(key);
    }

    /**
     * Replaces the text, and waits until it is on disk.
     *
     * @param text at most 4 Mi characters
     * @throws CancellationException if the task of the request is canceled
     * @throws IllegalArgumentException if the text is longer
     */
    public void write(String text) {
        if (!memories.write(key, text, isWanted)) {
            throw new CancellationException("the task that would change the memory is canceled");
        }
    }

    /** Removes the text. */
    public void remove() {
        memories.remove(key);
    }
}
