package dev.parley.knowledge.api;

import static java.util.Objects.requireNonNull;

/**
 * One change asked of a knowledge graph.
 *
 * <p>Source: knowledge graph extension, model KnowledgeGraphPatch.
 */
public record Patch(Op op, Statement statement) {
    /** Operation on the statement. Names on the wire are in lower case. */
    public enum Op {
        /** Says it, or says it anew: its certainty and provenance are replaced and its age begins again. */
        ADD,
        /** Takes exactly this statement back; not an error if it is not there. */
        REMOVE,
        /** Takes back whatever the same graph says with the same subject and predicate, then says this. */
        REPLACE
    }

    public Patch {
        requireNonNull(op, "op");
        requireNonNull(statement, "statement");
    }

    public static Patch add(Statement statement) {
        return new Patch(Op.ADD, statement);
    }

    public static Patch remove(Statement statement) {
        return new Patch(Op.REMOVE, statement);
    }

    public static Patch replace(Statement statement) {
        return new Patch(Op.REPLACE, statement);
    }
}
