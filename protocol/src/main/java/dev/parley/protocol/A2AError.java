package dev.parley.protocol;

import dev.parley.protocol.support.TemporaryFailure;

/** Errors of A2A with their codes. Source: A2A specification 1.0.1, section 5.4; JSON-RPC 2.0, section 5.1. */
public enum A2AError implements ErrorKind {
    TASK_NOT_FOUND(-32001, 404, "NOT_FOUND", "Task not found"),
    TASK_NOT_CANCELABLE(-32002, 400, "FAILED_PRECONDITION", "Task cannot be canceled"),
    PUSH_NOTIFICATION_NOT_SUPPORTED(-32003, 400, "FAILED_PRECONDITION", "Push Notification is not supported"),
    UNSUPPORTED_OPERATION(-32004, 400, "FAILED_PRECONDITION", "This operation is not supported"),
    CONTENT_TYPE_NOT_SUPPORTED(-32005, 400, "INVALID_ARGUMENT", "Incompatible content types"),
    INVALID_AGENT_RESPONSE(-32006, 500, "INTERNAL", "Invalid agent response"),
    EXTENDED_AGENT_CARD_NOT_CONFIGURED(-32007, 400, "FAILED_PRECONDITION", "Extended agent card is not configured"),
    EXTENSION_SUPPORT_REQUIRED(-32008, 400, "FAILED_PRECONDITION", "Extension support required"),
    VERSION_NOT_SUPPORTED(-32009, 400, "FAILED_PRECONDITION", "Protocol version not supported"),

    PARSE_ERROR(-32700, 400, "INVALID_ARGUMENT", "Invalid JSON payload"),
    INVALID_REQUEST(-32600, 400, "INVALID_ARGUMENT", "Request payload validation error"),
    METHOD_NOT_FOUND(-32601, 404, "NOT_FOUND", "Method not found"),
    INVALID_PARAMS(-32602, 400, "INVALID_ARGUMENT", "Invalid parameters"),
    INTERNAL(-32603, 500, "INTERNAL", "Internal error"),

    UNAUTHENTICATED(-32603, 401, "UNAUTHENTICATED", "Authentication required"),
    PERMISSION_DENIED(-32603, 403, "PERMISSION_DENIED", "Permission denied"),
    METHOD_NOT_ALLOWED(-32600, 405, "INVALID_ARGUMENT", "Method not allowed"),
    PAYLOAD_TOO_LARGE(-32600, 413, "INVALID_ARGUMENT", "Request too large"),
    RATE_LIMITED(-32603, 429, "RESOURCE_EXHAUSTED", "Too many requests"),
    QUOTA_EXCEEDED(-32603, 507, "RESOURCE_EXHAUSTED", "Storage quota exceeded"),
    UNAVAILABLE(-32603, 503, "UNAVAILABLE", "Temporarily unavailable");

    @SuppressWarnings("ImmutableEnumChecker") // a record of numbers and texts
    private final Row row;

    A2AError(int code, int httpStatus, String grpcStatus, String defaultMessage) {
        this.row = new Row(code, httpStatus, grpcStatus, defaultMessage);
    }

    /** Returns the error for a failure. */
    public static ErrorKind of(Throwable failure) {
        if (failure instanceof A2AException problem) {
            return problem.error();
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof TemporaryFailure) {
                return UNAVAILABLE;
            }
        }
        return INTERNAL;
    }

    @Override
    public Row row() {
        return row;
    }

    /**
     * {@inheritDoc}
     *
     * <p>Source: A2A specification 1.0.0, section 5.4.
     */
    @Override
    public int httpStatusOf100() {
        return switch (this) {
            case TASK_NOT_CANCELABLE -> 409;
            case CONTENT_TYPE_NOT_SUPPORTED -> 415;
            case INVALID_AGENT_RESPONSE -> 502;
            default -> httpStatus();
        };
    }
}
