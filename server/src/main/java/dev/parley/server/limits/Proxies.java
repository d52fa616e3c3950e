package dev.parley.server.limits;

import dev.parley.protocol.support.AddressRange;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Proxies in front of a server.
 *
 * @param trusted whose header {@value #FORWARDED_FOR} names the client; of others it is ignored
 * @param endTls whether clients reach the server over TLS, which ends at a proxy
 */
public record Proxies(List<AddressRange> trusted, boolean endTls) {
    public static final Proxies NONE = new Proxies(List.of(), false);

    /** Clients can begin it with anything; each proxy adds the address of its own peer at the end. */
    public static final String FORWARDED_FOR = "X-Forwarded-For";

    /**
     * Returns the address of a client: the last one that no trusted proxy has.
     *
     * @param peer address at the other end of the connection
     * @param forwarded value of {@value #FORWARDED_FOR}; null for none
     */
    public String client(String peer, @Nullable String forwarded) {
        if (forwarded == null || !isTrusted(AddressRange.literal(peer))) {
            return peer;
        }
        String client = peer;
        String[] hops = forwarded.split(",", -1);
        for (int i = hops.length - 1; i >= 0; i--) {
            Optional<InetAddress> hop = AddressRange.literal(bare(hops[i].strip()));
            if (hop.isEmpty()) {
                return client; // "unknown", or nothing that a trusted proxy has written
            }
            client = hop.get().getHostAddress();
            if (!isTrusted(hop)) {
                return client;
            }
        }
        return client;
    }

    private boolean isTrusted(Optional<InetAddress> address) {
        return address.isPresent() && trusted.stream().anyMatch(range -> range.holds(address.get()));
    }

    /** An address without brackets and port, which some proxies write. */
    private static String bare(String hop) {
        if (hop.startsWith("[")) {
            return hop.indexOf(']') < 0 ? hop : hop.substring(1, hop.indexOf(']'));
        }
        int colon = hop.indexOf(':');
        return colon >= 0 && colon == hop.lastIndexOf(':') ? hop.substring(0, colon) : hop;
    }
}
