package dev.parley.dialect.grpc;

import static java.util.Objects.requireNonNull;

import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One message of a call.
 *
 * @param method service and method: {@code lf.a2a.v1.A2AService/GetTask}
 * @param metadata the metadata of the call by name, several values joined by commas
 * @param deadline when the caller stops waiting; null if it did not say
 * @param message in its encoded form
 * @param client the address of the caller; empty if it is not known
 */
public record GrpcRequest(
        String method,
        Function<String, @Nullable String> metadata,
        @Nullable Instant deadline,
        byte[] message,
        String client) {
    public GrpcRequest {
        requireNonNull(method, "method");
    }
}
