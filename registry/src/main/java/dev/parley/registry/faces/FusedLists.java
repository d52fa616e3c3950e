package dev.parley.registry.faces;

import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.LruMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Results of registries and their peers that were fused for one caller, for the pages after the first. Within a bound; a list that is gone
 * makes the caller search again. Safe for any thread.
 */
final class FusedLists {
    private static final int MOST_KEPT = 200;
    private static final String PREFIX = "fused:";

    private record Fused(String owner, List<Map<String, @Nullable Object>> results) {}

    /** @param next token of the next page; null on the last one */
    record Page(
            List<Map<String, @Nullable Object>> results,
            @Nullable String next) {}

    private final Map<String, Fused> lists = new LruMap<>(MOST_KEPT);

    static boolean is(@Nullable String token) {
        return token != null && token.startsWith(PREFIX);
    }

    /** The first page of a list, which is kept if there are more. */
    Page begin(List<Map<String, @Nullable Object>> results, int size, CallContext caller) {
        if (results.size() <= size) {
            return new Page(results, null);
        }
        String id = UUID.randomUUID().toString();
        synchronized (lists) {
            lists.put(id, new Fused(owner(caller), List.copyOf(results)));
        }
        return page(id, results, 0, size);
    }

    Page page(String token, int size, CallContext caller) {
        String[] parts = token.split(":", 3);
        Fused fused;
        synchronized (lists) {
            fused = parts.length == 3 ? lists.get(parts[1]) : null;
        }
        int from = fused == null || !parts[2].matches("[0-9]{1,4}") ? -1 : Integer.parseInt(parts[2]);
        if (fused == null
                || !fused.owner().equals(owner(caller))
                || from < 0
                || from > fused.results().size()) {
            throw A2AException.invalidParams(
                    "pageToken", "the results of this search are gone (expected: a new search)");
        }
        return page(parts[1], fused.results(), from, size);
    }

    private static Page page(String id, List<Map<String, @Nullable Object>> results, int from, int size) {
        int to = Math.min(results.size(), from + size);
        return new Page(results.subList(from, to), to < results.size() ? PREFIX + id + ":" + to : null);
    }

    private static String owner(CallContext caller) {
        return caller.scope().group() + "\n" + caller.caller();
    }
}
