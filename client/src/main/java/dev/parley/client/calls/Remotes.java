package dev.parley.client.calls;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.wire.AgentAddress;
import dev.parley.client.wire.AttemptFailure;
import dev.parley.client.wire.ClientSettings;
import dev.parley.client.wire.Transports;
import dev.parley.dialect.spi.Transport;
import dev.parley.dialect.spi.Transport.Broken;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.LruMap;
import java.time.Duration;
import java.util.Map;

/**
 * Connections of a client by a {@link Transport}: one for each interface of the card, opened when it is first
 * needed. Safe for any number of threads.
 */
final class Remotes implements AutoCloseable {
    /** The request of one attempt. */
    interface Asked<T> {
        T of(Transport.Remote agent, CallContext context, Map<String, String> headers);
    }

    private static final int MAX_REMOTES = 64;

    private final Means means;
    /** A card that is read again may name other interfaces each time. */
    private final Map<AgentCard.Interface, Transport.Remote> remotes =
            new LruMap<>(MAX_REMOTES, Transport.Remote::close);

    private boolean closed;

    Remotes(Means means) {
        this.means = means;
    }

    /**
     * Asks in one attempt, for which a token may have to be fetched first.
     *
     * @throws AttemptFailure if another attempt may help, here or elsewhere
     */
    <T> T ask(AgentAddress.ByTransport place, CallContext context, Duration left, Asked<T> asked)
            throws AttemptFailure, InterruptedException {
        ClientSettings settings = means.settings();
        if (!settings.headers().isEmpty()) {
            settings.requirePrivate(place.url());
        }
        Map<String, String> headers =
                Transports.headers(settings, means.credentials().of(place.card(), place.url(), context, left));
        try {
            return asked.of(remote(place), settings.extended(context), headers);
        } catch (Broken broken) {
            ClientException verdict = failure(place.agent().url(), broken);
            switch (broken.kind()) {
                case UNREACHABLE -> throw new AttemptFailure(AttemptFailure.Kind.NOT_SENT, null, verdict);
                case LOST -> throw new AttemptFailure(AttemptFailure.Kind.LOST, null, verdict);
                case TIMED_OUT, TOO_LARGE, INTERRUPTED -> throw verdict;
            }
            throw verdict;
        } catch (A2AException refusal) {
            if (refusal.error() == A2AError.UNAUTHENTICATED) {
                means.credentials().refused(headers);
            }
            if (refusal.error() == A2AError.METHOD_NOT_FOUND) {
                throw new AttemptFailure(AttemptFailure.Kind.NOT_HERE, null, refusal);
            }
            if (refusal.error() == A2AError.UNAVAILABLE || refusal.error() == A2AError.RATE_LIMITED) {
                throw new AttemptFailure(AttemptFailure.Kind.NOT_NOW, refusal.retryAfter(), refusal);
            }
            throw refusal;
        }
    }

    private synchronized Transport.Remote remote(AgentAddress.ByTransport place) {
        if (closed) {
            throw new ClientException(Problem.CLOSED, "the client has been closed");
        }
        return remotes.computeIfAbsent(
                place.agent(),
                agent -> place.transport().to(agent, Transports.settings(place.url(), means.settings(), means.wire())));
    }

    /** Returns the exception for a broken connection or answer. */
    static ClientException failure(String what, Broken broken) {
        var problem = switch (broken.kind()) {
            case UNREACHABLE -> Problem.UNREACHABLE;
            case LOST -> Problem.LOST;
            case TIMED_OUT -> Problem.TIMED_OUT;
            case TOO_LARGE -> Problem.ANSWER_TOO_LARGE;
            case INTERRUPTED -> Problem.INTERRUPTED;
        };
        return new ClientException(problem, what + ": " + broken.getMessage(), broken);
    }

    @Override
    public synchronized void close() {
        closed = true;
        remotes.values().forEach(Transport.Remote::close);
    }
}
