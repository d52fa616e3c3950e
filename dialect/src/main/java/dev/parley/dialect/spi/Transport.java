package dev.parley.dialect.spi;

import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of a dialect that is more than requests and answers of HTTP, so that it brings its own connections.
 * Implementations on the class path are found by {@link java.util.ServiceLoader}; clients that need none carry none.
 *
 * <p>Safe for any thread.
 */
public interface Transport {
    /** True if this transport speaks to an interface of a card. */
    boolean speaks(AgentCard.Interface agent);

    /** Returns the agent behind an interface that is spoken to. Connects when it is first called. */
    Remote to(AgentCard.Interface agent, Settings settings);

    /**
     * Returns the bytes of an operation for this interface, for a caller that sends them by other means.
     *
     * @throws dev.parley.protocol.A2AException UNSUPPORTED_OPERATION if the interface's version does not have it
     */
    Encoded encoded(AgentCard.Interface agent, Operation operation);

    /** A call: where it goes on the agent's host, what goes with it, and its message. */
    record Encoded(String path, Map<String, String> headers, byte[] message) {}

    /**
     * An agent that is elsewhere. Besides {@link dev.parley.protocol.A2AException}, for what the agent answers, calls
     * and streams throw {@link Broken}; METHOD_NOT_FOUND says that nothing there knows the call. Each call brings its own
     * headers, because tokens in them come and go.
     */
    interface Remote extends AutoCloseable {
        <R> R call(Operation.Call<R> operation, CallContext context, Map<String, String> headers);

        <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context, Map<String, String> headers);

        /** Cancels open calls and streams. Idempotent. */
        @Override
        void close();
    }

    /**
     * Settings of a connection to an agent.
     *
     * @param authority host and port
     * @param tls whether they are spoken to over TLS
     * @param sslContext keys and trusted authorities; null for the platform's
     * @param connectTimeout timeout of connecting
     * @param silence after what time without a sign of life a connection is asked for one
     * @param firstEvent how long a stream may take to its first event
     * @param extensions whose operations may be called
     * @param listener receives requests and answers; null for none
     */
    record Settings(
            String authority,
            boolean tls,
            @Nullable SSLContext sslContext,
            int maxMessageBytes,
            Duration connectTimeout,
            Duration silence,
            Duration firstEvent,
            List<ExtensionProtocol> extensions,
            @Nullable Listener listener) {}

    /** Sees what goes over the wire, messages as JSON. Called by any thread; does not throw. */
    interface Listener {
        /** A request is sent. Returns its number for the other calls. */
        long sending(String url, Map<String, List<String>> headers, String message);

        /** A call has ended; {@code status} is the transport's own, {@code message} empty if there is none, or a stream. */
        void received(long exchange, int status, Map<String, List<String>> headers, String message);

        /** A stream has brought a message. */
        void event(long exchange, String message);
    }

    /** There is no answer of the agent. */
    final class Broken extends RuntimeException {
        private static final long serialVersionUID = 1L;

        /** State of the call. */
        public enum Kind {
            /** It was not sent. */
            UNREACHABLE,
            /** The connection broke; the outcome is unknown. */
            LOST,
            /** The deadline passed; the outcome is unknown. */
            TIMED_OUT,
            /** The answer is longer than was to be read. */
            TOO_LARGE,
            /** The waiting thread was interrupted, and its flag is set. */
            INTERRUPTED
        }

        private final Kind kind;

        public Broken(Kind kind, String message, @Nullable Throwable cause) {
            super(message, cause);
            this.kind = kind;
        }

        public Kind kind() {
            return kind;
        }
    }
}
