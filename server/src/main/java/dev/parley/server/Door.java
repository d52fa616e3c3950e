package dev.parley.server;

import dev.parley.dialect.Dialects;
import dev.parley.dialect.WireAnswer;
import dev.parley.dialect.grpc.GrpcDialect;
import dev.parley.protocol.A2AException;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
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
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Where each request comes in from Helidon and its answer goes out.
 *
 * <p>Stands in for Helidon's routing as a whole: {@link Routes} knows all paths, and only here it is known on which
 * connection a request came.
 */
final class Door implements HttpRouting {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final Duration RETRY_STREAM = Duration.ofSeconds(5);
    private static final String EVENT_STREAM = "text/event-stream";
    private static final Map<String, String> STREAM_HEADERS =
            Map.of("Content-Type", EVENT_STREAM, "Cache-Control", "no-store, no-transform", "X-Accel-Buffering", "no");

    private final HttpSecurity security = HttpSecurity.create();
    private final Routes routes;
    private final Cors cors;
    private final BrowserRule browsers;
    private final OpenStreams streams;
    private final Duration keepAlive;
    private final @Nullable Future<GrpcDialect> grpc;
    private final Authenticator authenticator;
    private final IntConsumer refusals;

    Door(
            Routes routes,
            Cors cors,
            BrowserRule browsers,
            OpenStreams streams,
            Duration keepAlive,
            @Nullable Future<GrpcDialect> grpc,
            Authenticator authenticator,
            IntConsumer refusals) {
        this.routes = routes;
        this.cors = cors;
        this.browsers = browsers;
        this.streams = streams;
        this.keepAlive = keepAlive;
        this.grpc = grpc;
        this.authenticator = authenticator;
        this.refusals = refusals;
    }

    @Override
    public HttpSecurity security() {
        return security;
    }

    @Override
    public void route(ConnectionContext context, RoutingRequest request, RoutingResponse response) {
        var guarded = (GuardedContext) context;
        var exchange = guarded.connection().begin(request, response, certificate(context));
        try {
            handle(exchange, guarded);
        } catch (CloseConnectionException | RequestException e) {
            throw e;
        } catch (RuntimeException e) {
            var expected = exchange.gone() || e instanceof UncheckedIOException || e instanceof Http2Exception;
            LOG.log(expected ? Level.DEBUG : Level.ERROR, "An answer could not be sent", e);
            throw new CloseConnectionException("the answer could not be sent", e);
        } finally {
            exchange.release();
            guarded.connection().end(exchange);
            if (guarded.connection().gone()) {
                // Helidon waits for the rest of a request of HTTP/2; what ran here may have cleared the flag.
                Thread.currentThread().interrupt();
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

    /** Returns the dialect, which the server makes in the background when it has started. */
    private static GrpcDialect await(Future<GrpcDialect> grpc) {
        try {
            return grpc.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CloseConnectionException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("gRPC", e.getCause());
        }
    }

    private void handle(Exchange exchange, GuardedContext context) {
        if (grpc != null && GrpcCall.is(exchange)) {
            new GrpcCall(
                            await(grpc),
                            browsers,
                            authenticator,
                            streams,
                            exchange.connection().all()::draining,
                            refusals,
                            exchange)
                    .run();
            return;
        }
        var request = exchange.request();
        var method = request.prologue().method().text();
        if (cors.isPreflight(method, request.headers())) {
            cors.answerPreflight(request.headers(), exchange.response().headers());
            Answers.secure(exchange);
            exchange.response().status(Status.NO_CONTENT_204);
            exchange.send(Answers.NOTHING);
            return;
        }
        switch (answer(exchange, method)) {
            case WireAnswer.Whole whole -> {
                if (exchange.gone()) {
                    abandon(exchange);
                    return;
                }
                prepareEnd(exchange, context);
                Answers.send(exchange, whole, cors);
            }
            case WireAnswer.Events events -> {
                prepareEnd(exchange, context);
                stream(exchange, context, events);
            }
        }
    }

    private WireAnswer answer(Exchange exchange, String method) {
        var prologue = exchange.request().prologue();
        var headers = Answers.lookup(exchange.request().headers());
        var head = new Routes.Head(method, "", Map.of(), exchange.arrival("", headers));
        var refused = routes.refusedMethod(head);
        if (refused != null) {
            return refused;
        }
        try {
            browsers.check(method, exchange.request().headers());
            var path = RequestTarget.path(prologue.uriPath().rawPath());
            head = new Routes.Head(
                    method,
                    path,
                    prologue.hasQuery() ? RequestTarget.query(prologue.query().rawValue()) : Map.of(),
                    exchange.arrival(path, headers),
                    exchange::admitted);
            if (isCompressed(exchange.request().headers())) {
                return routes.compressed(head);
            }
            if (streams.full() && accepts(headers.apply("Accept"))) {
                return tooManyStreams(head);
            }
            var answer = routes.answer(head, new RequestBody(exchange));
            if (answer instanceof WireAnswer.Events events && !streams.enter(exchange.group(), events.frames())) {
                events.frames().close();
                return tooManyStreams(head);
            }
            return answer;
        } catch (CloseConnectionException | RequestException e) {
            throw e;
        } catch (RuntimeException e) {
            // A failure caused by the disconnect of the client is no fault, and needs no answer.
            exchange.requirePresent();
            return routes.problem(head, Dialects.explained(e));
        }
    }

    private static boolean isCompressed(Headers headers) {
        return headers.contains(HeaderNames.CONTENT_ENCODING)
                && !headers.get(HeaderNames.CONTENT_ENCODING).get().equalsIgnoreCase("identity");
    }

    private static boolean accepts(@Nullable String accept) {
        return accept != null && accept.contains(EVENT_STREAM);
    }

    private WireAnswer tooManyStreams(Routes.Head head) {
        return routes.problem(head, A2AException.unavailable("Too many open streams", RETRY_STREAM));
    }

    private void stream(Exchange exchange, GuardedContext context, WireAnswer.Events answer) {
        var events = answer.frames();
        exchange.endShare();
        try {
            var headers = new LinkedHashMap<>(STREAM_HEADERS);
            headers.putAll(answer.headers());
            if (exchange.connection().isHttp2()) {
                headers.remove("Connection"); // HTTP/2 forbids it
            }
            Answers.headers(exchange, headers, cors);
            if (exchange.request().prologue().method().text().equals("HEAD")) {
                exchange.send(Answers.NOTHING);
                return;
            }
            exchange.whenGone(events::close);
            context.inbound().watch();
            new EventSender(
                            exchange.whileAdmitted(events),
                            answer.failure(),
                            exchange.connection().all()::draining,
                            exchange.response().outputStream(),
                            keepAlive)
                    .run();
            if (exchange.gone()) {
                abandon(exchange);
            } else {
                exchange.commit();
            }
        } finally {
            events.close();
            streams.leave(events);
        }
    }

    /** Ends an exchange without an answer; a stream of HTTP/2 that was reset is over for Helidon already. */
    private static void abandon(Exchange exchange) {
        if (!exchange.connection().isHttp2()) {
            exchange.requirePresent();
        }
    }

    /** Helidon says {@code Connection: close} when it was asked to, and then reads on; so it has to be told. */
    private static void prepareEnd(Exchange exchange, GuardedContext context) {
        if (exchange.connection().isHttp2()) {
            return;
        }
        var complete = RequestBody.isConsumed(exchange);
        if (!complete || exchange.connection().all().draining()) {
            exchange.response().headers().set(HeaderValues.CONNECTION_CLOSE);
        } else if (!exchange.request().headers().contains(HeaderNames.CONNECTION)
                || !exchange.request().headers().containsToken(HeaderValues.CONNECTION_CLOSE)) {
            return;
        }
        context.session().closeAfterExchange(complete);
    }
}
