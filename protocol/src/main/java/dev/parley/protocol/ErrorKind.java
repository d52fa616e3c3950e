package dev.parley.protocol;

/** Kind of error, with its code in each binding: one of {@link A2AError}, or a constant of an enum of an extension. */
public interface ErrorKind {
    /** Name in upper case, such as {@code TASK_NOT_FOUND}: the reason in the details of an error, and its label in metrics. */
    String name();

    /** Its row in the table of errors. */
    Row row();

    /**
     * The codes of an error.
     *
     * @param code the JSON-RPC error code
     * @param httpStatus from 400 to 599
     * @param grpcStatus the canonical name of the gRPC status, such as {@code NOT_FOUND}
     */
    record Row(int code, int httpStatus, String grpcStatus, String defaultMessage) {}

    /** The JSON-RPC error code. */
    default int code() {
        return row().code();
    }

    /** The HTTP status. */
    default int httpStatus() {
        return row().httpStatus();
    }

    /** The HTTP status of the 1.0.0 table, which negotiates as the same version and which older peers expect. */
    default int httpStatusOf100() {
        return httpStatus();
    }

    /** The name of the gRPC status. */
    default String grpcStatus() {
        return row().grpcStatus();
    }

    /** Default message. */
    default String defaultMessage() {
        return row().defaultMessage();
    }

    /** True if a specification fixes the message, so that details stand in the metadata. */
    default boolean hasFixedMessage() {
        return false;
    }
}
