package dev.parley.engine;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait, by group: groups come in turn, and within a group who came first. So it is of no use to a group to have many
 * that wait, and no harm to the others. Safe for any thread.
 */
final class FairQueue<T> {
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedHashMap<String, Queue<T>> groups = new LinkedHashMap<>();

    void add(String group, T one) {
        lock.lock();
        try {
            groups.computeIfAbsent(group, name -> new ArrayDeque<>()).add(one);
        } finally {
            lock.unlock();
        }
    }

    /** Removes the next one; null if nobody waits. */
    @Nullable
    T poll() {
        lock.lock();
        try {
            Map.Entry<String, Queue<T>> first = groups.pollFirstEntry();
            if (first == null) {
                return null;
            }
            T next = first.getValue().poll();
            if (!first.getValue().isEmpty()) {
                groups.putLast(first.getKey(), first.getValue());
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return groups.isEmpty();
        } finally {
            lock.unlock();
        }
    }
}
