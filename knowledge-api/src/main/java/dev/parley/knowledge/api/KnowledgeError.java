package dev.parley.knowledge.api;

import dev.parley.protocol.ErrorKind;

/** Errors of the knowledge graph extension. Source: knowledge graph extension, "Error handling". */
public enum KnowledgeError implements ErrorKind {
    KNOWLEDGE_QUERY(-32010, 400, "INVALID_ARGUMENT", "Knowledge query failed"),
    KNOWLEDGE_UPDATE(-32011, 409, "ABORTED", "Knowledge update failed (e.g., conflict, constraint violation)"),
    KNOWLEDGE_SUBSCRIPTION(-32012, 400, "INVALID_ARGUMENT", "Knowledge subscription failed"),
    ALIGNMENT_VIOLATION(-32013, 403, "PERMISSION_DENIED", "Operation violates alignment constraints");

    private final int code;
    private final int httpStatus;
    private final String grpcStatus;
    private final String defaultMessage;

    KnowledgeError(int code, int httpStatus, String grpcStatus, String defaultMessage) {
        this.code = code;
        this.httpStatus = httpStatus;
        this.grpcStatus = grpcStatus;
        this.defaultMessage = defaultMessage;
    }

    @Override
    public int code() {
        return code;
    }

    @Override
    public int httpStatus() {
        return httpStatus;
    }

    @Override
    public String grpcStatus() {
        return grpcStatus;
    }

    @Override
    public String defaultMessage() {
        return defaultMessage;
    }

    @Override
    public boolean hasFixedMessage() {
        return true;
    }
}
