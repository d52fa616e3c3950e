package dev.parley.engine.cluster;

import dev.parley.engine.spi.TaskLog;
import dev.parley.protocol.CallContext.Scope;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A log without lists, names, limits and removals, which the simulation does not use. */
abstract class WritableLog implements TaskLog {
    @Override
    public NavigableMap<Long, Instant> times(TaskKey key, long sequence, int limit) {
        return new TreeMap<>();
    }

    @Override
    public List<Head> inTrace(@Nullable String group, String trace, int limit) {
        return List.of();
    }

    @Override
    public int turns(Scope scope, String agent, String contextId) {
        return 0;
    }

    @Override
    public Optional<String> taskNamed(TaskName name) {
        return Optional.empty();
    }

    @Override
    public Page list(Query query) {
        return new Page(new ArrayList<>(), 0);
    }

    @Override
    public void walk(Selection selection, BiPredicate<Scope, String> lanes, Predicate<Listed> visitor) {}

    @Override
    public List<Count> counts(@Nullable String group, Set<String> owners, @Nullable String agent, int limit) {
        return List.of();
    }

    @Override
    public int removeEnded(Instant before, int limit) {
        return 0;
    }

    @Override
    public void forget(String group, String principal) {}

    @Override
    public void close() {}
}
