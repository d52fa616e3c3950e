package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedFetch;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.A2AException;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Public keys of other hubs, fetched from the addresses that the operator names: a hub signs for the agents below its address. One copy
 * for each address is kept for five minutes, and fetched again earlier if it does not have the key of a signature, but not within ten
 * seconds. Safe for any thread; the first caller that needs keys waits for them, at most five seconds.
 */
final class SenderKeys implements AutoCloseable {
    private static final String PATH = "/.well-known/jwks.json";
    private static final Duration LIFETIME = Duration.ofMinutes(5);
    private static final Duration PAUSE = Duration.ofSeconds(10);
    private static final Duration LONGEST = Duration.ofSeconds(5);
    private static final int MAX_BYTES = 64 * 1024;

    private final List<Source> sources;
    private final GuardedFetch fetch;
    private final InstantSource clock;

    /** A key set, and when it was fetched. */
    private record Copy(String keys, Instant at) {
        boolean isGood(Instant now, @Nullable String other) {
            return now.isBefore(at.plus(LIFETIME)) && !keys.equals(other);
        }
    }

    /** An address with the newest copy of its keys, which is written under its lock. */
    private static final class Source {
        private final String base;
        private final ReentrantLock lock = new ReentrantLock();
        private volatile @Nullable Copy copy;
        private Instant attempted = Instant.MIN;

        private Source(String base) {
            this.base = base;
        }
    }

    /**
     * @param hubs addresses of hubs: {@code https://b.example}, or {@code b.example} for it
     * @throws IllegalArgumentException if one is not an address
     */
    SenderKeys(List<String> hubs, InstantSource clock) {
        this.clock = clock;
        this.sources = hubs.stream().map(hub -> new Source(base(hub))).toList();
        this.fetch = new GuardedFetch(
                AddressRule.allowing(sources.stream()
                        .map(source -> URI.create(source.base).getHost())
                        .toList()),
                LONGEST,
                MAX_BYTES);
    }

    private static String base(String hub) {
        String base = (hub.contains("://") ? hub : "https://" + hub).replaceAll("/+$", "");
        try {
            URI uri = URI.create(base);
            if (base.matches("https?://[^/@?#]+(/[^@?#]*)?") && uri.getHost() != null) {
                return base;
            }
        } catch (IllegalArgumentException malformed) {
            // refused below
        }
        throw new IllegalArgumentException(
                "one-trust-hosts \"" + hub + "\": no address of a hub (expected: HOST[:PORT] or https://HOST[:PORT])");
    }

    /**
     * The key set of the hub to which an endpoint belongs; null if the operator does not name it.
     *
     * @param group whose message needs the keys
     * @param other a key set that does not suffice; null for none
     * @throws A2AException UNAVAILABLE if there is none, as it cannot be fetched
     */
    @Nullable
    String of(String endpoint, String group, @Nullable String other) {
        for (Source source : sources) {
            if (endpoint.equals(source.base) || endpoint.startsWith(source.base + "/")) {
                return keys(source, group, other);
            }
        }
        return null;
    }

    private String keys(Source source, String group, @Nullable String other) {
        Copy known = source.copy;
        if (known != null && known.isGood(clock.instant(), other)) {
            return known.keys; // without waiting for the fetch that another message needs
        }
        source.lock.lock();
        try {
            Instant now = clock.instant();
            Copy copy = source.copy;
            boolean isGood = copy != null && copy.isGood(now, other);
            if (!isGood && !now.isBefore(later(source.attempted))) {
                source.attempted = now;
                copy = new Copy(fetched(source.base, group), now);
                source.copy = copy;
            }
            if (copy == null || !copy.isGood(now, null)) {
                throw unavailable(source.base, "not reachable " + PAUSE.toSeconds() + " seconds ago or less");
            }
            return copy.keys;
        } finally {
            source.lock.unlock();
        }
    }

    private static Instant later(Instant attempted) {
        return attempted.equals(Instant.MIN) ? attempted : attempted.plus(PAUSE);
    }

    private String fetched(String base, String group) {
        try {
            Document document = fetch.get(group, base + PATH, Map.of("Accept", "application/json"));
            if (document.status() != 200 || !document.url().equals(base + PATH)) {
                throw unavailable(base, "status " + document.status() + " from " + document.url());
            }
            return new String(document.body(), UTF_8);
        } catch (IOException failed) {
            throw unavailable(base, String.valueOf(failed.getMessage()));
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw unavailable(base, "interrupted");
        }
    }

    private static A2AException unavailable(String base, String problem) {
        return A2AException.unavailable("The keys of " + base + " are not available: " + problem, PAUSE);
    }

    @Override
    public void close() {
        fetch.close();
    }
}
