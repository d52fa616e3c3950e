package dev.parley.knowledge.store;

import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A store of statements whose updates are one with the records that the hub keeps of them. Safe for any thread. */
public interface GraphStore extends StatementStore {
    /** An update of a group's graph. May be made several times until it is done once. */
    @FunctionalInterface
    interface Change<T> {
        T make(GraphWriting writing) throws SQLException;
    }

    /**
     * Answers a question from one moment of a group's statements, on a thread that may compute.
     *
     * @param question may be asked again if the statements change meanwhile
     */
    <T> T view(String group, ReadFilter readFilter, Duration patience, Function<GraphView, T> question);

    /** Answers a short question on the calling thread. */
    <T> T lookUp(String group, ReadFilter readFilter, Function<GraphView, T> question);

    /**
     * Makes an update: its statements and its records, or, if it throws, nothing.
     *
     * @param committed consumer of the result once it is on disk, in the order of the commits; must not block
     * @throws KnowledgeStoreException if the store cannot be written
     */
    <T> T transact(String group, Change<T> change, Consumer<T> committed);

    @Override
    default <T> T write(String group, Function<Writing, T> change) {
        return transact(group, change::apply, done -> {});
    }

    /**
     * Changes the provenance of all statements of a group, in which one of {@code values} names a principal, a task or a session.
     *
     * @return number of changed statements
     */
    default int rewrite(
            String group, Collection<String> values, UnaryOperator<Map<String, @Nullable Object>> provenance) {
        return 0;
    }
}
