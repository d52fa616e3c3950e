package dev.parley.knowledge.model;

import dev.parley.knowledge.store.StatementStore;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one group as they are at one moment, without those below the reader's {@link ReadFilter}.
 *
 * <p>For one thread, and only while the call of {@link StatementStore#read} or {@link StatementStore#write} lasts that it
 * was given to.
 */
public interface View {
    /** The number of the last change that this view contains; 0 if there was none. */
    long revision();

    /**
     * Returns statements in an order that stays the same; {@code after} is null or the {@code next} of a page. A page may
     * have fewer than {@code limit} and yet a next one, if its statements are very long; so may those of the methods below.
     */
    StatementPage<Fact> statements(Pattern pattern, @Nullable String after, int limit);

    /**
     * Returns for each of {@code subjects} its statements, at most {@code limit} each, in one go. Those that have none may
     * be missing. {@code pattern.subjects()} must be empty.
     */
    Map<String, StatementPage<Fact>> about(
            Collection<String> subjects, Pattern pattern, @Nullable String after, int limit);

    /**
     * Returns for each of {@code objects} the statements that point at it, at most {@code limit} each, in one go. Those that
     * have none may be missing. {@code pattern.objects()} must be empty.
     */
    Map<String, StatementPage<Fact>> pointingAt(
            Collection<String> objects, Pattern pattern, @Nullable String after, int limit);

    /** Returns ids of entities. */
    StatementPage<String> entities(EntityFilter filter, @Nullable String after, int limit);

    /** Returns for each of {@code ids} its types, in one go. Those that have none may be missing. */
    Map<String, Set<String>> types(Collection<String> ids);

    /**
     * The graphs that have statements, and how many that the rules of the read filter let the reader see; certainty and age
     * are not regarded.
     */
    List<GraphInfo> graphs();

    /** The predicates that are used, in no order, of subjects of {@code type}; null for all subjects. */
    Set<String> predicates(@Nullable String type);

    /** The types that entities have, in no order. */
    Set<String> classes();

    /** The graphs, {@link Pattern#DEFAULT_GRAPH} or names, that the answers of this view have statements of so far. */
    default Set<String> sources() {
        return Set.of();
    }

    /** Returns the number of statements that the read filter has hidden from the answers of this view so far. */
    Hidden hidden();

    /** A graph; {@code name} is null for the default graph. */
    record GraphInfo(@Nullable String name, long statements) {}

    /** Numbers of statements that were hidden, each counted for the first reason that applies. */
    record Hidden(long byCertainty, long byAge, long byPolicy) {}
}
