package dev.parley.dialect.grpc;

import dev.parley.protocol.Feed;
import java.util.Map;
import java.util.function.Function;

/** Answer of a server to one message of a call. */
public sealed interface GrpcAnswer {
    /** One message, in its encoded form. {@code metadata} goes before it. */
    record Whole(Map<String, String> metadata, byte[] message) implements GrpcAnswer {}

    /**
     * Messages, in their encoded form, for as long as there are any. The server closes them.
     *
     * @param failure tells how a stream ends that broke, and logs it if it is this side's fault
     */
    record Events(Map<String, String> metadata, Feed<byte[]> messages, Function<Throwable, Failure> failure)
            implements GrpcAnswer {}

    /**
     * One message now, and another one when the server stops. Both in their encoded form.
     */
    record UntilStop(byte[] now, byte[] whenStopping) implements GrpcAnswer {}

    /**
     * The call ends without an answer, or without more of them.
     *
     * @param status the number of a gRPC status code
     * @param message for people; not escaped yet
     * @param details an encoded google.rpc.Status, or no bytes
     */
    record Failure(int status, String message, byte[] details) implements GrpcAnswer {}
}
