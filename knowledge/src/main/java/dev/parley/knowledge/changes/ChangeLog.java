package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.model.StatementPage;
import dev.parley.knowledge.model.View;
import org.jspecify.annotations.Nullable;

/** Recorded changes of a graph. */
@FunctionalInterface
public interface ChangeLog {
    /**
     * Returns the changes of a view that its reader may see, the oldest first.
     *
     * @param after id of a change; null for the oldest that is kept
     * @throws IllegalArgumentException if that change is not kept
     */
    StatementPage<Change> changes(View view, @Nullable String after, int limit);
}
