package dev.parley.engine.scheduling;

import dev.parley.engine.spi.Priority;
import java.util.AbstractQueue;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Weighted round robin over {@linkplain Priority priorities}, first in first out within one. For one thread at a time. */
final class PrioritizedQueue<T> extends AbstractQueue<T> {
    private final Function<T, Priority> priority;
    private final Map<Priority, Queue<T>> levels = new EnumMap<>(Priority.class);

    /** Credit of the levels that have elements: smooth weighted round robin, in which a level that begins is served by its weight. */
    private final Map<Priority, Integer> credit = new EnumMap<>(Priority.class);

    PrioritizedQueue(Function<T, Priority> priority) {
        this.priority = priority;
    }

    @Override
    public boolean offer(T element) {
        return levels.computeIfAbsent(priority.apply(element), level -> new ArrayDeque<>())
                .add(element);
    }

    private @Nullable Priority next() {
        Priority next = null;
        for (Priority level : levels.keySet()) {
            if (next == null || credit(level) >= credit(next)) {
                next = level;
            }
        }
        return next;
    }

    private int credit(Priority level) {
        return credit.getOrDefault(level, 0) + level.weight();
    }

    @Override
    public @Nullable T poll() {
        Priority next = next();
        if (next == null) {
            return null;
        }
        for (Priority level : levels.keySet()) {
            credit.merge(level, level.weight(), Integer::sum);
            credit.merge(next, -level.weight(), Integer::sum);
        }
        return poll(next);
    }

    /** Removes the next element of one priority; null if there is none. */
    @Nullable
    T poll(Priority level) {
        Queue<T> queue = levels.get(level);
        T element = queue == null ? null : queue.poll();
        if (queue != null && queue.isEmpty()) {
            levels.remove(level);
            credit.remove(level);
        }
        return element;
    }

    @Override
    public @Nullable T peek() {
        Priority next = next();
        Queue<T> queue = next == null ? null : levels.get(next);
        return queue == null ? null : queue.peek();
    }

    @Override
    public Iterator<T> iterator() {
        return levels.values().stream().flatMap(Queue::stream).iterator();
    }

    @Override
    public int size() {
        return levels.values().stream().mapToInt(Queue::size).sum();
    }
}
