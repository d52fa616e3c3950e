package dev.parley.knowledge.graphql;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Patch;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.model.Pattern;
import dev.parley.protocol.InvalidField;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Filter of the changes that a subscriber receives.
 *
 * @param pattern matches their statements
 * @param ops operations to report; empty for all
 */
public record ChangeFilter(Pattern pattern, Set<Patch.Op> ops) {
    public ChangeFilter {
        ops = ops.isEmpty() ? EnumSet.allOf(Patch.Op.class) : Set.copyOf(ops);
    }

    /**
     * Reads the input {@code StatementFilter}.
     *
     * @throws InvalidField if a member has an unknown value
     */
    static ChangeFilter of(GraphQlArguments filter) {
        var ops = EnumSet.noneOf(Patch.Op.class);
        for (String name : filter.texts("ops")) {
            ops.add(
                    switch (name) {
                        case "add" -> Patch.Op.ADD;
                        case "remove" -> Patch.Op.REMOVE;
                        case "replace" -> Patch.Op.REPLACE;
                        default -> throw InvalidField.of("ops", name + " (expected: add, remove or replace)");
                    });
        }
        return new ChangeFilter(filter.pattern(), ops);
    }

    /** Returns true if the filter names this graph or predicate. */
    public boolean names(String name) {
        return pattern.graphs().contains(name) || pattern.predicates().contains(name);
    }

    /**
     * Returns true if the filter matches {@code change} or a statement that it {@code replaced}, so that subscribers see
     * statements disappear.
     *
     * @param types reads the types of an entity; called only if the filter depends on them
     */
    public boolean matches(Change change, List<Statement> replaced, Function<String, Set<String>> types) {
        return ops.contains(change.op())
                && (pattern.fits(change.statement(), types)
                        || replaced.stream().anyMatch(old -> pattern.fits(old, types)));
    }
}
