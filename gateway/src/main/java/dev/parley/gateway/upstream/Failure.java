package dev.parley.gateway.upstream;

import dev.parley.client.spi.ClientException;
import dev.parley.gateway.upstream.UpstreamSettings.Timeouts;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.time.Duration;
import java.util.HashMap;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a call to a replica.
 *
 * @param cause label of the metric
 * @param kind effect of the call
 * @param retryAfter pause that the replica asks for; null for none
 * @param answer for the caller; without addresses and credentials of the upstream
 */
record Failure(String cause, Kind kind, @Nullable Duration retryAfter, A2AException answer) {
    /** Whether the call had an effect, and whether the replica is to blame. */
    enum Kind {
        /** Nothing was sent. */
        UNSENT,
        /** The replica refused the call for now. */
        BUSY,
        /** The effect is unknown. */
        LOST,
        /** The replica does not answer as it should; a repetition brings the same. */
        BROKEN,
        /** The agent refused the credential of the gateway, which has a new one for the next attempt. */
        STALE,
        /** The agent refused the call; the replica works. */
        REFUSED
    }

    /** Limit until the head of an answer, in messages. */
    static final String FIRST_BYTE = "first-byte";

    static final String[] CAUSES = {
        "connect", "lost", "first_byte", "idle", "total", "busy", "unavailable", "invalid", "credential", "agent"
    };

    /** @param limit the time limit that has passed if the call timed out */
    static Failure of(RuntimeException problem, String limit) {
        return switch (problem) {
            case ClientException client -> of(client, limit);
            case A2AException answer -> of(answer);
            default -> broken("invalid", Kind.BROKEN, "The call of the agent failed", problem);
        };
    }

    private static Failure of(ClientException problem, String limit) {
        return switch (problem.problem()) {
            case UNREACHABLE ->
                new Failure("connect", Kind.UNSENT, null, unavailable("The agent cannot be reached", problem));
            case LOST ->
                broken(
                        "lost",
                        Kind.LOST,
                        "The connection to the agent broke; whether the agent acted is unknown",
                        problem);
            case STREAM_CUT -> broken("lost", Kind.BROKEN, "The stream of the agent broke; the task goes on", problem);
            case TIMED_OUT -> {
                String cause = limit.startsWith(FIRST_BYTE) ? "first_byte" : "total";
                yield broken(cause, Kind.LOST, "The agent did not answer within its " + limit, problem);
            }
            case AUTHENTICATION_FAILED, LOGIN_EXPIRED, NO_TOKEN, KEYS, PLAIN_HTTP ->
                new Failure(
                        "credential",
                        Kind.REFUSED,
                        null,
                        internal("The gateway has no valid credential for the agent", problem));
            case INTERRUPTED, CLOSED ->
                new Failure("agent", Kind.REFUSED, null, unavailable("The call was given up", problem));
            case CARD_NOT_FOUND, CARD_INVALID, CARD_NOT_VERIFIED, NO_INTERFACE, ORIGIN_NOT_ALLOWED, REDIRECTED ->
                broken("invalid", Kind.BROKEN, "The answer of the agent cannot be used", problem);
            case ANSWER_TOO_LARGE -> broken("invalid", Kind.REFUSED, "The answer of the agent is too large", problem);
        };
    }

    private static Failure of(A2AException answer) {
        if (answer.error() == A2AError.RATE_LIMITED) {
            return new Failure("busy", Kind.BUSY, answer.retryAfter(), answer);
        }
        if (answer.error() == A2AError.UNAVAILABLE) {
            return new Failure("unavailable", Kind.BUSY, answer.retryAfter(), answer);
        }
        if (answer.error() == A2AError.UNAUTHENTICATED) { // of the gateway, not of its caller
            String text = "The agent does not accept the credential of the gateway";
            return new Failure("credential", Kind.STALE, null, internal(text, answer));
        }
        if (answer.error() == A2AError.PERMISSION_DENIED && answer.metadata().containsKey("wwwAuthenticate")) {
            var metadata = new HashMap<>(answer.metadata());
            metadata.remove("wwwAuthenticate");
            var bare = A2AException.of(answer.error(), String.valueOf(answer.getMessage()), metadata);
            return new Failure("agent", Kind.REFUSED, null, bare);
        }
        boolean invalid = answer.error() == A2AError.INVALID_AGENT_RESPONSE;
        return new Failure(invalid ? "invalid" : "agent", Kind.REFUSED, null, answer);
    }

    /** Failure of a stream that had begun. */
    static Failure ofStream(RuntimeException problem, Timeouts timeouts) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof ClientException client
                    && String.valueOf(client.getMessage()).contains("nothing came for")) {
                return passed("idle", timeouts.idle());
            }
        }
        return of(problem, FIRST_BYTE + " timeout (" + timeouts.firstByte() + ")");
    }

    static Failure passed(String cause, Duration limit) {
        String text =
                "The stream was ended by the " + cause + " timeout of the gateway (" + limit + "); the task goes on";
        return new Failure(cause, Kind.BROKEN, null, A2AException.of(A2AError.INVALID_AGENT_RESPONSE, text));
    }

    private static Failure broken(String cause, Kind kind, String text, RuntimeException problem) {
        return new Failure(
                cause,
                kind,
                null,
                A2AException.of(A2AError.INVALID_AGENT_RESPONSE, text).causedBy(problem));
    }

    private static A2AException internal(String text, RuntimeException cause) {
        return A2AException.of(A2AError.INTERNAL, text).causedBy(cause);
    }

    private static A2AException unavailable(String text, RuntimeException cause) {
        return A2AException.unavailable(text, Duration.ofSeconds(1)).causedBy(cause);
    }
}
