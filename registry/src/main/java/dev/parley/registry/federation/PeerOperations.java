package dev.parley.registry.federation;

import dev.parley.dialect.Json;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubParts;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedFetch;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.registry.Entry;
import dev.parley.registry.RegistryError;
import dev.parley.registry.federation.PeerOperation.CopiedEntries;
import dev.parley.registry.federation.PeerOperation.CopiesView;
import dev.parley.registry.federation.PeerOperation.CutPeer;
import dev.parley.registry.federation.PeerOperation.PeerStatus;
import dev.parley.registry.federation.PeerOperation.PeerView;
import dev.parley.registry.federation.PeerOperation.PutPeer;
import dev.parley.registry.federation.PeerOperation.RemovedCopies;
import dev.parley.registry.store.Entries;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.spi.ModuleTables;
import dev.parley.trust.cards.CardTrust;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The peers of a registry: operators add, cut off and remove them; searches ask them. */
public final class PeerOperations implements AutoCloseable {
    /** Tables of peers. */
    public static final ModuleTables TABLES = PeerTable.TABLES;

    private static final System.Logger LOG = System.getLogger("dev.parley.registry");
    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9._-]{0,63}");

    private final HubParts hub;
    private final PeerTable table;
    private final Peers peers;
    private final PeerCopies copies;
    private final GuardedFetch http;
    private final String publisher;

    /**
     * @param http fetches pages of changes and documents
     * @param rule for the addresses of peers
     * @param publisher domain of this registry
     */
    public PeerOperations(
            HubParts hub, Entries entries, TrustCheck trust, GuardedFetch http, AddressRule rule, String publisher) {
        this.hub = hub;
        this.http = http;
        this.publisher = publisher;
        this.table = new PeerTable(hub.database(), hub.key("registry/peers"));
        this.copies = new PeerCopies(table, entries, http, publisher, hub.timers());
        this.peers = new Peers(
                table,
                trust,
                rule,
                publisher,
                id -> entries.reader()
                        .find(id, Entries.ITSELF)
                        .filter(entry -> !entry.isCopy() || entry.state().status() == Entry.Status.REVOKED)
                        .isPresent());
    }

    /** Copies the changes of peers since the last stop at once, instead of at the end of an interval. */
    public void started() {
        table.all().stream()
                .filter(peer -> peer.copied() && peer.cut() == null)
                .forEach(peer -> copies.begin(peer.name()));
    }

    /** The peers, for searches. */
    public Federation federation() {
        return peers;
    }

    /** Handlers of the {@linkplain PeerOperation operations of the administration}. */
    public Handlers administration() {
        return Handlers.NONE
                .call(
                        PeerOperation.LIST,
                        (given, operator) ->
                                table.all().stream().map(this::shown).toList())
                .call(PeerOperation.PUT, this::put)
                .call(PeerOperation.CUT, this::cut)
                .call(PeerOperation.RESUME, (given, operator) -> resume(given.peer(), operator))
                .call(PeerOperation.COPY, (given, operator) -> copy(named(given.peer())))
                .call(PeerOperation.REMOVE, (given, operator) -> remove(given.peer(), operator));
    }

    private PeerView shown(Peer peer) {
        return new PeerView(
                peer.name(),
                peer.url(),
                peer.publishers(),
                !peer.keys().isEmpty(),
                !peer.credential().isEmpty(),
                peer.cut() == null ? PeerStatus.ACTIVE : PeerStatus.CUT,
                peer.cut(),
                peer.copied() ? shown(table.copies(peer.name())) : null);
    }

    private static CopiesView shown(PeerTable.Copies state) {
        return new CopiesView(state.position(), state.problem(), state.time());
    }

    private PeerView put(PutPeer given, CallContext operator) {
        String name = given.peer();
        if (!NAME.matcher(name).matches()) {
            throw A2AException.invalidParams("name", name + " (expected: a-z, 0-9, dots and dashes)");
        }
        String keys = given.keys();
        try {
            if (!keys.isEmpty()) {
                var unused = CardTrust.of(keys);
            }
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams("keys", wrong.getMessage() + " (expected: a JWK set or PEM)");
        }
        Peer peer;
        try {
            String url = Peer.ard(given.url());
            String host = URI.create(url).getHost();
            if (host == null || !url.startsWith("http")) {
                throw new IllegalArgumentException("no http or https URL");
            }
            List<String> publishers = given.publishers();
            peer = new Peer(
                    name,
                    url,
                    keys,
                    given.credential(),
                    (publishers.isEmpty() ? List.of(host) : publishers)
                            .stream()
                                    .map(domain -> domain.toLowerCase(Locale.ROOT))
                                    .toList(),
                    given.copied(),
                    null);
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams(
                    "url", given.url() + ": " + wrong.getMessage() + " (expected: an http or https URL)");
        }
        if (peer.copied() && peer.registry() == null) {
            throw A2AException.invalidParams(
                    "copied", peer.url() + " (expected: a hub of Parley, to copy its entries)");
        }
        peer = identified(peer, given.publishers().isEmpty(), operator);
        table.put(peer);
        noted("registry.peer.put", name, operator, Map.of("url", peer.url()));
        if (peer.copied()) {
            copies.begin(name);
        }
        return shown(peer);
    }

    /**
     * The peer with the publisher that it names in its manifest, if that is the default one of a hub: no one owns it, so the peer may say
     * so. A peer that does not answer now stays as it is.
     *
     * @throws A2AException INVALID_PARAMS if it is that of this registry
     */
    private Peer identified(Peer peer, boolean isAdded, CallContext operator) {
        String registry = peer.registry();
        if (registry == null) {
            return peer;
        }
        String theirs = null;
        try {
            GuardedFetch.Document manifest = http.get(
                    operator.scope().group(),
                    registry.substring(0, registry.lastIndexOf('/')) + "/.well-known/ard.json",
                    peer.headers());
            if (manifest.status() == 200) {
                theirs = publisher(Json.read(manifest.body(), Map.class));
            }
        } catch (IOException | A2AException silent) {
            LOG.log(System.Logger.Level.DEBUG, "peer " + peer.name() + ": no manifest", silent);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        if (publisher.equals(theirs)) {
            throw A2AException.invalidParams(
                    "url",
                    peer.url() + ": the peer has the publisher " + theirs
                            + ", as this registry (expected: another --registry-publisher at one of them)");
        }
        return theirs != null && isAdded && Peer.isDefault(theirs) ? peer.speakingFor(theirs) : peer;
    }

    private static @Nullable String publisher(Map<?, ?> manifest) {
        if (manifest.get("entries") instanceof List<?> entries) {
            for (Object entry : entries) {
                if (entry instanceof Map<?, ?> members
                        && members.get("identifier") instanceof String id
                        && id.endsWith(":registry")
                        && id.chars().filter(c -> c == ':').count() == 3) {
                    return TrustCheck.publisher(id);
                }
            }
        }
        return null;
    }

    private Peer named(String name) {
        return table.named(name)
                .orElseThrow(() -> A2AException.of(RegistryError.NO_PEER, "peer \"" + name + "\": unknown"));
    }

    /** From the first step on no search asks the peer, and none of its entries is copied. */
    private RemovedCopies cut(CutPeer given, CallContext operator) {
        Peer peer = named(given.peer());
        String reason = given.reason();
        table.cut(peer.name(), reason);
        noted("registry.peer.cut", peer.name(), operator, Map.of("reason", reason));
        return new RemovedCopies(copies.removeAll(peer.name(), "peer was cut off: " + reason));
    }

    private PeerView resume(String name, CallContext operator) {
        Peer peer = named(name);
        table.cut(peer.name(), null);
        noted("registry.peer.resumed", peer.name(), operator, Map.of());
        if (peer.copied()) {
            copies.begin(peer.name());
        }
        return shown(named(name));
    }

    private CopiedEntries copy(Peer peer) {
        if (peer.cut() != null) {
            throw A2AException.of(RegistryError.NO_PEER, "peer \"" + peer.name() + "\": cut off");
        }
        try {
            return copies.copy(peer).shown();
        } catch (IOException failure) {
            throw A2AException.of(RegistryError.NOT_FETCHED, "peer \"" + peer.name() + "\": " + failure.getMessage());
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw A2AException.of(RegistryError.NOT_FETCHED, "interrupted");
        }
    }

    private RemovedCopies remove(String name, CallContext operator) {
        Peer peer = named(name);
        table.cut(peer.name(), "removed");
        int removed = copies.removeAll(peer.name(), "peer was removed");
        table.remove(peer.name());
        noted("registry.peer.removed", peer.name(), operator, Map.of());
        return new RemovedCopies(removed);
    }

    private void noted(String action, String peer, CallContext operator, Map<String, ?> detail) {
        hub.audit()
                .note(new AuditEntry(
                        operator.scope().group(),
                        operator.caller(),
                        action,
                        peer,
                        "",
                        "ok",
                        operator.address(),
                        Objects.toString(operator.traceparent(), ""),
                        detail));
    }

    @Override
    public void close() {
        peers.close();
    }
}
