package dev.parley.client.spi;

import static java.util.Objects.requireNonNull;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A call failed on this side of the wire, or on the way: there is no answer of the agent. Errors in answers
 * arrives as {@link dev.parley.protocol.A2AException}.
 */
public final class ClientException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Kinds of failures that a caller can act on. */
    public enum Problem {
        /** No connection: unknown host, closed port, TLS that does not hold. Nothing was sent. */
        UNREACHABLE,
        /** The connection broke before the answer. Whether the agent acted is unknown. */
        LOST,
        /** The deadline passed before the answer. Whether the agent acted is unknown. */
        TIMED_OUT,
        /** There is no card where cards are looked for. */
        CARD_NOT_FOUND,
        /** The document is not a card that can be read. */
        CARD_INVALID,
        /** The card is not signed by a key that is trusted, or not as it is now. */
        CARD_NOT_VERIFIED,
        /** The card has no interface that this client supports, or that its settings allow. */
        NO_INTERFACE,
        /** The card leads to another origin than the one connected to, which was not allowed. */
        ORIGIN_NOT_ALLOWED,
        /** Credentials would travel over plain HTTP to another machine, which was not allowed. Nothing was sent. */
        PLAIN_HTTP,
        /** The agent answered that something else is elsewhere. Redirects are not followed. */
        REDIRECTED,
        /** The answer is longer than this client was set to read. */
        ANSWER_TOO_LARGE,
        /** A stream broke, and could not be resumed. The task goes on. */
        STREAM_CUT,
        /** The authorization server does not accept the client that is to get a token. */
        AUTHENTICATION_FAILED,
        /** The access token of a kept login has expired and cannot be renewed: the user has to log in again. */
        LOGIN_EXPIRED,
        /** The authorization server gives no token that can be used, for another reason than the client. */
        NO_TOKEN,
        /** Keys cannot be read from, or written to, where they are kept. */
        KEYS,
        /** The waiting thread was interrupted; its interrupt flag is set. */
        INTERRUPTED,
        /** The client has been closed. */
        CLOSED
    }

    private final Problem problem;
    private final @Nullable String target;

    public ClientException(Problem problem, String message) {
        this(problem, message, null);
    }

    public ClientException(Problem problem, String message, @Nullable Throwable cause) {
        this(problem, message, cause, null);
    }

    private ClientException(Problem problem, String message, @Nullable Throwable cause, @Nullable String target) {
        super(message, cause);
        this.problem = requireNonNull(problem, "problem");
        this.target = target;
    }

    /** A redirect to {@code target}. */
    public static ClientException redirected(String message, String target) {
        return new ClientException(Problem.REDIRECTED, message, null, target);
    }

    public Problem problem() {
        return problem;
    }

    /** Target of a redirect, as the agent wrote it. */
    public Optional<String> target() {
        return Optional.ofNullable(target);
    }
}
