package dev.parley.protocol;

/** Kind of error, with its code in each binding: one of {@link A2AError}, or a constant of an enum of an extension. */
public interface ErrorKind {
    /** Name in upper case, such as {@code TASK_NOT_FOUND}: the reason in the details of an error, and its label in metrics. */
    String name();

    /** The JSON-RPC error code. */
    int code();

    /** The HTTP status, from 400 to 599. */
    int httpStatus();

    /** The HTTP status of the 1.0.0 table, which negotiates as the same version and which older peers expect. */
    default int httpStatusOf100() {
        return httpStatus();
    }

    /** The canonical name of the gRPC status, such as {@code NOT_FOUND}. */
    String grpcStatus();

    /** Default message. */
    String defaultMessage();

    /** True if a specification fixes the message, so that details stand in the metadata. */
    default boolean hasFixedMessage() {
        return false;
    }
}
