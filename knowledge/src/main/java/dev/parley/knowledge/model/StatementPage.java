package dev.parley.knowledge.model;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Page of a list.
 *
 * @param <T> type of the items
 * @param next where the next page begins; null on the last one
 */
public record StatementPage<T>(List<T> items, @Nullable String next) {
    public StatementPage {
        items = List.copyOf(items);
    }

    public static <T> StatementPage<T> empty() {
        return new StatementPage<>(List.of(), null);
    }
}
