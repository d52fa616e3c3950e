package dev.parley.registry.store;

import dev.parley.registry.store.EntryRows.Numbered;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Entries that were read or written last, by id and by the key of the row, within a bound of their JSON. The entry with the larger change
 * number wins, so a slow reader does not bring an older one back. Safe for any thread.
 */
final class EntryCache {
    private static final long MAX_BYTES = 64L << 20;

    private final Map<Long, Numbered> entries = new LinkedHashMap<>(1024, 0.75f, true);
    private final Map<String, Long> numbers = new LinkedHashMap<>();
    private long bytes;

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
        bytes += entry.content().length;
        Iterator<Numbered> eldest = entries.values().iterator();
        while (bytes > MAX_BYTES && eldest.hasNext()) {
            Numbered old = eldest.next();
            eldest.remove();
            forget(old);
        }
    }

    synchronized void remove(String id) {
        Numbered entry = get(id);
        if (entry != null) {
            remove(entry);
        }
    }

    synchronized void remove(long number) {
        Numbered entry = entries.get(number);
        if (entry != null) {
            remove(entry);
        }
    }

    private void remove(Numbered entry) {
        entries.remove(entry.number());
        forget(entry);
    }

    private void forget(Numbered entry) {
        numbers.remove(entry.entry().id());
        bytes -= entry.content().length;
    }
}
