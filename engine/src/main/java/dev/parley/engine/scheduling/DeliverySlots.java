package dev.parley.engine.scheduling;

import dev.parley.protocol.support.FairQueue;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Slots for deliveries, shared so that a receiver that never answers delays only itself: each receiver has a few, and a group
 * with many receivers has at most seven times as many as it leaves free. Receivers come in turn. Safe for any thread.
 */
public final class DeliverySlots<T> {
    private static final int SLOTS = 256;
    private static final int PER_RECEIVER = 16;
    private static final int SHARE = 7;

    /** An element that has a slot, or waits for one. */
    public record Entry<T>(String group, String receiver, T element) {}

    private final ReentrantLock lock;
    private final FairQueue<Entry<T>> queue = new FairQueue<>();
    private final Map<String, Integer> byGroup = new HashMap<>();
    private final Map<String, Integer> byReceiver = new HashMap<>();
    private int taken;

    public DeliverySlots(ReentrantLock lock) {
        this.lock = lock;
    }

    public void add(String group, String receiver, T element) {
        Guarded.change(lock, () -> queue.add(name(group, receiver), new Entry<>(group, receiver, element)));
    }

    private static String name(String group, String receiver) {
        return group + "\n" + receiver;
    }

    private boolean hasRoom(String name) {
        String group = name.substring(0, name.lastIndexOf('\n'));
        return byReceiver.getOrDefault(name, 0) < PER_RECEIVER
                && byGroup.getOrDefault(group, 0) < SHARE * (SLOTS - taken);
    }

    /** Takes a slot for the next element that may have one, and removes it from the queue; null if there is none. */
    @Nullable
    public Entry<T> next() {
        lock.lock();
        try {
            Entry<T> next = queue.poll(this::hasRoom);
            if (next != null) {
                byGroup.merge(next.group(), 1, Integer::sum);
                byReceiver.merge(name(next.group(), next.receiver()), 1, Integer::sum);
                taken++;
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    public void giveBack(Entry<T> entry) {
        Guarded.change(lock, () -> {
            byGroup.computeIfPresent(entry.group(), (same, count) -> count == 1 ? null : count - 1);
            byReceiver.computeIfPresent(
                    name(entry.group(), entry.receiver()), (same, count) -> count == 1 ? null : count - 1);
            taken--;
        });
    }
}
