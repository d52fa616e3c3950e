package dev.parley.outbound.http;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.ProxySelector;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.SchemePortResolver;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.DefaultHttpClientConnectionOperator;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.impl.routing.SystemDefaultRoutePlanner;
import org.apache.hc.client5.http.io.HttpClientConnectionOperator;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.client5.http.ssl.HostnameVerificationPolicy;
import org.apache.hc.client5.http.ssl.NoopHostnameVerifier;
import org.apache.hc.client5.http.ssl.TlsSocketStrategy;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.URIScheme;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.config.RegistryBuilder;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.pool.PoolStats;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * Pool of connections of HTTP/1.1, none of which is used again while it holds unread bytes ({@link KeptConnection}). Redirects,
 * credentials of the platform, cookies and repetitions are off. Has no thread of its own. Safe for any thread.
 */
public final class OutboundConnections implements AutoCloseable {
    /**
     * @param connect timeout of connecting, and of the handshake of TLS
     * @param silence timeout of each wait for bytes; zero for none
     * @param perHost most connections to a host
     * @param tls keys and trusted authorities, asked for by the first connection that needs them
     * @param proxies null for none
     * @param resolver finds the addresses of a host; null for that of the platform
     */
    public record Settings(
            Duration connect,
            Duration silence,
            int perHost,
            Supplier<SSLContext> tls,
            @Nullable ProxySelector proxies,
            @Nullable DnsResolver resolver) {}

    private static final Http1Config LIMITS = Http1Config.custom()
            .setMaxLineLength(HeaderText.MAX_LENGTH)
            .setMaxHeaderCount(100)
            .build();

    /** After which an idle connection is closed. */
    private static final TimeValue IDLE = TimeValue.ofSeconds(30);

    private final Settings settings;
    /** Settings of requests whose answer may come at any time, and of those that are cancelled in time. */
    private final RequestConfig timed;

    private final RequestConfig limited;
    private final ReentrantLock creation = new ReentrantLock();
    /** Made for the first request. Written under the lock. */
    private volatile @Nullable CloseableHttpClient http;

    private @Nullable PoolingHttpClientConnectionManager pool;
    private volatile boolean closed;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    public OutboundConnections(Settings settings) {
        this.settings = settings;
        this.timed = RequestConfig.custom()
                .setConnectionRequestTimeout(Timeout.of(settings.silence()))
                .setResponseTimeout(Timeout.of(settings.silence()))
                .setAuthenticationEnabled(false)
                .setProtocolUpgradeEnabled(false)
                .build();
        this.limited =
                RequestConfig.copy(timed).setResponseTimeout(Timeout.DISABLED).build();
    }

    /**
     * Sends a request on the calling thread: the caller cancels the request at its end.
     *
     * @param partition of the connections: only requests with an equal one use the same connection; null for none
     * @param isLimited whether the caller cancels the request in time, so that no wait for bytes needs a timer
     */
    public ClassicHttpResponse open(
            HttpUrl target, HttpUriRequestBase request, @Nullable Object partition, boolean isLimited)
            throws IOException {
        if (isLimited) {
            request.setConfig(limited);
        }
        var host = new HttpHost(target.uri().getScheme(), target.host().name(), target.port());
        HttpClientContext context = HttpClientContext.create();
        context.setUserToken(partition);
        CloseableHttpClient client = http();
        sweepLater();
        try {
            return client.executeOpen(host, request, context);
        } catch (IllegalStateException shutDown) {
            if (closed) {
                throw new IOException("the client is closed", shutDown);
            }
            throw shutDown;
        }
    }

    private CloseableHttpClient http() throws IOException {
        CloseableHttpClient made = http;
        if (made != null) {
            return made;
        }
        creation.lock();
        try {
            made = http;
            if (made == null) {
                if (closed) {
                    throw new IOException("the sender is closed");
                }
                made = client();
                http = made;
            }
            return made;
        } finally {
            creation.unlock();
        }
    }

    private CloseableHttpClient client() {
        Timeout connecting = Timeout.of(settings.connect());
        var connections = new Builder()
                .setTlsSocketStrategy(tls())
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setConnectTimeout(connecting)
                        .setSocketTimeout(Timeout.of(settings.silence()))
                        .setTimeToLive(TimeValue.ofMinutes(5))
                        .setValidateAfterInactivity(
                                TimeValue.ZERO_MILLISECONDS) // which costs nothing: see KeptConnection
                        .build())
                .setDefaultTlsConfig(
                        TlsConfig.custom().setHandshakeTimeout(connecting).build())
                .setConnectionFactory(socket -> KeptConnection.of(LIMITS, socket))
                // Each host has its own share, so that a silent one delays no other. The other policy dials anew for
                // each change of partition.
                .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.STRICT)
                .setMaxConnTotal(Integer.MAX_VALUE)
                .setMaxConnPerRoute(settings.perHost());
        if (settings.resolver() != null) {
            connections.setDnsResolver(settings.resolver());
        }
        PoolingHttpClientConnectionManager manager = connections.build();
        pool = manager;
        HttpClientBuilder client = HttpClientBuilder.create()
                .setConnectionManager(manager)
                .setDefaultRequestConfig(timed)
                .setUserAgent("Parley")
                .disableRedirectHandling()
                .disableAutomaticRetries()
                .disableContentCompression()
                .disableCookieManagement()
                .disableAuthCaching();
        if (settings.proxies() != null) {
            client.setRoutePlanner(new SystemDefaultRoutePlanner(settings.proxies()));
        }
        return client.build();
    }

    /** Made by the first connection that needs it, because the platform reads all certificates that it trusts. */
    private TlsSocketStrategy tls() {
        var made = new CompletableFuture<TlsSocketStrategy>();
        return (socket, host, port, attachment, context) -> {
            if (!made.isDone()) {
                // Trust managers check names, so that those of UncheckedTls check none.
                made.complete(new DefaultClientTlsStrategy(
                        settings.tls().get(), HostnameVerificationPolicy.BUILTIN, NoopHostnameVerifier.INSTANCE));
            }
            return made.join().upgrade(socket, host, port, attachment, context);
        };
    }

    /** Makes sockets of channels, whose state {@link KeptConnection} sees without a wait. */
    private static final class Builder extends PoolingHttpClientConnectionManagerBuilder {
        @Override
        protected HttpClientConnectionOperator createConnectionOperator(
                @Nullable SchemePortResolver ports, @Nullable DnsResolver resolver, @Nullable TlsSocketStrategy tls) {
            return new DefaultHttpClientConnectionOperator(
                    proxy -> proxy == null ? SocketChannel.open().socket() : new Socket(proxy),
                    ports,
                    resolver,
                    RegistryBuilder.<TlsSocketStrategy>create()
                            .register(URIScheme.HTTPS.id, requireNonNull(tls))
                            .build());
        }
    }

    /** A timer while there are connections takes the place of a thread for each pool. */
    private void sweepLater() {
        if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
            CompletableFuture.delayedExecutor(IDLE.getDuration(), IDLE.getTimeUnit(), Thread::startVirtualThread)
                    .execute(this::sweep);
        }
    }

    private void sweep() {
        PoolingHttpClientConnectionManager manager = requireNonNull(pool);
        sweeping.set(false);
        if (closed) {
            return;
        }
        manager.closeIdle(IDLE);
        PoolStats left = manager.getTotalStats();
        if (left.getAvailable() + left.getLeased() > 0) {
            sweepLater();
        }
    }

    /** Cancels running requests and closes all connections. Idempotent. */
    @Override
    public void close() {
        creation.lock();
        try {
            closed = true;
            CloseableHttpClient made = http;
            if (made != null) {
                made.close();
            }
        } catch (IOException e) {
            throw new IllegalStateException("closing sockets", e);
        } finally {
            creation.unlock();
        }
    }
}
