package dev.parley.protocol.support;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Round-robin queue over groups, first in first out within a group unless its queues say otherwise: a group with many elements does not delay the others.
 * Safe for any thread.
 */
public final class FairQueue<T> {
    private final LinkedHashMap<String, Queue<T>> groups = new LinkedHashMap<>();
    private final Supplier<Queue<T>> queues;

    public FairQueue() {
        this(ArrayDeque::new);
    }

    /** @param queues makes the queue of a group, for one thread at a time */
    public FairQueue(Supplier<Queue<T>> queues) {
        this.queues = queues;
    }

    /** Appends an element to the queue of its group. */
    public synchronized void add(String group, T element) {
        groups.computeIfAbsent(group, name -> queues.get()).add(element);
    }

    /** Removes the next element; null if the queue is empty. */
    public @Nullable T poll() {
        return poll(group -> true);
    }

    /** Removes the next element of the first group that passes; null if there is none. */
    public @Nullable T poll(Predicate<String> eligible) {
        return poll(eligible, Queue::poll);
    }

    /**
     * Removes an element of the first group that passes and has one to take; null if there is none.
     *
     * @param taking removes an element of the queue of a group; null if it takes none
     */
    public synchronized @Nullable T poll(Predicate<String> eligible, Function<Queue<T>, @Nullable T> taking) {
        Iterator<Map.Entry<String, Queue<T>>> all = groups.entrySet().iterator();
        while (all.hasNext()) {
            Map.Entry<String, Queue<T>> group = all.next();
            T next = eligible.test(group.getKey()) ? taking.apply(group.getValue()) : null;
            if (next != null) {
                all.remove();
                if (!group.getValue().isEmpty()) {
                    groups.putLast(group.getKey(), group.getValue());
                }
                return next;
            }
        }
        return null;
    }

    /** Removes an element; false if it is not in the queue. */
    public synchronized boolean remove(String group, T element) {
        Queue<T> queue = groups.get(group);
        boolean removed = queue != null && queue.remove(element);
        if (queue != null && queue.isEmpty()) {
            groups.remove(group);
        }
        return removed;
    }

    /** The number of elements of a group. */
    public synchronized int size(String group) {
        Queue<T> queue = groups.get(group);
        return queue == null ? 0 : queue.size();
    }

    /** True if no group has an element. */
    public synchronized boolean isEmpty() {
        return groups.isEmpty();
    }
}
