package dev.parley.outbound.http;

import static java.util.Objects.requireNonNullElse;

import java.io.IOException;
import java.io.InputStream;
import java.net.Authenticator;
import java.net.ConnectException;
import java.net.CookieHandler;
import java.net.ProxySelector;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.PushPromiseHandler;
import java.nio.ByteBuffer;
import java.nio.channels.UnresolvedAddressException;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow.Subscriber;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;
import org.apache.hc.client5.http.ConnectTimeoutException;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.io.entity.ByteArrayEntity;
import org.jspecify.annotations.Nullable;

/**
 * HTTP client over {@link OutboundConnections}: HTTP/1.1, no redirects, no cookies. A request without a partition uses connections of this
 * client only. The timeout of a request counts until its answer, if that is a stream, begins. Safe for any thread.
 */
public final class Http1Client extends LimitedClient {
    /** Opens an exchange on the calling thread, as {@link OutboundConnections#open}. */
    public interface Opener {
        ClassicHttpResponse open(HttpUrl target, HttpUriRequestBase call, Object partition, @Nullable Duration limit)
                throws IOException;
    }

    private static final int PIECE = 16 * 1024;
    private static final long NEVER = Long.MAX_VALUE;
    private static final long BEGIN = System.nanoTime();

    /** Headers that the connection writes. */
    private static final Set<String> OWN_HEADERS = Set.of("content-length", "transfer-encoding", "host", "connection");

    private final Opener opener;
    private final Runnable closing;
    private final Duration connect;
    /** Deadlines of running calls, by {@link #elapsed}. */
    private final Map<Call, Long> running = new ConcurrentHashMap<>();
    /** Time of the next check for calls past their deadline. One timer serves many calls, as most end long before. */
    private final AtomicLong check = new AtomicLong(NEVER);

    private volatile boolean closed;
    /** Server of the last request, as most clients have one; null before the first. */
    private volatile @Nullable Server server;

    /**
     * @param connect timeout of connecting
     * @param closing runs when the client is closed
     */
    public Http1Client(Opener opener, Duration connect, Runnable closing) {
        this.opener = opener;
        this.connect = connect;
        this.closing = closing;
    }

    /**
     * A client for addresses that its user chose, with connections of its own, by way of the proxies of the platform.
     *
     * @param connect timeout of connecting
     * @param tls keys and trusted authorities; null for those of the platform
     */
    public static LimitedClient of(Duration connect, @Nullable SSLContext tls) {
        var connections = new OutboundConnections(new OutboundConnections.Settings(
                connect,
                Duration.ZERO,
                Integer.MAX_VALUE,
                () -> tls == null ? platform() : tls,
                ProxySelector.getDefault(),
                null));
        return new Http1Client(
                (target, call, partition, limit) -> connections.open(target, call, partition, limit != null),
                connect,
                connections::close);
    }

    private static SSLContext platform() {
        try {
            return SSLContext.getDefault();
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Call call(HttpRequest request) {
        var call = new Call(request);
        request.headers().map().forEach((name, values) -> {
            if (!OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> call.addHeader(name, value));
            }
        });
        request.bodyPublisher()
                .map(Http1Client::bytes)
                .ifPresent(body -> call.setEntity(new ByteArrayEntity(body, null)));
        return call;
    }

    @Override
    public <T> HttpResponse<T> send(
            HttpRequest request, BodyHandler<T> handler, @Nullable Object partition, Duration limit)
            throws IOException, InterruptedException {
        Call call = call(request);
        var answer = new CompletableFuture<HttpResponse<T>>();
        long end = elapsed() + Math.clamp(limit.toNanos(), 0, NEVER / 2);
        running.put(call, end);
        checkAt(end);
        try {
            try {
                exchange(request, call, handler, answer, partition, limit);
            } catch (IOException | RuntimeException failure) {
                if (!answer.isDone()) { // else the reason is known, such as a body beyond its limit
                    throw failure;
                }
            }
            return answer.get(Math.max(0, end - elapsed()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException stop) {
            call.cancel();
            throw stop;
        } catch (TimeoutException | ExecutionException | IOException | RuntimeException problem) {
            call.cancel();
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (elapsed() >= end) {
                throw late(problem);
            }
            throw thrown(problem instanceof ExecutionException failed ? failed.getCause() : cause(request, problem));
        } finally {
            running.remove(call);
        }
    }

    private static long elapsed() {
        return System.nanoTime() - BEGIN;
    }

    /** Has the calls be checked at a time, unless they are before. */
    private void checkAt(long time) {
        long next = check.get();
        while (time < next && !check.compareAndSet(next, time)) {
            next = check.get();
        }
        if (time < next) {
            CompletableFuture.delayedExecutor(
                            Math.max(0, time - elapsed()), TimeUnit.NANOSECONDS, Thread::startVirtualThread)
                    .execute(() -> giveUp(time));
        }
    }

    private void giveUp(long time) {
        if (!check.compareAndSet(time, NEVER)) {
            return; // an earlier check has made another one due
        }
        long now = elapsed();
        long next = NEVER;
        for (Map.Entry<Call, Long> call : running.entrySet()) {
            if (call.getValue() <= now) {
                call.getKey().cancel();
            } else {
                next = Math.min(next, call.getValue());
            }
        }
        if (next != NEVER) {
            checkAt(next);
        }
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(HttpRequest request, BodyHandler<T> handler) {
        return sendAsync(request, handler, (Object) null);
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable Object partition) {
        Call call = call(request);
        var answer = new CompletableFuture<HttpResponse<T>>();
        // Of the future that the caller gets: a cancelled copy would leave the exchange running.
        var unused = answer.whenComplete((response, failure) -> {
            if (failure != null) {
                call.cancel(); // does nothing after a completed exchange
            }
            running.replace(call, NEVER); // of a stream that has begun
        });
        long end = request.timeout()
                .map(limit -> elapsed() + Math.clamp(limit.toNanos(), 0, NEVER / 2))
                .orElse(NEVER);
        running.put(call, end);
        if (end != NEVER) {
            checkAt(end);
        }
        // On a thread of its own, because neither a resolver nor a receiver that drips bytes heeds a deadline.
        Thread.ofVirtual().name("http-call").start(() -> {
            try {
                exchange(request, call, handler, answer, partition, null);
            } catch (IOException | RuntimeException failure) {
                answer.completeExceptionally(elapsed() >= end ? late(failure) : cause(request, failure));
            } catch (Error failure) {
                answer.completeExceptionally(failure);
            } finally {
                running.remove(call);
            }
        });
        return answer;
    }

    private <T> void exchange(
            HttpRequest request,
            Call call,
            BodyHandler<T> handler,
            CompletableFuture<HttpResponse<T>> answer,
            @Nullable Object partition,
            @Nullable Duration limit)
            throws IOException {
        if (closed) {
            throw new IOException("the client is closed");
        }
        try (ClassicHttpResponse response = opener.open(target(request.uri()), call, own(partition, call), limit)) {
            var fields = new HashMap<String, List<String>>();
            for (var header : response.getHeaders()) {
                fields.computeIfAbsent(header.getName(), name -> new ArrayList<>())
                        .add(header.getValue());
            }
            var head = new Head(response.getCode(), HttpHeaders.of(fields, (name, value) -> true));
            BodySubscriber<T> subscriber = handler.apply(head);
            var unused = subscriber.getBody().whenComplete((body, failure) -> {
                if (failure != null) {
                    answer.completeExceptionally(failure);
                } else {
                    answer.complete(new Answer<>(head, request, body));
                }
            });
            new Pump(call, subscriber).run(response);
        }
    }

    private Object own(@Nullable Object partition, HttpUriRequestBase call) {
        if (ONCE.equals(partition)) {
            call.setHeader("Connection", "close");
            return call;
        }
        return partition == null ? this : partition;
    }

    private HttpUrl target(URI uri) {
        Server last = server;
        if (last == null || !last.isOf(uri)) {
            last = new Server(uri, HttpUrl.of(uri.toString()));
            server = last;
        }
        return last.target();
    }

    private static Throwable cause(HttpRequest request, Exception failure) {
        return switch (failure) {
            case RefusedAddressException refused -> refused;
            case UnknownHostException unknown -> {
                var unresolved = new ConnectException(request.uri().getHost());
                unresolved.initCause(new UnresolvedAddressException());
                unresolved.addSuppressed(unknown);
                yield unresolved; // as the client of the platform
            }
            case ConnectTimeoutException late -> {
                var timeout = new HttpConnectTimeoutException(requireNonNullElse(late.getMessage(), "no connection"));
                timeout.initCause(late);
                yield timeout;
            }
            default -> failure;
        };
    }

    /** The bytes of a body that a publisher has in memory. */
    private static byte[] bytes(HttpRequest.BodyPublisher publisher) {
        BodySubscriber<byte[]> all = HttpResponse.BodySubscribers.ofByteArray();
        publisher.subscribe(new Subscriber<>() {
            @Override
            public void onSubscribe(Subscription subscription) {
                all.onSubscribe(subscription);
            }

            @Override
            public void onNext(ByteBuffer piece) {
                all.onNext(List.of(piece));
            }

            @Override
            public void onError(Throwable problem) {
                all.onError(problem);
            }

            @Override
            public void onComplete() {
                all.onComplete();
            }
        });
        return all.getBody().toCompletableFuture().join();
    }

    @Override
    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        return exchange(this, request, handler, null, Duration.ofNanos(NEVER));
    }

    @Override
    public <T> CompletableFuture<HttpResponse<T>> sendAsync(
            HttpRequest request, BodyHandler<T> handler, @Nullable PushPromiseHandler<T> pushes) {
        return sendAsync(request, handler); // HTTP/1.1 has no pushes
    }

    @Override
    public void shutdownNow() {
        closed = true;
        running.keySet().forEach(Call::cancel);
        closing.run();
    }

    @Override
    public void close() {
        shutdownNow();
    }

    @Override
    public Optional<CookieHandler> cookieHandler() {
        return Optional.empty();
    }

    @Override
    public Optional<Duration> connectTimeout() {
        return Optional.of(connect);
    }

    @Override
    public Redirect followRedirects() {
        return Redirect.NEVER;
    }

    @Override
    public Optional<ProxySelector> proxy() {
        return Optional.empty();
    }

    @Override
    public SSLContext sslContext() {
        return platform();
    }

    @Override
    public SSLParameters sslParameters() {
        return new SSLParameters();
    }

    @Override
    public Optional<Authenticator> authenticator() {
        return Optional.empty();
    }

    @Override
    public Version version() {
        return Version.HTTP_1_1;
    }

    @Override
    public Optional<Executor> executor() {
        return Optional.empty();
    }

    /** A parsed URL, whose scheme, host and port are those of all URLs with the same scheme and authority. */
    private record Server(URI uri, HttpUrl target) {
        boolean isOf(URI other) {
            return Objects.equals(uri.getScheme(), other.getScheme())
                    && Objects.equals(uri.getRawAuthority(), other.getRawAuthority());
        }
    }

    /** A request, whose end wakes the reader of its answer. */
    private static final class Call extends HttpUriRequestBase {
        private volatile @Nullable Pump pump;

        Call(HttpRequest request) {
            super(request.method(), request.uri());
        }

        @Override
        public boolean cancel() {
            boolean isFirst = super.cancel();
            Pump reader = pump;
            if (reader != null) {
                reader.wake();
            }
            return isFirst;
        }
    }

    /** Reads a body as fast as its subscriber asks for it. */
    private static final class Pump implements Subscription {
        private final Call call;
        private final BodySubscriber<?> subscriber;
        private final Semaphore wanted = new Semaphore(0);
        private volatile boolean all;
        private volatile boolean canceled;

        Pump(Call call, BodySubscriber<?> subscriber) {
            this.call = call;
            this.subscriber = subscriber;
        }

        void run(ClassicHttpResponse response) {
            call.pump = this;
            if (call.isCancelled()) {
                wake();
            }
            subscriber.onSubscribe(this);
            try {
                InputStream in = response.getEntity() == null
                        ? InputStream.nullInputStream()
                        : response.getEntity().getContent();
                var piece = new byte[size(response)];
                while (!canceled) {
                    if (!all) {
                        wanted.acquire();
                    }
                    int length = canceled ? -1 : in.read(piece);
                    if (length < 0) {
                        break;
                    }
                    subscriber.onNext(List.of(ByteBuffer.wrap(Arrays.copyOf(piece, length))));
                }
            } catch (IOException
                    | InterruptedException
                    | RuntimeException
                    | Error broken) { // whatever it is, its reader waits
                call.cancel();
                subscriber.onError(broken);
                return;
            }
            if (canceled) {
                subscriber.onError(new IOException("canceled"));
            } else {
                subscriber.onComplete();
            }
        }

        /** Size of a piece: one more byte than a short body has, so that its end is read with it. */
        private static int size(ClassicHttpResponse response) {
            long length =
                    response.getEntity() == null ? 0 : response.getEntity().getContentLength();
            return length < 0 ? PIECE : (int) Math.min(PIECE, length + 1);
        }

        @Override
        public void request(long pieces) {
            if (pieces > PIECE) {
                all = true;
            }
            wanted.release((int) Math.min(pieces, PIECE));
        }

        @Override
        public void cancel() {
            call.cancel();
        }

        void wake() {
            canceled = true;
            wanted.release();
        }
    }

    private record Head(int statusCode, HttpHeaders headers) implements HttpResponse.ResponseInfo {
        @Override
        public HttpClient.Version version() {
            return HttpClient.Version.HTTP_1_1;
        }
    }

    private record Answer<T>(Head head, HttpRequest request, T body) implements HttpResponse<T> {
        @Override
        public int statusCode() {
            return head.statusCode();
        }

        @Override
        public Optional<HttpResponse<T>> previousResponse() {
            return Optional.empty();
        }

        @Override
        public HttpHeaders headers() {
            return head.headers();
        }

        @Override
        public Optional<SSLSession> sslSession() {
            return Optional.empty();
        }

        @Override
        public URI uri() {
            return request.uri();
        }

        @Override
        public HttpClient.Version version() {
            return head.version();
        }
    }
}
