package dev.parley.knowledge.store;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.Fact;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/**
 * Keeps the statements of all groups. Safe for any thread.
 *
 * <p>A group is a boundary: nothing of one is ever seen in another.
 */
public interface StatementStore extends AutoCloseable {
    /** Default timeout of a query. */
    Duration PATIENCE = Duration.ofSeconds(10);

    /**
     * Answers a question from one moment of a group's statements.
     *
     * @param patience after this time the question is cut off
     * @throws KnowledgeStoreException if the store cannot be read; {@code isTimeout} tells whether the patience was over
     */
    <T> T read(String group, ReadFilter readFilter, Duration patience, Function<View, T> question);

    /**
     * Changes a group's statements: all that {@code change} does, or, if it throws, nothing. Returns when the change is
     * on disk. Changes of a group happen one after the other.
     *
     * @throws KnowledgeStoreException if the store cannot be written
     */
    <T> T write(String group, Function<Writing, T> change);

    @Override
    void close();

    /** A group's statements during a change: reads include earlier writes of the change. */
    interface Writing extends View {
        /** Returns what the store holds that says the same as {@code statement}; an empty list or one element. */
        List<Fact> find(Statement statement);

        /** Holds {@code statement}, confirmed now, in the place of what says the same. */
        void put(Statement statement);

        /** Forgets what says the same as {@code statement}. */
        void remove(Statement statement);
    }
}
