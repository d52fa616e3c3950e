package dev.parley.client.wire;

import dev.parley.outbound.http.RetryAfter;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An attempt failed in a way that another attempt may mend, here or at another place. */
public final class AttemptFailure extends Exception {
    private static final long serialVersionUID = 1L;
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofDays(1);

    /** State of the request. */
    public enum Kind {
        /** It was not sent. */
        NOT_SENT,
        /** The address will not take such a request later either: no such host, or no such path on it. */
        NOT_HERE,
        /** The peer refused it for now, and has not acted on it. */
        NOT_NOW,
        /** Unknown whether the request had an effect. */
        LOST
    }

    private final Kind kind;
    private final transient @Nullable Duration retryAfter;
    private final RuntimeException verdict;

    /** @param verdict exception for the caller if there is no other attempt */
    public AttemptFailure(Kind kind, @Nullable Duration retryAfter, RuntimeException verdict) {
        super(verdict);
        this.kind = kind;
        this.retryAfter = retryAfter;
        this.verdict = verdict;
    }

    /** Returns the trouble that an error answer is, or empty if asking again would bring the same one. */
    public static Optional<AttemptFailure> of(int status, HttpHeaders headers, A2AException problem, Instant now) {
        boolean lost = status == 502 || status == 504; // from a proxy, which does not know the result
        boolean notNow = status == 429
                || status == 503
                || problem.error() == A2AError.RATE_LIMITED
                || problem.error() == A2AError.UNAVAILABLE;
        if (!lost && !notNow) {
            return Optional.empty();
        }
        Duration retryAfter = problem.retryAfter(); // from the body, finer than whole seconds
        if (retryAfter == null) {
            retryAfter = RetryAfter.parse(headers.firstValue("Retry-After").orElse(null), now, LONGEST_RETRY_AFTER);
        }
        RuntimeException verdict = retryAfter == null ? problem : problem.retryingAfter(retryAfter);
        return Optional.of(new AttemptFailure(lost ? Kind.LOST : Kind.NOT_NOW, retryAfter, verdict));
    }

    /** Whether another attempt at the same place may mend it. */
    public boolean isMendable(boolean repeatable) {
        return switch (kind) {
            case NOT_SENT, NOT_NOW -> true;
            case LOST -> repeatable;
            case NOT_HERE -> false;
        };
    }

    /** Whether the request certainly reached no server, so that any operation may go to another interface. */
    boolean isNobodyThere() {
        return kind == Kind.NOT_SENT || kind == Kind.NOT_HERE;
    }

    /** Pause before the next attempt that the server asks for; null for none. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    public RuntimeException verdict() {
        return verdict;
    }
}
