package dev.parley.outbound;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import dev.parley.outbound.http.HostName;
import dev.parley.outbound.http.Http1Client;
import dev.parley.outbound.http.LimitedClient;
import dev.parley.outbound.http.OutboundConnections;
import dev.parley.outbound.http.RefusedAddressException;
import java.net.InetAddress;
import java.net.ProxySelector;
import java.net.UnknownHostException;
import java.net.http.HttpClient;
import java.time.Duration;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.core5.ssl.SSLContexts;
import org.jspecify.annotations.Nullable;

/**
 * HTTP clients for URLs that callers chose, under the rule of addresses. A host is looked up once for a connection, and the addresses
 * that the rule has passed are dialled; the resolver of {@link HttpClient} looks up again, and may get others. HTTP/1.1, no
 * redirects, no proxy unless one is given, no cookies. Safe for any thread.
 */
public final class GuardedClients implements AutoCloseable {
    static final Duration CONNECT = Duration.ofSeconds(5);

    /** Longest wait for bytes, which are rare on a stream. */
    private static final Duration SILENCE = Duration.ofHours(1);

    private static final int CONNECTIONS_PER_HOST = 1_000;

    /** A look-up of the calling thread: the group for which it sends, and its patience. */
    private record Share(String group, Duration patience) {}

    private static final Share ANY = new Share("", AddressRule.PATIENCE);
    private static final ThreadLocal<@Nullable Share> SHARE = new ThreadLocal<>();

    private final Duration connect;
    private final OutboundConnections connections;

    public GuardedClients(AddressRule rule) {
        this(rule, CONNECT, CONNECTIONS_PER_HOST, false);
    }

    /**
     * @param connect timeout of connecting
     * @param perHost most connections to a host
     * @param isOfPlatform whether proxies, keys and trusted authorities of the platform are used, for servers that the operator chose. The rule
     *     has to allow the proxies
     */
    public GuardedClients(AddressRule rule, Duration connect, int perHost, boolean isOfPlatform) {
        this.connect = connect;
        this.connections = new OutboundConnections(new OutboundConnections.Settings(
                connect,
                SILENCE,
                perHost,
                isOfPlatform ? SSLContexts::createSystemDefault : SSLContexts::createDefault,
                isOfPlatform ? ProxySelector.getDefault() : null,
                new CheckedAddresses(rule)));
    }

    /**
     * A client. All share their connections; {@link HttpClient#shutdownNow} and {@code close} give up its own requests. A
     * request to an address that the rule refuses ends with {@link RefusedAddressException}; nothing is sent.
     *
     * @param group whose share of look-ups it uses
     */
    public LimitedClient of(String group) {
        requireNonNull(group, "group");
        return new Http1Client(
                (target, call, partition, limit) -> {
                    Duration patience = AddressRule.PATIENCE;
                    if (limit != null && limit.compareTo(patience) < 0) {
                        patience = limit;
                    }
                    SHARE.set(new Share(group, patience));
                    try {
                        return connections.open(target, call, partition, limit != null);
                    } finally {
                        SHARE.remove();
                    }
                },
                connect,
                () -> {});
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

    /** Cancels running requests. Idempotent. */
    @Override
    public void close() {
        connections.close();
    }
}
