package dev.parley.engine.scheduling;

import dev.parley.engine.spi.Priority;
import dev.parley.protocol.support.FairQueue;
import dev.parley.protocol.support.FairShare;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Slots of an agent, and the queue in front of them, both shared by groups.
 *
 * <p>No slot is ever taken back, so a group that could take all of them would keep the others waiting for as long as its tasks
 * run. So a group has its {@linkplain FairShare#sevenEighths share} of the slots, and of the places in the queue.
 *
 * <p>Within a group the queue goes by {@linkplain Priority priority}. The last of several slots may be kept for critical tasks.
 *
 * <p>Safe for any thread.
 */
public final class Slots<T> {
    /** Slots that are taken, and elements that wait for one. */
    public record Load(int taken, int waiting) {}

    private final ReentrantLock lock;
    private final FairShare slots;
    private final FairShare places;
    private final FairQueue<T> queue;
    /** With fewer slots, one that is kept free would be a large share of them. */
    private static final int RESERVING = 4;

    /** Slots that only critical tasks may take. */
    private final int reserved;

    private final @Nullable Function<T, Priority> priority;
    /** Elements of the queue by priority; empty if all have the same. */
    private final Map<Priority, Integer> waiting = new EnumMap<>(Priority.class);

    /** Slots and places for elements of one priority. */
    public Slots(int slots, int places, ReentrantLock lock) {
        this(slots, places, lock, null);
    }

    /**
     * @param slots that may be taken at once
     * @param places in the queue
     * @param priority of an element; null if all have the same, and no slot is kept for critical ones
     */
    public Slots(int slots, int places, ReentrantLock lock, @Nullable Function<T, Priority> priority) {
        this.priority = priority;
        this.reserved = priority == null || slots < RESERVING ? 0 : 1;
        this.queue = priority == null ? new FairQueue<>() : new FairQueue<>(() -> new PrioritizedQueue<>(priority));
        this.slots = FairShare.sevenEighths(slots);
        this.places = FairShare.sevenEighths(places);
        this.lock = lock;
    }

    /** Returns whether {@link #take} would give a slot to the group at this moment. */
    public boolean isFree(String group) {
        return Guarded.by(lock, () -> slots.hasRoom(group));
    }

    /** Takes a slot for a group and an element that is not critical, if it may have one now. */
    public boolean take(String group) {
        return take(group, Priority.MEDIUM);
    }

    /** Takes a slot for a group, if it may have one now. */
    public boolean take(String group, Priority priority) {
        return Guarded.by(lock, () -> {
            if (isReserved() && priority != Priority.CRITICAL || !slots.hasRoom(group)) {
                return false;
            }
            slots.take(group);
            return true;
        });
    }

    /** True if the slots that are free are kept for critical tasks. */
    private boolean isReserved() {
        return slots.free() <= reserved;
    }

    /** Gives a slot back. {@link #next} then returns the elements that can take it. */
    public void giveBack(String group) {
        Guarded.change(lock, () -> slots.giveBack(group));
    }

    /** True if the group may take a slot, or a place in the queue, now. */
    public boolean hasRoom(String group) {
        return Guarded.by(lock, () -> slots.hasRoom(group) || places.hasRoom(group));
    }

    /**
     * Takes a place in the queue for a group, to be followed by {@link #enqueue}.
     *
     * @param bounded false if there has to be one
     */
    public boolean takePlace(String group, boolean bounded) {
        return Guarded.by(lock, () -> {
            if (bounded && !places.hasRoom(group)) {
                return false;
            }
            places.take(group);
            return true;
        });
    }

    /** Appends an element to the queue, in its place. */
    public void enqueue(String group, T element) {
        count(element, 1);
        queue.add(group, element);
    }

    private void count(T element, int change) {
        if (priority != null) {
            Guarded.change(lock, () -> waiting.merge(priority.apply(element), change, Integer::sum));
        }
    }

    /** Removes the next element of a group that may take a slot, takes the slot, and frees the place; null for none. */
    @Nullable
    public T next() {
        return Guarded.by(lock, () -> {
            String[] eligible = new String[1];
            boolean onlyCritical = reserved > 0 && isReserved();
            T next = queue.poll(
                    group -> {
                        eligible[0] = group;
                        return slots.hasRoom(group);
                    },
                    waiting -> onlyCritical && waiting instanceof PrioritizedQueue<T> prioritized
                            ? prioritized.poll(Priority.CRITICAL)
                            : waiting.poll());
            if (next != null) {
                count(next, -1);
                String group = eligible[0];
                places.giveBack(group);
                slots.take(group);
            }
            return next;
        });
    }

    /** Numbers of elements in the queue by priority; empty if all have the same. */
    public Map<Priority, Integer> waiting() {
        return Guarded.by(lock, () -> Map.copyOf(waiting));
    }

    public Load load() {
        return Guarded.by(lock, () -> new Load((int) slots.taken(), (int) places.taken()));
    }
}
