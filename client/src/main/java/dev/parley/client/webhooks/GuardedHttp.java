package dev.parley.client.webhooks;

import static java.util.Objects.requireNonNullElse;

import dev.parley.client.http.HeaderText;
import dev.parley.client.http.HostName;
import dev.parley.client.http.HttpUrl;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.config.TlsConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.protocol.HttpClientContext;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the addresses that {@link WebhookRule} has passed, and to no others: redirects, credentials of the platform,
 * cookies and repetitions are off. Safe for any thread.
 */
final class GuardedHttp implements AutoCloseable {
    /** A look-up of the calling thread: the group for which it sends, and its patience. */
    private record Share(String group, Duration patience) {}

    private static final Http1Config LIMITS = Http1Config.custom()
            .setMaxLineLength(HeaderText.MAX_LENGTH)
            .setMaxHeaderCount(100)
            .build();

    private static final Share ANY = new Share("", WebhookRule.PATIENCE);
    private static final ThreadLocal<@Nullable Share> SHARE = new ThreadLocal<>();

    private final WebhookRule rule;
    private final Duration connect;
    private final Duration total;
    private final int connectionsPerHost;
    /** Settings of requests whose answer may come at any time, and of those that are cancelled in time. */
    private final RequestConfig timed;

    private final RequestConfig limited;
    private final ReentrantLock creation = new ReentrantLock();
    /** Made for the first request, because it reads all certificates that the platform trusts. Written under the lock. */
    private volatile @Nullable CloseableHttpClient http;

    private boolean closed;

    /**
     * @param connect timeout of connecting
     * @param total timeout of each wait for bytes
     */
    GuardedHttp(WebhookRule rule, Duration connect, Duration total) {
        this(rule, connect, total, 64);
    }

    GuardedHttp(WebhookRule rule, Duration connect, Duration total, int connectionsPerHost) {
        this.rule = rule;
        this.connect = connect;
        this.total = total;
        this.connectionsPerHost = connectionsPerHost;
        this.timed = RequestConfig.custom()
                .setConnectionRequestTimeout(Timeout.of(total))
                .setResponseTimeout(Timeout.of(total))
                .setAuthenticationEnabled(false)
                .build();
        this.limited =
                RequestConfig.copy(timed).setResponseTimeout(Timeout.DISABLED).build();
    }

    /**
     * Sends a request on the calling thread, which must be one of its own: neither a resolver nor a receiver that drips bytes heeds a
     * deadline, so the caller cancels the request.
     *
     * @param group whose share of look-ups it uses
     * @throws WebhookRule.RefusedHost if the rule refuses the host
     */
    ClassicHttpResponse open(String group, HttpUrl target, HttpUriRequestBase request) throws IOException {
        return open(group, target, request, null, null);
    }

    /**
     * The same on any thread, if {@code limit} is given: the caller cancels the request at its end.
     *
     * @param lane its connection has been used for requests of an equal one only; null for none
     */
    ClassicHttpResponse open(
            String group, HttpUrl target, HttpUriRequestBase request, @Nullable Object lane, @Nullable Duration limit)
            throws IOException {
        Duration patience = WebhookRule.PATIENCE;
        if (limit != null) {
            request.setConfig(limited); // a timeout of each read would need a timer for each
            patience = limit.compareTo(patience) < 0 ? limit : patience;
        }
        SHARE.set(new Share(group, patience));
        try {
            var host = new HttpHost(target.uri().getScheme(), target.host().name(), target.port());
            HttpClientContext context = HttpClientContext.create();
            context.setUserToken(lane);
            return http().executeOpen(host, request, context);
        } finally {
            SHARE.remove();
        }
    }

    private CloseableHttpClient http() {
        CloseableHttpClient made = http;
        if (made != null) {
            return made;
        }
        creation.lock();
        try {
            made = http;
            if (made == null) {
                if (closed) {
                    throw new IllegalStateException("the sender is closed");
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
        Timeout connecting = Timeout.of(connect);
        Timeout all = Timeout.of(total);
        var connections = PoolingHttpClientConnectionManagerBuilder.create()
                .setDnsResolver(new CheckedAddresses(rule))
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setConnectTimeout(connecting)
                        .setSocketTimeout(all)
                        .setTimeToLive(TimeValue.ofMinutes(5))
                        .setValidateAfterInactivity(
                                TimeValue.ZERO_MILLISECONDS) // which costs nothing: see KeptConnection
                        .build())
                .setDefaultTlsConfig(
                        TlsConfig.custom().setHandshakeTimeout(connecting).build())
                .setConnectionFactory(socket -> KeptConnection.of(LIMITS, socket))
                // Each host has its own share, so that a silent one delays no other. The other policy dials anew for
                // each change of lane.
                .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.STRICT)
                .setMaxConnTotal(Integer.MAX_VALUE)
                .setMaxConnPerRoute(connectionsPerHost)
                .build();
        return HttpClientBuilder.create()
                .setConnectionManager(connections)
                .setDefaultRequestConfig(timed)
                .setUserAgent("Parley")
                .disableRedirectHandling()
                .disableAutomaticRetries()
                .disableContentCompression()
                .disableCookieManagement()
                .disableAuthCaching()
                .evictIdleConnections(TimeValue.ofSeconds(30))
                .build();
    }

    /** Resolves a host to the addresses that the rule has passed; they are dialled without a second look-up. */
    private record CheckedAddresses(WebhookRule rule) implements DnsResolver {
        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            Share share = requireNonNullElse(SHARE.get(), ANY);
            return rule.addresses(share.group(), HostName.of(host), share.patience());
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }

    /** Gives up requests that are under way and closes all connections. Idempotent. */
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
