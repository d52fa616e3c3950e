package dev.parley.knowledge.changes;

import dev.parley.knowledge.api.KnowledgeOperation.Change;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Estimates memory in characters of text. */
public final class Characters {
    private Characters() {}

    public static long of(Statement statement) {
        String graph = statement.graph();
        return statement.subject().id().length()
                + statement.predicate().length()
                + of(statement.object())
                + (graph == null ? 0 : graph.length())
                + of(statement.provenance());
    }

    public static long of(Change change) {
        return of(change.statement()) + of(change.metadata());
    }

    public static int of(Term term) {
        return switch (term) {
            case Term.Resource resource -> resource.id().length();
            case Term.Literal literal -> literal.lexical().length();
        };
    }

    /** Returns the length of a value in JSON. */
    public static long of(@Nullable Object value) {
        long characters = 0;
        switch (value) {
            case String text -> characters = text.length();
            case Map<?, ?> members -> {
                for (var member : members.entrySet()) {
                    characters += of(member.getKey()) + of(member.getValue());
                }
            }
            case Collection<?> elements -> {
                for (Object element : elements) {
                    characters += of(element);
                }
            }
            case null, default -> {}
        }
        return characters;
    }
}
