package dev.parley.registry.federation;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.extension.HubTimers;
import dev.parley.outbound.GuardedFetch;
import dev.parley.outbound.GuardedFetch.Document;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.retry.Backoff;
import dev.parley.registry.Entry;
import dev.parley.registry.Entry.Visibility;
import dev.parley.registry.EntryChange;
import dev.parley.registry.EntryFilter;
import dev.parley.registry.EntryModel;
import dev.parley.registry.EntryOperation.EntryPage;
import dev.parley.registry.EntryOperation.Order;
import dev.parley.registry.RevocationList;
import dev.parley.registry.document.CardReader;
import dev.parley.registry.federation.PeerOperation.CopiedEntries;
import dev.parley.registry.spi.Publication;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryPublisher;
import dev.parley.registry.store.EntryReader;
import dev.parley.registry.store.EntryWriter;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.net.URLEncoder;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Copies the public entries of peers by their logs of changes, from the number of the last change that was copied, and heeds their
 * revocations. A copy has the peer as its owner, so that no caller can change it; its trust is judged here. Safe for any thread.
 */
final class PeerCopies {
    private static final System.Logger LOG = System.getLogger("dev.parley.registry");
    /** The interval of copies, and the pauses that it grows to while they fail. */
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(30), Duration.ofMinutes(10));

    private static final int PAGES = 20;
    private static final int PAGE = 200;

    /** Counts of one attempt. */
    static final class Outcome {
        int copied;
        int removed;
        int refused;
        /** Why the last entry was refused that is not an entry of the peer. */
        String problem = "";

        CopiedEntries shown() {
            return new CopiedEntries(copied, removed, refused, problem);
        }
    }

    private final PeerTable table;
    private final EntryReader reader;
    private final EntryWriter writer;
    private final EntryPublisher entryPublisher;
    private final GuardedFetch http;
    private final String publisher;
    private final HubTimers.Timers timers;

    /** @param publisher domain of this registry, for which no peer speaks */
    PeerCopies(PeerTable table, Entries entries, GuardedFetch http, String publisher, HubTimers timers) {
        this.table = table;
        this.reader = entries.reader();
        this.writer = entries.writer();
        this.entryPublisher = entries.publisher();
        this.http = http;
        this.publisher = publisher;
        this.timers = timers.named("registry/peer", this::due);
    }

    /** Has the entries of a peer copied from now on. */
    void begin(String name) {
        timers.set(name, Instant.now(), "");
    }

    /** @param failed number of copies in a row that have failed; empty for none */
    private void due(String name, String failed) throws InterruptedException {
        Peer peer = table.named(name).orElse(null);
        if (peer == null || !peer.copied() || peer.cut() != null) {
            return;
        }
        int failures = failed.isEmpty() ? 0 : Integer.parseInt(failed);
        set(name, failures + 1); // first, so that the schedule is not lost if the hub stops meanwhile
        try {
            var unused = copy(peer);
            set(name, 0);
        } catch (IOException failure) {
            LOG.log(System.Logger.Level.DEBUG, "peer " + name, failure);
        }
    }

    private void set(String name, int failures) {
        timers.set(
                name, Instant.now().plus(PAUSES.bound(failures + 1)), failures == 0 ? "" : Integer.toString(failures));
    }

    /**
     * Copies what has changed.
     *
     * @throws IOException with a message for people; the copies go on at the same place
     */
    Outcome copy(Peer peer) throws IOException, InterruptedException {
        String registry = peer.registry();
        if (registry == null) {
            throw new IOException(peer.url() + " is not a registry of Parley (expected: one, to copy its entries)");
        }
        var outcome = new Outcome();
        long position = table.copies(peer.name()).position();
        String before = position == 0 ? "" : refusal(table.copies(peer.name()).problem());
        try {
            revocations(peer, registry, outcome);
            for (int page = 0; page < PAGES; page++) {
                Map<?, ?> answer = read(
                        get(peer, registry + "/changes?hidden=true&pageSize=" + PAGE + "&after=" + position),
                        Map.class);
                List<?> changes = answer.get("changes") instanceof List<?> list ? list : List.of();
                for (Object change : changes) {
                    if (isCut(peer)) {
                        return outcome;
                    }
                    apply(peer, registry, change, outcome);
                }
                long next = answer.get("next") instanceof Number last ? last.longValue() : position;
                if (next <= position) {
                    break;
                }
                position = next;
                table.copied(peer.name(), position, outcome.problem);
            }
            table.copied(peer.name(), position, outcome.problem.isEmpty() ? before : outcome.problem);
            return outcome;
        } catch (IOException failure) {
            table.copied(peer.name(), position, String.valueOf(failure.getMessage()));
            throw failure;
        }
    }

    /** A problem of the last attempt that lasts, because its entries are after the position now. */
    private static String refusal(String problem) {
        return problem.startsWith("entries of the publisher") ? problem : "";
    }

    private boolean isCut(Peer peer) {
        return table.named(peer.name()).map(now -> now.cut() != null).orElse(true);
    }

    private Document get(Peer peer, String url) throws IOException, InterruptedException {
        Document answer = http.get(peer.name(), url, peer.headers());
        if (answer.status() != 200) {
            throw new IOException(url + ": status " + answer.status());
        }
        return answer;
    }

    private static <T> T read(Document answer, Class<T> type) throws IOException {
        try {
            return Json.read(answer.body(), type);
        } catch (A2AException malformed) {
            throw new IOException(answer.url() + ": malformed answer: " + malformed.getMessage(), malformed);
        }
    }

    private void revocations(Peer peer, String registry, Outcome outcome) throws IOException, InterruptedException {
        if (peer.keys().isEmpty()) {
            return;
        }
        Document answer = http.get(peer.name(), registry + "/revocations", peer.headers());
        if (answer.status() == 404) {
            return; // the peer signs none
        }
        RevocationList list;
        try {
            CardTrust keys = CardTrust.of(peer.keys());
            list = RevocationList.read(
                    new String(answer.body(), US_ASCII),
                    (payload, jws) -> keys.verify(payload, jws, null),
                    Instant.now());
        } catch (IllegalArgumentException wrong) {
            throw new IOException(String.valueOf(wrong.getMessage()), wrong);
        }
        if (!table.revoked(peer.name(), list)) {
            throw new IOException("revocations: older than the last list");
        }
        for (RevocationList.Revoked one : list.revoked()) {
            Entry copy = copyOf(peer, one.id()).orElse(null);
            if (copy != null && copy.state().status() != Entry.Status.REVOKED) {
                writer.change(
                        copy.id(),
                        EntryChange.Kind.REVOKED,
                        Map.of("reason", one.reason(), "peer", peer.name()),
                        null,
                        entry -> entry.with(entry.state().with(Entry.Status.REVOKED))
                                .with(entry.trust().with(Entry.Outcome.REVOKED, one.reason(), one.time())));
                outcome.removed++;
            }
        }
    }

    /** The copy of an entry of a peer. */
    private Optional<Entry> copyOf(Peer peer, String id) {
        return reader.find(id, Entries.ITSELF).filter(entry -> isOf(peer, entry));
    }

    private static boolean isOf(Peer peer, Entry entry) {
        return entry.isCopy() && entry.ownership().principal().equals(peer.name());
    }

    private void apply(Peer peer, String registry, @Nullable Object change, Outcome outcome)
            throws IOException, InterruptedException {
        Entry theirs;
        try {
            theirs = EntryModel.ENTRY.fromJson(change instanceof Map<?, ?> members ? members.get("entry") : null);
        } catch (A2AException | InvalidField | NullPointerException malformed) {
            outcome.refused++;
            return;
        }
        boolean isUsable = theirs.isUsable();
        boolean isShown = theirs.ownership().visibility() == Visibility.PUBLIC && isUsable && !theirs.isCopy();
        Entry known = reader.find(theirs.id(), Entries.ITSELF).orElse(null);
        boolean isOurs = known != null && isOf(peer, known);
        if (!isShown) {
            if (known != null && isOurs && known.state().status() != Entry.Status.REVOKED) {
                remove(known, "no longer public at the peer");
                outcome.removed++;
            }
            return;
        }
        String domain = TrustCheck.publisher(theirs.id());
        if (domain.equals(publisher)) {
            outcome.problem = "entries of the publisher " + domain
                    + " are refused, which is that of this registry (expected: another --registry-publisher at one of them)";
        } else if (!peer.speaksFor(domain)) {
            outcome.problem = "entries of the publisher " + domain + " are refused (expected: one of "
                    + String.join(", ", peer.publishers()) + ", or more publishers of the peer)";
        }
        if (domain.equals(publisher)
                || !peer.speaksFor(domain)
                || known != null && !isOurs
                || table.isRevoked(peer.name(), theirs.id())) {
            outcome.refused++;
            return;
        }
        boolean isSame = known != null
                && known.state().status() == Entry.Status.ACTIVE
                && known.resource().digest().equals(theirs.resource().digest());
        if (!isSame) {
            publish(peer, registry, theirs, outcome);
        }
    }

    private void publish(Peer peer, String registry, Entry theirs, Outcome outcome)
            throws IOException, InterruptedException {
        String url = registry + "/agents/" + URLEncoder.encode(theirs.id(), UTF_8) + "/card";
        Document document = http.get(peer.name(), url, peer.headers());
        if (document.status() == 404) {
            return; // gone since; a later change says so
        }
        if (document.status() != 200) {
            throw new IOException(url + ": status " + document.status());
        }
        if (!CardReader.digest(document.body()).equals(theirs.resource().digest())) {
            outcome.refused++;
            return;
        }
        var metadata = new LinkedHashMap<>(theirs.resource().metadata());
        metadata.put("peer", peer.name());
        metadata.put("source", peer.url());
        try {
            entryPublisher.copy(
                    new Publication(
                            theirs.id(),
                            theirs.resource().type(),
                            document.body(),
                            theirs.resource().url(),
                            null,
                            Visibility.PUBLIC,
                            null,
                            List.of(),
                            metadata),
                    peer.name());
            outcome.copied++;
        } catch (A2AException refused) {
            LOG.log(System.Logger.Level.DEBUG, "peer " + peer.name() + ": " + theirs.id(), refused);
            outcome.refused++;
        }
    }

    private void remove(Entry copy, String reason) {
        writer.change(
                copy.id(),
                EntryChange.Kind.DELETED,
                Map.of("reason", reason),
                null,
                entry -> entry.with(entry.state().with(Entry.Status.DELETED)));
    }

    /** Removes all copies of a peer. */
    int removeAll(String name, String reason) {
        var filter = new EntryFilter(
                List.of(), List.of(), Map.of("group", List.of(Entry.HUB), "owner", List.of(name)), false);
        int removed = 0;
        for (EntryPage page = reader.list(filter, Order.NAME, PAGE, null, Entries.ITSELF);
                !page.entries().isEmpty();
                page = reader.list(filter, Order.NAME, PAGE, null, Entries.ITSELF)) {
            page.entries().forEach(copy -> remove(copy, reason));
            removed += page.entries().size();
        }
        return removed;
    }
}
