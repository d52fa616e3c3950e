package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import dev.parley.knowledge.api.Term.Resource;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Patterns of statements that a computation has read, so that it can be repeated if one of them changes. Never too small:
 * a statement that fits no pattern cannot have been read. For one thread at a time.
 */
public final class ReadSet {
    private static final int MAX_NAMES = 10_000;

    private final Set<String> subjects = new HashSet<>();
    private final Set<String> predicates = new HashSet<>();
    private final Set<String> objects = new HashSet<>();
    private boolean everything;

    /** Adds a pattern, in which null is any. Its most selective part stands for it. */
    public void add(@Nullable String subject, @Nullable String predicate, @Nullable Term object) {
        if (subject != null) {
            subjects.add(subject);
        } else if (object instanceof Resource resource) {
            objects.add(resource.id());
        } else if (predicate != null) {
            predicates.add(predicate);
        } else {
            everything = true;
        }
        if (subjects.size() + predicates.size() + objects.size() > MAX_NAMES) {
            everything = true;
            subjects.clear();
            predicates.clear();
            objects.clear();
        }
    }

    /** True if something that a change has written or removed may fit one of the patterns. */
    public boolean mayContain(Numbered change) {
        Statement said = change.change().statement();
        return mayContain(said)
                || mayContainType(said.subject(), said)
                || said.object() instanceof Resource object && mayContainType(object, said)
                || change.replaced().stream().anyMatch(this::mayContain);
    }

    private boolean mayContainType(Resource mentioned, Statement with) {
        return mentioned.type() != null && mayContain(Numbered.type(mentioned, with));
    }

    /** True if a statement may fit one of the patterns. */
    boolean mayContain(Statement statement) {
        return everything
                || subjects.contains(statement.subject().id())
                || predicates.contains(statement.predicate())
                || statement.object() instanceof Resource resource && objects.contains(resource.id());
    }
}
