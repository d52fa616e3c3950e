package dev.parley.registry.federation;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A registry that this one asks.
 *
 * @param url of its ARD interface, to which {@code /search} is added
 * @param keys that sign its list of revocations, as a JWK set or PEM; empty for none
 * @param credential sent to it: a token, or {@code Header: value}; empty for none
 * @param publishers domains for which it speaks
 * @param copied whether its public entries are copied
 * @param cut why it is cut off; null if it is in use
 */
record Peer(
        String name,
        String url,
        String keys,
        String credential,
        List<String> publishers,
        boolean copied,
        @Nullable String cut) {
    private static final String ARD = "/registry/ard";

    Peer {
        publishers = List.copyOf(publishers);
    }

    /** The address of ARD at an address of a peer: a hub of Parley has it at a path that need not be named. */
    static String ard(String url) {
        String base = url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
        return URI.create(base).getRawPath().isEmpty() ? base + ARD : base;
    }

    /** The address of the registry of a hub of Parley; null for other registries. */
    @Nullable
    String registry() {
        return url.endsWith(ARD) ? url.substring(0, url.length() - "/ard".length()) : null;
    }

    /** Headers of requests to the peer. */
    Map<String, String> headers() {
        int colon = credential.indexOf(':');
        return credential.isEmpty()
                ? Map.of()
                : colon > 0
                        ? Map.of(
                                credential.substring(0, colon),
                                credential.substring(colon + 1).strip())
                        : Map.of("Authorization", "Bearer " + credential);
    }

    /** Whether a publisher is the one of a hub with default settings. */
    static boolean isDefault(String publisher) {
        return publisher.endsWith(".agent.localhost");
    }

    /** The same peer, which speaks for another publisher besides. */
    Peer speakingFor(String publisher) {
        var all = new ArrayList<>(publishers);
        all.add(publisher);
        return new Peer(name, url, keys, credential, all, copied, cut);
    }

    /** True if the peer speaks for the publisher of an identifier: a domain of its own, or below one. */
    boolean speaksFor(String publisher) {
        String domain = publisher.toLowerCase(Locale.ROOT);
        return publishers.stream().anyMatch(own -> domain.equals(own) || domain.endsWith("." + own));
    }
}
