package dev.parley.dialect.grpc;

import dev.parley.protocol.EventStream;
import dev.parley.protocol.LoggedEvent;
import java.util.Map;

/** What a server sends back for one message of a call. */
public sealed interface GrpcAnswer {
    /** One message, in its encoded form. {@code metadata} goes before it. */
    record Whole(Map<String, String> metadata, byte[] message) implements GrpcAnswer {}

    /** Messages for as long as {@code events} lasts. The server closes it. */
    record Events(Map<String, String> metadata, EventStream events, Messages messages) implements GrpcAnswer {}

    /**
     * The call ends without an answer, or without more of them.
     *
     * @param status the number of a gRPC status code
     * @param message for people; not escaped yet
     * @param details an encoded google.rpc.Status, or no bytes
     */
    record Failure(int status, String message, byte[] details) implements GrpcAnswer {}

    /** Turns what a stream brings into messages in their encoded form. */
    interface Messages {
        /** Returns the message that tells of an event. */
        byte[] of(LoggedEvent event);

        /** Returns how a stream ends that broke, and logs it if it is this side's fault. */
        Failure failure(Throwable problem);
    }
}
