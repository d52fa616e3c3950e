package dev.parley.protocol.support;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Round-robin queue over groups, first in first out within a group: a group with many elements does not delay the others.
 * Safe for any thread.
 */
public final class FairQueue<T> {
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedHashMap<String, Queue<T>> groups = new LinkedHashMap<>();

    /** Appends an element to the queue of its group. */
    public void add(String group, T element) {
        lock.lock();
        try {
            groups.computeIfAbsent(group, name -> new ArrayDeque<>()).add(element);
        } finally {
            lock.unlock();
        }
    }

    /** Removes the next element; null if the queue is empty. */
    public @Nullable T poll() {
        return poll(group -> true);
    }

    /** Removes the next element of the first group that passes; null if there is none. */
    public @Nullable T poll(Predicate<String> eligible) {
        lock.lock();
        try {
            Iterator<Map.Entry<String, Queue<T>>> all = groups.entrySet().iterator();
            while (all.hasNext()) {
                Map.Entry<String, Queue<T>> group = all.next();
                if (eligible.test(group.getKey())) {
                    all.remove();
                    T next = group.getValue().poll();
                    if (!group.getValue().isEmpty()) {
                        groups.putLast(group.getKey(), group.getValue());
                    }
                    return next;
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    /** Removes an element; false if it is not in the queue. */
    public boolean remove(String group, T element) {
        lock.lock();
        try {
            Queue<T> queue = groups.get(group);
            boolean removed = queue != null && queue.remove(element);
            if (queue != null && queue.isEmpty()) {
                groups.remove(group);
            }
            return removed;
        } finally {
            lock.unlock();
        }
    }

    /** The number of elements of a group. */
    public int size(String group) {
        lock.lock();
        try {
            Queue<T> queue = groups.get(group);
            return queue == null ? 0 : queue.size();
        } finally {
            lock.unlock();
        }
    }

    /** True if no group has an element. */
    public boolean isEmpty() {
        lock.lock();
        try {
            return groups.isEmpty();
        } finally {
            lock.unlock();
        }
    }
}
