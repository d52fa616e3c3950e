package dev.parley.engine.scheduling;

import dev.parley.protocol.support.FairQueue;
import dev.parley.protocol.support.FairShare;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Slots for deliveries, shared so that a receiver that never answers delays only itself: each receiver has a few, and a group
 * with many receivers has at most seven times as many as it leaves free. Receivers come in turn. Safe for any thread.
 */
public final class DeliverySlots<T> {
    private static final int SLOTS = 256;
    private static final int PER_RECEIVER = 16;

    /** An element that has a slot, or waits for one. */
    public record Entry<T>(String group, String receiver, T element) {}

    private final ReentrantLock lock;
    private final FairQueue<Entry<T>> queue = new FairQueue<>();
    private final FairShare groups = FairShare.sevenEighths(SLOTS);
    private final FairShare receivers = new FairShare(SLOTS, PER_RECEIVER, PER_RECEIVER);

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
        return receivers.hasRoom(name) && groups.hasRoom(group);
    }

    /** Takes a slot for the next element that may have one, and removes it from the queue; null if there is none. */
    @Nullable
    public Entry<T> next() {
        return Guarded.by(lock, () -> {
            Entry<T> next = queue.poll(this::hasRoom);
            if (next != null) {
                groups.take(next.group());
                receivers.take(name(next.group(), next.receiver()));
            }
            return next;
        });
    }

    public void giveBack(Entry<T> entry) {
        Guarded.change(lock, () -> {
            groups.giveBack(entry.group());
            receivers.giveBack(name(entry.group(), entry.receiver()));
        });
    }
}
