package dev.parley.mesh;

import java.util.Locale;

/** Kinds of messages. The first eight are those of the protocol; the others are further kinds of the mesh. */
public enum MessageType {
    TASK_DELEGATION,
    TASK_ACCEPTANCE,
    TASK_REJECTION,
    TASK_RESULT,
    STATUS_UPDATE,
    QUERY,
    RESPONSE,
    ERROR,
    /** Begins a workflow. */
    COORDINATION,
    /** Says that results or aims contradict each other. */
    CONFLICT,
    /** Assessment of a result by its receiver. */
    FEEDBACK;

    /** The word on the wire. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
