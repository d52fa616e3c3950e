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
import org.jspecify.annotations.Nullable;

/** Stands in for Helidon's routing as a whole: makes an {@link Exchange} of each request, for one handler of all. */
final class ExchangeRouting implements HttpRouting {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");

    private final HttpSecurity security = HttpSecurity.create();
    private final Consumer<Exchange> handler;

    ExchangeRouting(Consumer<Exchange> handler) {
        this.handler = handler;
    }

    @Override
    public HttpSecurity security() {
        return security;
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        var guarded = (GuardedContext) context;
        var connection = guarded.connection();
        var exchange = new Exchange(
                connection, guarded.session()::closeAfterExchange, request, response, certificate(context));
        connection.begin(exchange);
        try {
            handler.accept(exchange);
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
