package dev.parley.server.helidon;

import io.helidon.http.RequestException;
import io.helidon.http.http2.Http2Exception;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpSecurity;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.security.cert.X509Certificate;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for Helidon's routing as a whole: makes an {@link Exchange} of each request, for one handler of all.
 *
 * <p>Helidon 4.5 makes a thread {@code helidon-idle-connection-timer} for each server, which holds the server, has nothing to do here, and
 * cannot be ended: neither the server nor its settings give access to the timer. So that the thread of a stopped server does not also hold
 * a whole hub, all that leads to the hub is in here, and {@link #release} drops it.
 */
final class ExchangeRouting implements HttpRouting {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");

    private final HttpSecurity security = HttpSecurity.create();
    private volatile @Nullable Consumer<Exchange> handler;
    private volatile IntConsumer refusals;

    /** @param refusals receives the status of each answer to an invalid request */
    ExchangeRouting(Consumer<Exchange> handler, IntConsumer refusals) {
        this.handler = handler;
        this.refusals = refusals;
    }

    /** Counts an answer to an invalid request, which has no exchange. */
    void refused(int status) {
        refusals.accept(status);
    }

    /** Drops the handler. Requests that come nevertheless, to a server that has stopped, end their connection. */
    void release() {
        handler = null;
        refusals = status -> {};
    }

    @Override
    public HttpSecurity security() {
        return security;
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        Consumer<Exchange> present = handler;
        if (present == null) {
            throw new CloseConnectionException("the server has stopped");
        }
        var guarded = (GuardedContext) context;
        var connection = guarded.connection();
        var exchange = new Exchange(
                connection, guarded.session()::closeAfterExchange, request, response, certificate(context));
        connection.begin(exchange);
        try {
            present.accept(exchange);
        } catch (CloseConnectionException | RequestException e) {
            throw e;
        } catch (RuntimeException e) {
            var expected = exchange.gone() || e instanceof UncheckedIOException || e instanceof Http2Exception;
            LOG.log(expected ? Level.DEBUG : Level.ERROR, "An answer could not be sent", e);
            throw new CloseConnectionException("the answer could not be sent", e);
        } finally {
            exchange.release();
            connection.end(exchange);
            if (connection.gone()) {
                // Helidon waits for the rest of a request of HTTP/2; what ran here may have cleared the flag.
                Thread.currentThread().interrupt();
            }
            if (connection.isHttp2()) {
                request.content().consume(); // Helidon does not if all of it has come, and never returns its window
            }
        }
    }

    /** Returns the certificate of the client, without its chain, which was verified during the handshake. */
    private static @Nullable X509Certificate certificate(ConnectionContext context) {
        return context.remotePeer()
                .tlsCertificates()
                .filter(chain -> chain.length > 0 && chain[0] instanceof X509Certificate)
                .map(chain -> (X509Certificate) chain[0])
                .orElse(null);
    }
}
