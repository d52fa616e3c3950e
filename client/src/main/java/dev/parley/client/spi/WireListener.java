package dev.parley.client.spi;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Listener of requests and answers on the wire, for diagnosis. Credentials are redacted before the call.
 *
 * <p>Called on the thread that made the call, or reads the stream. {@code exchange} tells concurrent exchanges apart. Do
 * not throw.
 */
public interface WireListener {
    /** Called before a request is sent; {@code method} is {@code GRPC} for a call of gRPC, with its body as JSON. */
    void sending(long exchange, String method, String url, Map<String, List<String>> headers, String body);

    /**
     * A whole answer has come; for a stream its beginning, with an empty body. Of gRPC it is the end of a call, with the
     * number of its status.
     */
    void received(long exchange, int status, Map<String, List<String>> headers, String body);

    /** A stream has brought an event. */
    void event(long exchange, @Nullable String id, String data);

    /** The agent sent something that differs from the specification, and that was read nevertheless. */
    default void deviation(String what) {}

    /** A failed attempt is repeated after {@code wait}. */
    void retrying(String reason, Duration wait);
}
