package dev.parley.knowledge;

import dev.parley.knowledge.spi.Pattern;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.Patch;
import dev.parley.protocol.Statement;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Which changes a subscriber wants to hear of.
 *
 * @param pattern what their statements say
 * @param ops what was done; all of them if none is named
 */
record ChangeFilter(Pattern pattern, Set<Patch.Op> ops) {
    ChangeFilter {
        ops = ops.isEmpty() ? EnumSet.allOf(Patch.Op.class) : Set.copyOf(ops);
    }

    /**
     * Reads the input {@code StatementFilter}.
     *
     * @throws InvalidField if it asks for what there is not
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

    /** True if it names this graph or predicate. */
    boolean names(String name) {
        return pattern.graphs().contains(name) || pattern.predicates().contains(name);
    }

    /**
     * True if a subscriber wants to hear of {@code change}: also if what it has {@code replaced} fits, so that they see
     * things leave.
     *
     * @param types finds the types of an entity; not called if they do not matter
     */
    boolean matches(Change change, List<Statement> replaced, Function<String, Set<String>> types) {
        return ops.contains(change.op())
                && (pattern.fits(change.statement(), types)
                        || replaced.stream().anyMatch(old -> pattern.fits(old, types)));
    }
}
