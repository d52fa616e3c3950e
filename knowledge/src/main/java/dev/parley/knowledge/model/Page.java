package dev.parley.knowledge.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Page of a list.
 *
 * @param next where the next page begins; null on the last one
 */
public record Page<T>(List<T> items, @Nullable String next) {
    public Page {
        items = List.copyOf(items);
    }

    public static <T> Page<T> empty() {
        return new Page<>(List.of(), null);
    }
}
