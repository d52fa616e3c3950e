package dev.parley.store;

import dev.parley.store.Database.Work;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Works that wait for the writer: round-robin over groups, first in first out within a group, so that a group that writes much
 * does not delay the others. A {@linkplain Work#isBarrier barrier} is written after all works that were added before it and
 * before all that are added after it. One thread takes; any thread adds.
 */
final class WriteQueue {
    /** Works between two barriers, and the barrier at their end. */
    private static final class Epoch {
        private final LinkedHashMap<String, Deque<Work>> groups = new LinkedHashMap<>();
        private @Nullable Work barrier;
    }

    private final int limit;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    private final Deque<Epoch> epochs = new ArrayDeque<>(List.of(new Epoch()));
    private final Map<String, Integer> sizes = new LinkedHashMap<>();
    private int size;

    /** @param limit of works; a group has at most 7/8 of the places that other groups do not use */
    WriteQueue(int limit) {
        this.limit = limit;
    }

    /** Adds work; false if too much waits already. */
    boolean add(Work work) {
        lock.lock();
        try {
            int own = sizes.getOrDefault(work.group(), 0);
            int left = limit - (size - own);
            if (own >= (work.group().isEmpty() ? left : left - left / 8)) {
                return false;
            }
            addUnbounded(work);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Adds work, however much waits. */
    void addUnbounded(Work work) {
        lock.lock();
        try {
            Epoch last = epochs.getLast();
            if (work.isBarrier()) {
                last.barrier = work;
                epochs.add(new Epoch());
            } else {
                last.groups
                        .computeIfAbsent(work.group(), any -> new ArrayDeque<>())
                        .add(work);
            }
            count(work, 1);
            added.signal();
        } finally {
            lock.unlock();
        }
    }

    private void count(Work work, int more) {
        size += more;
        sizes.merge(work.group(), more, (before, change) -> before + change == 0 ? null : before + change);
    }

    /**
     * Moves works to {@code into}, one of each group in turn, as soon as there is one. A barrier is moved by itself.
     *
     * @param nanos to wait at most for the first one
     */
    void take(Queue<Work> into, int most, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            for (long left = nanos; size == 0; ) {
                if (left <= 0) {
                    return;
                }
                left = added.awaitNanos(left);
            }
            Epoch first = epochs.getFirst();
            while (first.groups.isEmpty() && first.barrier == null) { // the rest of one whose barrier was removed
                epochs.remove();
                first = epochs.getFirst();
            }
            if (first.groups.isEmpty() && first.barrier != null) {
                into.add(first.barrier);
                count(first.barrier, -1);
                epochs.remove();
                return;
            }
            for (int i = 0; i < most && !first.groups.isEmpty(); i++) {
                Work next = next(first.groups);
                count(next, -1);
                into.add(next);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns the next work of the group whose turn it is, and puts the group behind the others. */
    private static Work next(SequencedMap<String, Deque<Work>> groups) {
        if (groups.size() == 1) {
            Deque<Work> only = groups.firstEntry().getValue();
            Work next = only.remove();
            if (only.isEmpty()) {
                groups.clear();
            }
            return next;
        }
        Map.Entry<String, Deque<Work>> turn = groups.pollFirstEntry();
        Work next = turn.getValue().remove();
        if (!turn.getValue().isEmpty()) {
            groups.putLast(turn.getKey(), turn.getValue());
        }
        return next;
    }

    /** Puts works that were taken last, and not written, before the others of their groups; the groups go behind others. */
    void giveBack(Collection<Work> unwritten) {
        lock.lock();
        try {
            Epoch first = epochs.getFirst();
            var back = new LinkedHashMap<String, Deque<Work>>();
            for (Work work : unwritten) {
                back.computeIfAbsent(work.group(), any -> new ArrayDeque<>()).add(work);
                count(work, 1);
            }
            back.forEach((group, works) -> {
                Deque<Work> later = first.groups.remove(group);
                if (later != null) {
                    works.addAll(later);
                }
                first.groups.putLast(group, works);
            });
        } finally {
            lock.unlock();
        }
    }

    /** Removes work; false if it does not wait. */
    boolean remove(Work work) {
        lock.lock();
        try {
            for (Epoch epoch : epochs) {
                Deque<Work> works = epoch.groups.get(work.group());
                if (works != null && works.remove(work)) {
                    if (works.isEmpty()) {
                        epoch.groups.remove(work.group());
                    }
                    count(work, -1);
                    return true;
                }
            }
            for (Epoch epoch : epochs) {
                if (work.equals(epoch.barrier)) {
                    epoch.barrier = null;
                    count(work, -1);
                    return true;
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    int size() {
        lock.lock();
        try {
            return size;
        } finally {
            lock.unlock();
        }
    }
}
