package dev.parley.client.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;
import static java.util.Objects.requireNonNullElseGet;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.dialect.spi.Transport;
import dev.parley.outbound.OAuthForm;
import dev.parley.outbound.TokenAnswer;
import dev.parley.outbound.http.Http1Client;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.HttpUrl.Origin;
import dev.parley.outbound.http.LimitedBytes;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.outbound.http.Redaction;
import dev.parley.outbound.http.RefusedAddressException;
import dev.parley.outbound.http.RetryAfter;
import dev.parley.outbound.http.SseParser;
import dev.parley.outbound.http.StreamBody;
import dev.parley.outbound.http.UnreadBytes;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.support.Excerpt;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the origins that it may send credentials to, and to no other. Follows a redirect within its origin once, such as
 * that to an address with a slash at its end. Safe for any thread.
 */
public final class HttpWire implements AutoCloseable {
    /**
     * A request; credentials are added when it is sent.
     *
     * @param id that its answer repeats; null for none
     * @param caller for whom it is sent; null for the client itself
     */
    public record Request(
            String method,
            HttpUrl url,
            Map<String, String> headers,
            byte[] body,
            @Nullable String id,
            @Nullable Scope caller) {
        public Request(String method, HttpUrl url, Map<String, String> headers, byte[] body) {
            this(method, url, headers, body, null, null);
        }

        /** Returns this request as one for a caller. */
        public Request by(CallContext context) {
            return new Request(method, url, headers, body, id, context.scope());
        }

        Request at(HttpUrl place) {
            return new Request(method, place, headers, body, id, caller);
        }

        /** Returns the same for a GET. */
        public Request asGet() {
            return new Request("GET", url, headers, NO_BODY, id, caller);
        }
    }

    /**
     * Partition of the connections to an agent: a surplus answer on one of them concerns its own caller only, and no request after the
     * {@code era} in which it came.
     */
    private record Partition(HttpWire wire, @Nullable Scope caller, int era) {
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Partition partition
                    && wire == partition.wire
                    && era == partition.era
                    && Objects.equals(caller, partition.caller);
        }

        @Override
        public int hashCode() {
            return Objects.hash(System.identityHashCode(wire), caller, era);
        }
    }

    private static final byte[] NO_BODY = {};
    private static final int MAX_LOCATION = 500;

    /** A whole answer. */
    public record Answer(int status, HttpHeaders headers, byte[] body) {
        /** The same as callers of other protocols than A2A get it. */
        public HttpCall.Answer forCaller(Instant now) {
            String retryAfter = headers.firstValue("Retry-After").orElse(null);
            return new HttpCall.Answer(
                    status,
                    RetryAfter.parse(retryAfter, now, LONGEST_RETRY_AFTER),
                    headers.firstValue("ETag").orElse(null),
                    body);
        }
    }

    /** A request for a stream that is on its way; {@code exchange} is its number for the listener. */
    public record Opening(long exchange, Request request, CompletableFuture<HttpResponse<StreamBody>> response) {}

    private static final Duration LONGEST_RETRY_AFTER = Duration.ofHours(1);

    private final ClientSettings settings;
    private final Set<Origin> trusted;
    /** Secrets of the builder; keys that are found later come with each request. */
    private volatile Redaction redaction;

    private final HttpClient http;

    private final AtomicInteger era = new AtomicInteger();
    private final AtomicLong exchanges = new AtomicLong();
    private final CountDownLatch closed = new CountDownLatch(1);

    public HttpWire(ClientSettings settings, Set<Origin> trusted) {
        this.settings = settings;
        this.trusted = trusted;
        this.redaction = new Redaction(settings.headers().keySet(), settings.secrets());
        this.http = requireNonNullElseGet(
                settings.http(), () -> Http1Client.of(settings.connectTimeout(), settings.sslContext()));
    }

    /**
     * Sends a request and reads the whole answer.
     *
     * @throws AttemptFailure if another attempt may help
     * @throws ClientException if none would
     */
    public Answer exchange(Request request, int maxBytes, Duration left) throws AttemptFailure, InterruptedException {
        long end = System.nanoTime() + left.toNanos();
        HttpResponse<byte[]> response = once(request, maxBytes, left);
        Request moved = moved(request, response);
        if (moved != null) {
            response = once(moved, maxBytes, Duration.ofNanos(end - System.nanoTime()));
        }
        refuseRedirect(request, response.statusCode(), response.headers());
        return new Answer(response.statusCode(), response.headers(), response.body());
    }

    private HttpResponse<byte[]> once(Request request, int maxBytes, Duration left)
            throws AttemptFailure, InterruptedException {
        long exchange = exchanges.incrementAndGet();
        HttpResponse<byte[]> response = whole(request, ready(exchange, request), maxBytes, left);
        listen(exchange, response, response.body());
        return response;
    }

    /**
     * Returns the same request at the place to which an answer points; null if it is not a redirect within the origin, or one that changes the
     * method.
     */
    private static @Nullable Request moved(Request request, HttpResponse<?> response) {
        int status = response.statusCode();
        boolean isSame = status == 307 || status == 308;
        boolean isRead = request.method().equals("GET") && (status == 301 || status == 302);
        String location = response.headers().firstValue("Location").orElse(null);
        if (location == null || !isSame && !isRead) {
            return null;
        }
        try {
            URI place = request.url().uri().resolve(location);
            String query = request.url().uri().getRawQuery();
            boolean isKept = query != null && place.getRawQuery() == null; // it may hold a key
            HttpUrl target = HttpUrl.of(isKept ? place + "?" + query : place.toString());
            return target.origin().equals(request.url().origin()) ? request.at(target) : null;
        } catch (IllegalArgumentException noUrl) {
            return null;
        }
    }

    private HttpResponse<byte[]> whole(Request request, HttpRequest ready, int maxBytes, Duration left)
            throws AttemptFailure, InterruptedException {
        // Only virtual threads heed an interruption while they read, and a guard keeps the limit in look-ups of hosts.
        boolean isOwn = settings.http() instanceof LimitedClient
                && Thread.currentThread().isVirtual();
        HttpResponse.BodyHandler<byte[]> whole = head -> new LimitedBytes(maxBytes);
        try {
            return isOwn
                    ? ((LimitedClient) http).send(ready, whole, partition(request), left)
                    : LimitedClient.exchange(http, ready, whole, partition(request), left);
        } catch (IOException | RuntimeException failure) {
            throw trouble(request, failure);
        }
    }

    /**
     * A surplus answer that comes as the next request goes out cannot be told from its answer, if that repeats no id. Callers of a gateway
     * have connections of their own; a program or command has one connection for each such request.
     */
    private Object partition(Request request) {
        return settings.http() == null && request.id() == null
                ? LimitedClient.ONCE
                : new Partition(this, request.caller(), era.get());
    }

    /**
     * Gives up the open connections after one of them has received the answer to another request, or an unreadable one: further answers on
     * it may be shifted, too. Running exchanges continue.
     */
    public void distrust() {
        era.incrementAndGet();
    }

    /**
     * Sends a form to another server than the agent, such as an authorization server: without the headers that the agent
     * gets, and unseen by the listener, for both sides of such an exchange are secrets.
     *
     * @throws AttemptFailure if another attempt may help
     * @throws ClientException if none would, or the card leads there and that origin may not have the credentials
     */
    TokenAnswer post(HttpUrl url, OAuthForm form, Duration left) throws AttemptFailure, InterruptedException {
        requireOpen();
        requireTrust(url.origin());
        var request = new Request("POST", url, Map.of(), NO_BODY);
        try {
            TokenAnswer answer = form.send(http, partition(request), url.uri(), left);
            refuseRedirect(request, answer.status(), answer.headers());
            return answer;
        } catch (IOException | RuntimeException failure) {
            throw trouble(request, failure);
        }
    }

    /** Keeps these, too, from the listener. */
    void hide(Collection<String> secrets) {
        if (settings.isHeard()) {
            var all = new ArrayList<>(settings.secrets());
            all.addAll(secrets);
            redaction = new Redaction(settings.headers().keySet(), all);
        }
    }

    /** Sends a request for a stream; its pieces go to {@code consumer}. */
    public Opening open(Request request, Consumer<StreamBody.Piece> consumer) {
        long exchange = exchanges.incrementAndGet();
        HttpRequest ready = ready(exchange, request);
        HttpResponse.BodyHandler<StreamBody> handler = StreamBody.handler(consumer, settings.maxAnswerBytes());
        return new Opening(exchange, request, LimitedClient.sending(http, ready, handler, partition(request)));
    }

    /**
     * Waits for the beginning of the answer to a request for a stream.
     *
     * @throws AttemptFailure if another attempt may help
     * @throws ClientException if none would
     */
    public HttpResponse<StreamBody> await(Opening opening, Duration left) throws AttemptFailure, InterruptedException {
        CompletableFuture<HttpResponse<StreamBody>> response = opening.response();
        try {
            return response.get(Math.max(0, left.toNanos()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            response.cancel(true);
            throw late(opening.request(), e);
        } catch (InterruptedException e) {
            response.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            throw trouble(opening.request(), requireNonNullElse(e.getCause(), e));
        }
    }

    /**
     * Looks at the beginning of the answer to a request for a stream.
     *
     * @return the request to be sent instead; null for none
     * @throws ClientException if it is a redirect that is not followed
     */
    public @Nullable Request begun(Opening opening, HttpResponse<StreamBody> response, boolean mayMove) {
        byte[] body = response.body() instanceof StreamBody.Whole(var bytes) ? bytes : new byte[0];
        listen(opening.exchange(), response, body);
        Request moved = mayMove ? moved(opening.request(), response) : null;
        if (moved == null) {
            refuseRedirect(opening.request(), response.statusCode(), response.headers());
        }
        return moved;
    }

    /** Tells the listener of an event of a stream. */
    public void listen(long exchange, SseParser.Frame frame) {
        if (settings.isHeard()) {
            settings.listener().event(exchange, frame.id(), redaction.body(frame.data()));
        }
    }

    /** Tells the listener of what another transport sends and gets. */
    Transport.Listener overhearing() {
        return new Transport.Listener() {
            @Override
            public long sending(String url, Map<String, List<String>> headers, String message) {
                long exchange = exchanges.incrementAndGet();
                settings.listener()
                        .sending(
                                exchange,
                                "GRPC",
                                redaction.url(url),
                                redaction.headers(headers),
                                redaction.body(message));
                return exchange;
            }

            @Override
            public void received(long exchange, int status, Map<String, List<String>> headers, String message) {
                settings.listener().received(exchange, status, redaction.headers(headers), redaction.body(message));
            }

            @Override
            public void event(long exchange, String message) {
                settings.listener().event(exchange, null, redaction.body(message));
            }
        };
    }

    private void listen(long exchange, HttpResponse<?> response, byte[] body) {
        if (settings.isHeard()) {
            settings.listener()
                    .received(
                            exchange,
                            response.statusCode(),
                            redaction.headers(response.headers().map()),
                            redaction.body(new String(body, UTF_8)));
        }
    }

    /** Waits; true if this was closed meanwhile. */
    public boolean pause(Duration wait) throws InterruptedException {
        return closed.await(wait.toNanos(), TimeUnit.NANOSECONDS);
    }

    public boolean isClosed() {
        return closed.getCount() == 0;
    }

    private HttpRequest ready(long exchange, Request request) {
        requireOpen();
        requireTrust(request.url().origin()); // once more, because this is where credentials leave
        if (!settings.headers().isEmpty()) {
            settings.requirePrivate(request.url());
        }
        HttpRequest.Builder builder = HttpRequest.newBuilder(request.url().uri())
                .method(
                        request.method(),
                        request.body().length == 0 && !request.method().equals("POST")
                                ? BodyPublishers.noBody()
                                : BodyPublishers.ofByteArray(request.body()));
        request.headers().forEach(builder::setHeader);
        settings.headers().forEach(builder::setHeader);
        HttpRequest ready = builder.build();
        if (settings.isHeard()) {
            settings.listener()
                    .sending(
                            exchange,
                            ready.method(),
                            redaction.url(ready.uri().toString()),
                            redaction.headers(ready.headers().map()),
                            redaction.body(new String(request.body(), UTF_8)));
        }
        return ready;
    }

    private void requireOpen() {
        if (isClosed()) {
            throw new ClientException(Problem.CLOSED, "the client has been closed");
        }
    }

    /**
     * Returns the exception for a failed exchange.
     *
     * @throws ClientException if another attempt would not help
     */
    AttemptFailure trouble(Request request, Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        Origin origin = request.url().origin();
        if (isClosed()) {
            throw new ClientException(Problem.CLOSED, "the client has been closed", cause);
        }
        return switch (cause) {
            case ConnectException e
            when e.getCause() instanceof UnresolvedAddressException ->
                new AttemptFailure(AttemptFailure.Kind.NOT_HERE, null, unreachable(request, "no such host", e));
            case UnreadBytes e ->
                new AttemptFailure(
                        AttemptFailure.Kind.NOT_SENT, null, unreachable(request, String.valueOf(e.getMessage()), e));
            case ConnectException e ->
                new AttemptFailure(AttemptFailure.Kind.NOT_SENT, null, unreachable(request, "connection refused", e));
            case HttpConnectTimeoutException e ->
                new AttemptFailure(AttemptFailure.Kind.NOT_SENT, null, unreachable(request, "connection timed out", e));
            case HttpTimeoutException e -> throw late(request, e);
            case ClientException e -> throw e;
            case RefusedAddressException e ->
                throw new ClientException(Problem.ORIGIN_NOT_ALLOWED, requireNonNull(e.getMessage()), e);
            case SSLHandshakeException e -> throw unreachable(request, "TLS failed: " + e.getMessage(), e);
            case LimitedBytes.TooLarge e ->
                throw new ClientException(Problem.ANSWER_TOO_LARGE, "answer of " + origin + ": " + e.getMessage(), e);
            case IOException e ->
                new AttemptFailure(
                        AttemptFailure.Kind.LOST,
                        null,
                        new ClientException(
                                Problem.LOST,
                                "the connection to " + origin + " broke before the answer (" + e.getMessage()
                                        + "); whether the agent acted is unknown",
                                e));
            default -> throw new ClientException(Problem.LOST, "call to " + origin + " failed", cause);
        };
    }

    private static ClientException late(Request request, Exception cause) {
        return new ClientException(
                Problem.TIMED_OUT, "no answer in time from " + request.url().origin(), cause);
    }

    private static ClientException unreachable(Request request, String why, Throwable cause) {
        return new ClientException(
                Problem.UNREACHABLE, "cannot reach " + request.url().server() + ": " + why, cause);
    }

    /** Whether this origin may have the credentials. */
    boolean isTrusted(Origin origin) {
        return trusted.contains(origin);
    }

    /** @throws ClientException if this origin may not have the credentials; it tells what to allow */
    void requireTrust(Origin origin) {
        if (!isTrusted(origin)) {
            throw new ClientException(
                    Problem.ORIGIN_NOT_ALLOWED,
                    "the agent's card leads to another origin: " + origin + " (allow it by allowOrigin(\"" + origin
                            + "\"), if it may have your credentials)");
        }
    }

    private static void refuseRedirect(Request request, int status, HttpHeaders headers) {
        if (status >= 300 && status < 400 && status != 304) {
            String location = Excerpt.of(headers.firstValue("Location").orElse("an unknown place"), MAX_LOCATION);
            throw ClientException.redirected(
                    request.url().origin() + " answered " + status + " and points to " + location
                            + " (not followed: use that address, if you trust it)",
                    location);
        }
    }

    @Override
    public void close() {
        closed.countDown();
        http.shutdownNow();
    }
}
