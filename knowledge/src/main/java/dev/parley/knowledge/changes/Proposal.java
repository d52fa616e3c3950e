package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.Statement;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Effect of an update, validated against shapes before it is committed.
 *
 * @param touched ids of entities to validate
 * @param changed statements that are written or removed
 */
public record Proposal(Set<String> touched, List<Changed> changed) {
    public Proposal {
        touched = Collections.unmodifiableSet(new LinkedHashSet<>(touched));
        changed = List.copyOf(changed);
    }

    /**
     * A statement that is written or removed.
     *
     * @param statement without certainty and provenance
     * @param held whether the graph contains it after the update
     * @param seen whether the caller may see it then
     */
    public record Changed(Statement statement, boolean held, boolean seen) {}
}
