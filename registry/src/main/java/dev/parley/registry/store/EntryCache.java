package dev.parley.registry.store;

import dev.parley.registry.store.EntryRows.Numbered;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Entries that were read or written last, by id and by the key of the row, within a bound of their memory. The entry with the larger change
 * number wins, so a slow reader does not bring an older one back. Safe for any thread.
 */
final class EntryCache {
    static final long MAX_BYTES = 96L << 20;

    /** Memory of an entry in lengths of its JSON, and besides: JSON of 1,766 bytes and its objects take 5,594 bytes of the heap. */
    private static final int OBJECTS = 3;

    private static final int OVERHEAD = 300;

    private final long maxBytes;
    private final Map<Long, Numbered> entries = new LinkedHashMap<>(1024, 0.75f, true);
    private final Map<String, Long> numbers = new LinkedHashMap<>();
    private final AtomicLong changes = new AtomicLong();
    private long bytes;

    EntryCache(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    private static long bytes(Numbered entry) {
        return OVERHEAD + OBJECTS * (long) entry.content().length;
    }

    /** Number of changes that this hub has made to entries: what was read before a number is good until there is another one. */
    long changes() {
        return changes.get();
    }

    /** Counts a change of entries that this cache does not know of. To be called after its commit. */
    void changed() {
        changes.incrementAndGet();
    }

    /** Puts an entry that was just written. */
    void written(Numbered entry) {
        put(entry);
        changed();
    }

    synchronized @Nullable Numbered get(String id) {
        Long number = numbers.get(id);
        return number == null ? null : entries.get(number);
    }

    synchronized @Nullable Numbered get(long number) {
        return entries.get(number);
    }

    synchronized void put(Numbered entry) {
        Numbered before = entries.get(entry.number());
        if (before != null) {
            if (before.entry().state().change() > entry.entry().state().change()) {
                return;
            }
            remove(before);
        }
        entries.put(entry.number(), entry);
        numbers.put(entry.entry().id(), entry.number());
        bytes += bytes(entry);
        Iterator<Numbered> eldest = entries.values().iterator();
        while (bytes > maxBytes && eldest.hasNext()) {
            Numbered old = eldest.next();
            eldest.remove();
            forget(old);
        }
    }

    /** Removes an entry that was erased, or whose change has an unknown outcome. */
    synchronized void remove(String id) {
        changed();
        Numbered entry = get(id);
        if (entry != null) {
            remove(entry);
        }
    }

    synchronized void remove(long number) {
        changed();
        Numbered entry = entries.get(number);
        if (entry != null) {
            remove(entry);
        }
    }

    synchronized void clear() {
        entries.clear();
        numbers.clear();
        bytes = 0;
    }

    private void remove(Numbered entry) {
        entries.remove(entry.number());
        forget(entry);
    }

    private void forget(Numbered entry) {
        numbers.remove(entry.entry().id());
        bytes -= bytes(entry);
    }
}
