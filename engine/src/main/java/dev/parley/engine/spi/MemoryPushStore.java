package dev.parley.engine.spi;

import dev.parley.engine.spi.TaskLog.Cause;
import dev.parley.engine.spi.TaskLog.TaskKey;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;

/** Webhooks in memory, for tests and for agents that may forget. */
public final class MemoryPushStore implements PushStore {
    private record Key(TaskKey task, String configId) {}

    private final Map<Key, Subscription> rows = new LinkedHashMap<>();

    @Override
    public synchronized void save(Subscription subscription, Cause cause) {
        rows.put(key(subscription), subscription);
    }

    @Override
    public synchronized Recorded advance(Subscription subscription) {
        Subscription present = rows.get(key(subscription));
        if (present == null || present.generation() != subscription.generation()) {
            return Recorded.REFUSED;
        }
        rows.put(key(subscription), subscription);
        return Recorded.DONE;
    }

    @Override
    public synchronized Optional<Subscription> find(TaskKey task, String configId) {
        return Optional.ofNullable(rows.get(new Key(task, configId)));
    }

    @Override
    public List<Subscription> of(TaskKey task) {
        return matching(row -> row.task().equals(task));
    }

    @Override
    public synchronized boolean delete(TaskKey task, String configId, Cause cause) {
        return rows.remove(new Key(task, configId)) != null;
    }

    /** Removes the webhooks of a task with it. */
    synchronized void remove(TaskKey task) {
        rows.keySet().removeIf(key -> key.task().equals(task));
    }

    @Override
    public List<Subscription> pending() {
        return matching(row -> row.deadSince() == null);
    }

    @Override
    public List<Subscription> pending(String channel) {
        return matching(row -> row.deadSince() == null && channel.equals(row.channel()));
    }

    @Override
    public List<Subscription> dead(int limit) {
        return matching(row -> row.deadSince() != null).stream()
                .sorted(Comparator.comparing(
                                (Subscription row) -> Objects.requireNonNullElse(row.deadSince(), Instant.MIN))
                        .reversed())
                .limit(limit)
                .toList();
    }

    private synchronized List<Subscription> matching(Predicate<Subscription> which) {
        return rows.values().stream().filter(which).toList();
    }

    private static Key key(Subscription subscription) {
        return new Key(
                subscription.task(),
                Objects.requireNonNull(subscription.config().id()));
    }
}
