package dev.parley.store.database;

import dev.parley.protocol.support.FairShare;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Works that wait for the writer: round-robin over groups, first in first out within a group, so that a group that writes much
 * does not delay the others. A group {@linkplain #rest rests} after long work while other groups write, so that few works
 * of theirs come after one of its own. A {@linkplain Work#isBarrier barrier} is written after all works that were added
 * before it and before all that are added after it. {@linkplain Work#isPatient Patient} works wait for others or for some
 * milliseconds, so that many of them share a commit. One thread takes; any thread adds.
 */
final class WriteQueue {
    /** Works between two barriers, and the barrier at their end. */
    private static final class Epoch {
        private final LinkedHashMap<String, Deque<Work>> groups = new LinkedHashMap<>();
        private @Nullable Work barrier;
    }

    /** A group rests for as many times as long as its work took: it has an eighth of the writer's time. */
    private static final int REST = 7;

    private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Longest wait of a patient work for one that is not. */
    static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** Time after works of two groups during which groups rest. */
    private static final long TOGETHER_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition added = lock.newCondition();
    private final Deque<Epoch> epochs = new ArrayDeque<>(List.of(new Epoch()));
    private final FairShare places;
    private int size;

    /** How many of them are patient, and until when the first one is, by {@link System#nanoTime}. */
    private int patient;

    private long patientUntil;

    /** Until when groups rest, by {@link System#nanoTime}. */
    private final Map<String, Long> resting = new HashMap<>();

    /** The group that a work came of last, other than the empty one, and when it was another one before. */
    private @Nullable String latest;

    private long changedNanos = System.nanoTime() - TOGETHER_NANOS;

    /** @param limit of works; a group has at most 7/8 of the places that other groups do not use, the empty one all of them */
    WriteQueue(int limit) {
        this.places = FairShare.sevenEighths(limit);
    }

    /** Adds work; false if too much waits already. */
    boolean add(Work work) {
        lock.lock();
        try {
            boolean hasRoom = work.group().isEmpty() ? places.free() > 0 : places.hasRoom(work.group());
            if (!hasRoom) {
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
                noteGroup(work.group());
            }
            count(work, 1);
            if (!work.isPatient() || patient == 1) {
                added.signal(); // else the writer knows when to write the patient ones
            }
        } finally {
            lock.unlock();
        }
    }

    private void noteGroup(String group) {
        if (!group.isEmpty() && !group.equals(latest)) {
            if (latest != null) {
                changedNanos = System.nanoTime();
            }
            latest = group;
        }
    }

    /**
     * A work of a group has taken long: its next one waits for several times as long, if works of other groups come meanwhile.
     * Only a barrier, which all wait for, ends that before its time.
     */
    void rest(String group, long tookNanos) {
        if (group.isEmpty()) {
            return; // operators
        }
        lock.lock();
        try {
            resting.put(group, System.nanoTime() + Math.min(REST * tookNanos, LONGEST_REST_NANOS));
        } finally {
            lock.unlock();
        }
    }

    private void count(Work work, int more) {
        size += more;
        if (work.isPatient()) {
            if (patient == 0) {
                patientUntil = System.nanoTime() + PATIENCE_NANOS;
            }
            patient += more;
        }
        if (more > 0) {
            places.take(work.group());
        } else {
            places.giveBack(work.group());
        }
    }

    /**
     * Moves works to {@code into}, one of each group in turn, as soon as there is one. A barrier is moved by itself.
     *
     * @param nanos to wait at most for the first one; if not positive, no group rests
     */
    void take(Queue<Work> into, int most, long nanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            for (long left = nanos; ; ) {
                long rest = 0;
                if (size > 0) {
                    rest = left <= 0 || size > patient ? 0 : patientUntil - System.nanoTime();
                    if (rest <= 0) {
                        takeNow(into, most, left > 0);
                        if (!into.isEmpty()) {
                            return;
                        }
                        rest = untilRestEnds();
                    }
                }
                if (left <= 0) {
                    return;
                }
                long waited = rest == 0 ? left : Math.min(left, rest);
                left -= waited - added.awaitNanos(waited);
            }
        } finally {
            lock.unlock();
        }
    }

    private void takeNow(Queue<Work> into, int most, boolean mayRest) {
        Epoch first = epochs.getFirst();
        while (first.groups.isEmpty() && first.barrier == null && epochs.size() > 1) { // its barrier was removed
            epochs.remove();
            first = epochs.getFirst();
        }
        if (first.groups.isEmpty() && first.barrier != null) {
            into.add(first.barrier);
            count(first.barrier, -1);
            epochs.remove();
            return;
        }
        if (!resting.isEmpty()) {
            endRests(mayRest && first.barrier == null && epochs.size() == 1);
        }
        for (int i = 0; i < most && !first.groups.isEmpty(); i++) {
            Work next = next(first.groups);
            if (next == null) {
                return;
            }
            count(next, -1);
            into.add(next);
        }
    }

    /** Ends the rests that are over; all rests if no other group waits, or a barrier does. */
    private void endRests(boolean mayRest) {
        long now = System.nanoTime();
        if (!mayRest || now - changedNanos > TOGETHER_NANOS) {
            resting.clear();
        } else {
            resting.values().removeIf(end -> now - end >= 0);
        }
    }

    /** Time until the end of the first rest; 0 if no group rests. */
    private long untilRestEnds() {
        long now = System.nanoTime();
        long shortest = Math.max(1, changedNanos + TOGETHER_NANOS - now);
        for (long end : resting.values()) {
            shortest = Math.clamp(end - now, 1, shortest);
        }
        return resting.isEmpty() ? 0 : shortest;
    }

    /** Returns the next work of the next group, and puts the group after the others; null if all rest. */
    private @Nullable Work next(SequencedMap<String, Deque<Work>> groups) {
        if (groups.size() == 1 && resting.isEmpty()) {
            Deque<Work> only = groups.firstEntry().getValue();
            Work next = only.remove();
            if (only.isEmpty()) {
                groups.clear();
            }
            return next;
        }
        for (String group : groups.keySet()) {
            if (!resting.containsKey(group)) {
                Deque<Work> works = groups.remove(group);
                Work next = works.remove();
                if (!works.isEmpty()) {
                    groups.putLast(group, works);
                }
                return next;
            }
        }
        return null;
    }

    /** Puts works that were taken last, and not written, before the others of their groups; the groups go after others. */
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

    /** Removes all works but one, and returns them. */
    List<Work> removeAllBut(Work kept) {
        lock.lock();
        try {
            var removed = new ArrayList<Work>(size);
            boolean isKept = false;
            for (Epoch epoch : epochs) {
                epoch.groups.values().forEach(removed::addAll);
                if (epoch.barrier != null && !epoch.barrier.equals(kept)) {
                    removed.add(epoch.barrier);
                }
                isKept |= kept.equals(epoch.barrier);
            }
            epochs.clear();
            epochs.add(new Epoch());
            removed.forEach(work -> count(work, -1));
            if (isKept) {
                count(kept, -1);
                addUnbounded(kept);
            }
            return removed;
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
