package dev.parley.knowledge;

import dev.parley.knowledge.spi.Page;
import dev.parley.knowledge.spi.View;
import dev.parley.protocol.KnowledgeOperation.Change;
import org.jspecify.annotations.Nullable;

/** Recorded changes of a graph. */
@FunctionalInterface
interface ChangeLog {
    /**
     * Returns changes that a view contains, the oldest first, without those that its reader may not see.
     *
     * @param after the id of a change; null for the oldest that is remembered
     * @throws IllegalArgumentException if that change is not remembered
     */
    Page<Change> changes(View view, @Nullable String after, int limit);
}
