package dev.parley.registry.store;

import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Flags entries in answers whose names look like those of others by the {@linkplain Entry#lookAlikes ids of the others}, so that callers do
 * not take one for the other.
 */
public record LookAlikes(StoredEntries entries) {
    public Entry flagged(Entry entry, CallContext caller) {
        return flagged(List.of(entry), caller).getFirst();
    }

    public List<Entry> flagged(List<Entry> all, CallContext caller) {
        var names = new LinkedHashMap<String, String>();
        all.forEach(entry -> names.put(entry.id(), entry.resource().name()));
        Map<String, List<String>> alike = entries.lookAlikes(names, caller);
        return alike.isEmpty()
                ? all
                : all.stream()
                        .map(entry -> entry.withLookAlikes(alike.getOrDefault(entry.id(), List.of())))
                        .toList();
    }
}
