package dev.parley.knowledge.graphql;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.KnowledgeStoreException;
import dev.parley.knowledge.model.ReadFilter;
import dev.parley.knowledge.model.View;
import dev.parley.knowledge.store.StatementStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Typed schemas of the groups, updated as their graphs change. Safe for any thread.
 *
 * <p>A query that is valid in the cached schema uses it; if the graph has changed since then, the next schema is built in the
 * background, at most once a second. Only a query that is not valid in it waits for the next.
 */
final class TypedSchemas {
    private static final System.Logger LOG = System.getLogger("dev.parley.knowledge");
    private static final Duration REST = Duration.ofSeconds(1);

    /** Largest share of time that building schemas may occupy the store, as a divisor. */
    private static final int LEISURE = 20;

    private static final int MAX_READERS = 200;

    /** Readers that share a schema: a schema shows only what its readers may see. A query's limits of confidence and age do not count. */
    record Readers(String group, ReadFilter readFilter) {
        Readers {
            readFilter = new ReadFilter(null, null, readFilter.rules(), readFilter.otherwise());
        }

        boolean seesAll() {
            return readFilter.equals(ReadFilter.NONE);
        }
    }

    /** A schema and what its types mean. */
    record Typed(GraphQlSchema schema, TypedModel model, TypedModel.Index index) {}

    /** @param at elapsed time at the end of the build, in nanoseconds */
    private record Built(Typed typed, long revision, long at, Duration took) {}

    private final class Entry {
        private final Readers readers;
        private final ReentrantLock building = new ReentrantLock();
        private volatile @Nullable Built built;

        Entry(Readers readers) {
            this.readers = readers;
        }

        /** Returns a schema that is at least as new as {@code revision}. */
        Built asOf(long revision) {
            building.lock();
            try {
                Built last = built;
                if (last != null && last.revision() >= revision) {
                    return last;
                }
                Built next = build(last);
                built = next;
                return next;
            } finally {
                building.unlock();
            }
        }

        private Built build(@Nullable Built last) {
            long start = nanoTime.getAsLong();
            record Found(TypedModel model, long revision) {}
            var declared = declarations.apply(readers.group());
            Found found = store.read(
                    readers.group(),
                    readers.readFilter(),
                    limits.time(),
                    view -> new Found(new TypedModelReader(view, declared, readers.seesAll()).read(), view.revision()));
            Typed typed = last != null && last.typed().model().equals(found.model())
                    ? last.typed()
                    : new Typed(
                            GraphQlSchema.of(TypedSchemaText.of(found.model()), limits),
                            found.model(),
                            found.model().index());
            long end = nanoTime.getAsLong();
            return new Built(typed, found.revision(), end, Duration.ofNanos(end - start));
        }
    }

    private final StatementStore store;
    private final Function<String, List<Statement>> declarations;
    private final GraphQlLimits limits;
    private final LongSupplier nanoTime;
    private final BiConsumer<String, Runnable> background;
    private final Cache<Readers, Entry> entries =
            Caffeine.newBuilder().maximumSize(MAX_READERS).build();

    TypedSchemas(
            StatementStore store,
            Function<String, List<Statement>> declarations,
            GraphQlLimits limits,
            LongSupplier nanoTime,
            BiConsumer<String, Runnable> background) {
        this.store = store;
        this.declarations = declarations;
        this.limits = limits;
        this.nanoTime = nanoTime;
        this.background = background;
    }

    /** Returns the schema as last read; null before the first read. */
    @Nullable
    Typed known(Readers readers) {
        Built built = entry(readers).built;
        return built == null ? null : built.typed();
    }

    /** Returns the schema as it was last found. */
    Typed current(Readers readers) {
        Entry entry = entry(readers);
        Built built = entry.built;
        return (built != null ? built : entry.asOf(0)).typed();
    }

    /** Returns the schema as it is now. */
    Typed latest(Readers readers) {
        long revision = store.read(readers.group(), readers.readFilter(), limits.time(), View::revision);
        return entry(readers).asOf(revision).typed();
    }

    /** Learns which revision a reader saw, and in time makes the schema follow. */
    void seen(Readers readers, long revision) {
        Entry entry = entry(readers);
        Built built = entry.built;
        if (built == null || built.revision() >= revision || entry.building.isLocked()) {
            return;
        }
        Duration leisure = built.took().multipliedBy(LEISURE);
        Duration pause = leisure.compareTo(REST) > 0 ? leisure : REST;
        if (nanoTime.getAsLong() - built.at() >= pause.toNanos()) {
            background.accept(readers.group(), () -> follow(entry, revision));
        }
    }

    /** Looks for the types of a group anew when they are asked for next. */
    void forget(String group) {
        entries.asMap().keySet().removeIf(readers -> readers.group().equals(group));
    }

    /** Looks for all types anew. */
    void forgetAll() {
        entries.invalidateAll();
    }

    private static void follow(Entry entry, long revision) {
        try {
            entry.asOf(revision);
        } catch (KnowledgeStoreException failed) {
            // The schema that is there serves on; the next query tries again.
            LOG.log(System.Logger.Level.DEBUG, "the schema of a graph could not be updated", failed);
        }
    }

    private Entry entry(Readers readers) {
        return entries.get(readers, Entry::new);
    }
}
