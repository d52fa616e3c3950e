package dev.parley.knowledge.api;

import dev.parley.protocol.ErrorKind;

/** Errors of the knowledge graph extension. Source: knowledge graph extension, "Error handling". */
public enum KnowledgeError implements ErrorKind {
    KNOWLEDGE_QUERY(-32010, 400, "INVALID_ARGUMENT", "Knowledge query failed"),
    KNOWLEDGE_UPDATE(-32011, 409, "ABORTED", "Knowledge update failed (e.g., conflict, constraint violation)"),
    KNOWLEDGE_SUBSCRIPTION(-32012, 400, "INVALID_ARGUMENT", "Knowledge subscription failed"),
    ALIGNMENT_VIOLATION(-32013, 403, "PERMISSION_DENIED", "Operation violates alignment constraints");

    @SuppressWarnings("ImmutableEnumChecker") // a record of numbers and texts
    private final Row row;

    KnowledgeError(int code, int httpStatus, String grpcStatus, String defaultMessage) {
        this.row = new Row(code, httpStatus, grpcStatus, defaultMessage);
    }

    @Override
    public Row row() {
        return row;
    }

    @Override
    public boolean hasFixedMessage() {
        return true;
    }
}
