package dev.parley.registry.store;

import dev.parley.protocol.A2AException;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Health;
import dev.parley.registry.Entry.State;
import dev.parley.registry.Entry.Status;
import dev.parley.registry.document.CardReader;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Leases of entries, and the times at which entries expire or are erased. */
final class Leases {
    /** Member of the metadata of entries with a lease: its length. */
    private static final String LEASE = "leaseSeconds";

    /** Time for which a deleted entry can be restored. */
    private static final Duration RESTORABLE = Duration.ofDays(30);

    private static final Duration SHORTEST = Duration.ofSeconds(10);
    private static final Duration LONGEST = Duration.ofDays(366);

    private Leases() {}

    static void check(@Nullable Duration lease) {
        if (lease != null && (lease.compareTo(SHORTEST) < 0 || lease.compareTo(LONGEST) > 0)) {
            throw A2AException.invalidParams(
                    "lease",
                    lease.toSeconds() + " s (expected: " + SHORTEST.toSeconds() + " to " + LONGEST.toSeconds() + " s)");
        }
    }

    /** Writes the length of a lease into the metadata of an entry; none for null. */
    static void put(Map<String, Object> metadata, @Nullable Duration lease) {
        metadata.remove(LEASE);
        if (lease != null) {
            metadata.put(LEASE, lease.toSeconds());
        }
    }

    /**
     * An entry with a new lease, which is active again if it had expired.
     *
     * @param lease null for one as long as before
     */
    static Entry renewed(Entry entry, @Nullable Duration lease, Instant now) {
        State state = entry.state();
        Instant until = state.leaseUntil();
        if (lease == null && until == null) {
            throw A2AException.invalidParams("lease", "missing (expected: seconds, as the entry has no lease)");
        }
        Object length = entry.resource().metadata().get(LEASE);
        Duration next = lease != null ? lease : Duration.ofSeconds(length instanceof Number n ? n.longValue() : 60);
        Status status = state.status() == Status.EXPIRED ? Status.ACTIVE : state.status();
        var metadata = new LinkedHashMap<>(entry.resource().metadata());
        metadata.put(LEASE, next.toSeconds());
        Health health = entry.health().cause() == Entry.Cause.LEASE ? Health.UNKNOWN : entry.health();
        return entry.with(CardReader.with(entry.resource(), entry.resource().humanId(), metadata))
                .with(health)
                .with(new State(
                        status, state.revision(), state.change(), state.created(), state.updated(), now.plus(next)));
    }

    /** When an entry expires or is erased; null for never. */
    static @Nullable Instant due(Entry entry) {
        State state = entry.state();
        return switch (state.status()) {
            case DELETED -> state.updated().plus(RESTORABLE);
            case ACTIVE, DEPRECATED -> state.leaseUntil();
            default -> null;
        };
    }

    /** An entry whose lease is over by a time; others as they are. */
    static Entry expired(Entry entry, Instant now) {
        Instant end = due(entry);
        return end == null || end.isAfter(now)
                ? entry
                : entry.with(entry.state().with(Status.EXPIRED))
                        .with(new Health(
                                Entry.HealthStatus.DOWN, Entry.Cause.LEASE, "no heartbeat before " + end, end, -1));
    }
}
