package dev.parley.outbound;

import static java.util.Objects.requireNonNullElse;

import dev.parley.outbound.http.HostName;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.outbound.http.OutboundConnections;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.ssl.SSLContexts;
import org.jspecify.annotations.Nullable;

/**
 * Sends requests to the addresses that {@link AddressRule} has passed, and to no others: redirects, credentials of the platform,
 * cookies and repetitions are off. Safe for any thread.
 */
public final class GuardedHttp implements AutoCloseable {
    /** A look-up of the calling thread: the group for which it sends, and its patience. */
    private record Share(String group, Duration patience) {}

    private static final Share ANY = new Share("", AddressRule.PATIENCE);
    private static final ThreadLocal<@Nullable Share> SHARE = new ThreadLocal<>();

    private final OutboundConnections connections;

    /**
     * @param connect timeout of connecting
     * @param total timeout of each wait for bytes
     */
    public GuardedHttp(AddressRule rule, Duration connect, Duration total) {
        this(rule, connect, total, 64);
    }

    GuardedHttp(AddressRule rule, Duration connect, Duration total, int connectionsPerHost) {
        this.connections = new OutboundConnections(new OutboundConnections.Settings(
                connect, total, connectionsPerHost, SSLContexts::createDefault, null, new CheckedAddresses(rule)));
    }

    /**
     * Sends a request on the calling thread, which must be one of its own: neither a resolver nor a receiver that drips bytes heeds a
     * deadline, so the caller cancels the request.
     *
     * @param group whose share of look-ups it uses
     * @throws AddressRule.RefusedHost if the rule refuses the host
     */
    public ClassicHttpResponse open(String group, HttpUrl target, HttpUriRequestBase request) throws IOException {
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
        Duration patience = AddressRule.PATIENCE;
        if (limit != null && limit.compareTo(patience) < 0) {
            patience = limit;
        }
        SHARE.set(new Share(group, patience));
        try {
            return connections.open(target, request, lane, limit != null);
        } finally {
            SHARE.remove();
        }
    }

    /** Resolves a host to the addresses that the rule has passed; they are dialled without a second look-up. */
    private record CheckedAddresses(AddressRule rule) implements DnsResolver {
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

    /** Cancels running requests and closes all connections. Idempotent. */
    @Override
    public void close() {
        connections.close();
    }
}
