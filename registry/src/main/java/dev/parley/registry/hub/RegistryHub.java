package dev.parley.registry.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionView;
import dev.parley.protocol.extension.MethodCall;
import dev.parley.registry.Embedder;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.RegistryProtocol.WatchChanges;
import dev.parley.registry.faces.FaceOperations;
import dev.parley.registry.federation.PeerOperations;
import dev.parley.registry.health.OwnHealth;
import dev.parley.registry.health.Prober;
import dev.parley.registry.inspect.Inspector;
import dev.parley.registry.search.Search;
import dev.parley.registry.search.SearchOperations;
import dev.parley.registry.store.CardFetch;
import dev.parley.registry.store.EntryOperations;
import dev.parley.registry.store.Handler;
import dev.parley.registry.store.LookAlikes;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.registry.store.StoredEntries;
import dev.parley.registry.trust.CatalogSigner;
import dev.parley.registry.trust.Fetch;
import dev.parley.registry.trust.Revocations;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.registry.trust.TrustOperations;
import dev.parley.registry.vault.Vault;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;

/** The registry of one hub. */
final class RegistryHub implements HubExtension {
    private static final Logger LOG = System.getLogger("dev.parley.registry");

    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(RegistryProtocol.PROTOCOL.uri(), ExtensionView.Use::operations);

    /** Operations whose answers have entries that callers choose from. */
    private static final List<String> FLAGGED = List.of(
            RegistryProtocol.REGISTER, RegistryProtocol.PUBLISH, RegistryProtocol.LIST, RegistryProtocol.SEARCH);

    /** Limit of subscriptions, which are idle most of the time. */
    private static final int MOST_SUBSCRIPTIONS = 1_000;

    private final StoredEntries entries;
    private final ChangeTasks changes;
    private final Search search;
    private final Map<String, Handler> handlers = new HashMap<>();
    private final Handlers administration;
    private final Vault vault;
    private final RegistryData personal;
    private final CardFetch fetch;
    private final FaceOperations operations;
    private final OwnAgents own;
    private final Prober prober;
    private final OwnHealth ownHealth;
    private final PeerOperations peers;
    private volatile String url = "";
    private volatile boolean stops;

    RegistryHub(HubParts hub, RegistrySource.Settings settings, InstantSource clock) {
        String publisher = StoredEntries.publisher(hub.database(), settings.publisher());
        this.entries = new StoredEntries(
                hub.database(),
                publisher,
                settings.domains(),
                hub.agents()::knows,
                hub.timers(),
                hub.signatures(),
                clock);
        this.changes = new ChangeTasks(entries);
        this.fetch = new CardFetch(settings.fetchAllow(), hub.isLocal());
        this.search = new Search(
                hub.database(),
                entries,
                ServiceLoader.load(Embedder.class).findFirst().orElse(null));
        this.own = new OwnAgents(hub, entries);
        handlers.putAll(new EntryOperations(entries, fetch).handlers());
        new SearchOperations(search)
                .handlers()
                .forEach((name, handler) -> handlers.merge(name, handler, SearchOperations::withWords));
        Fetch documents = (group, url) -> fetch.fetch().get(group, url, CardFetch.HEADERS);
        var revocations = new Revocations(hub.database(), hub.signatures(), publisher, clock);
        var trust = new TrustCheck(settings.trusted(), hub.signatures(), revocations, documents, clock);
        entries.check(trust);
        entries.listen(revocations);
        var trustOperations = new TrustOperations(entries, hub, trust, revocations);
        handlers.putAll(trustOperations.handlers());
        this.prober = new Prober(entries, hub, documents, trust, settings.probes());
        entries.listen(prober);
        handlers.putAll(prober.handlers());
        handlers.putAll(new Inspector(entries, fetch, documents, trust).handlers());
        this.ownHealth = new OwnHealth(entries, hub.timers(), settings.probes());
        this.peers = new PeerOperations(hub, entries, trust, fetch.fetch(), fetch.rule(), publisher);
        this.operations = new FaceOperations(
                hub.database(),
                entries,
                own::isCalledOverMcp,
                search,
                peers.federation(),
                new CatalogSigner(hub.signatures(), publisher, clock),
                () -> url,
                publisher);
        handlers.putAll(operations.handlers());
        handlers.computeIfPresent(
                RegistryProtocol.IMPORT,
                (name, pages) -> FaceOperations.importing(
                        pages, requireNonNull(handlers.get(RegistryProtocol.REGISTER)), trust));
        var lookAlikes = new LookAlikes(entries);
        FLAGGED.forEach(name -> handlers.computeIfPresent(name, (same, handler) -> lookAlikes.flagging(handler)));
        handlers.replaceAll((name, handler) -> AuditedHandler.of(name, handler, hub.audit()));
        this.vault = new Vault(hub, entries, settings.mail(), () -> url, own::await, clock);
        this.personal = new RegistryData(new PersonalEntries(hub.database(), entries), search, vault);
        this.administration =
                trustOperations.administration().and(peers.administration()).and(personal.administration());
    }

    @Override
    public Handlers administration() {
        return administration;
    }

    @Override
    public HubObserver hubObserver() {
        return ownHealth;
    }

    @Override
    public String name() {
        return RegistryProtocol.AGENT;
    }

    @Override
    public List<Agent> agents() {
        return List.of(Agent.named(RegistryProtocol.AGENT, "Registers and finds agents")
                .skill("registry", "Registers agents, lists and shows them", "registry", "discovery")
                .skill("changes", "Shows changes as artifacts of a task, for its webhook", "registry", "webhooks")
                .inputModes("application/json")
                .outputModes("application/json")
                .uses(OPERATIONS)
                .resumable(true)
                .timeLimit(Duration.ofDays(365))
                .concurrency(MOST_SUBSCRIPTIONS)
                .queueLimit(0)
                .handle(changes::handle));
    }

    @Override
    public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
        url = hubUrl;
        return vault.in(AgentExtension.of(RegistryProtocol.PROTOCOL, "A registry of agents")
                .operations(RegistryProtocol.PROTOCOL, new Operations()));
    }

    @Override
    public Optional<PersonalData> personalData() {
        return Optional.of(personal);
    }

    @Override
    public Map<String, Face> faces() {
        var faces = new HashMap<>(Vault.faces(RegistryProtocol.AGENT));
        operations.faces().forEach((path, face) -> faces.put(path, new Face(RegistryProtocol.AGENT, face)));
        return faces;
    }

    @Override
    public Map<String, Set<String>> open() {
        var open = new HashSet<>(RegistryProtocol.OPEN);
        open.addAll(Vault.operations());
        open.addAll(FaceProtocol.NAMES);
        return Map.of(RegistryProtocol.AGENT, open);
    }

    /** The operations, by their handlers. */
    private final class Operations implements AgentEndpoint {
        @Override
        @SuppressWarnings("unchecked") // handlers answer JSON
        public <R> R call(Operation.Call<R> operation, CallContext caller) {
            own.await();
            Handler handler = handlers.get(operation.name());
            if (handler == null) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            return (R) handler.answer(((MethodCall) operation).params(), caller);
        }

        @Override
        @SuppressWarnings("unchecked") // the only stream
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
            if (!(operation instanceof WatchChanges watch)) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            own.await();
            return (Feed<E>) EntryOperations.watch(entries, watch, caller);
        }
    }

    @Override
    public void started() {
        Thread.ofVirtual().name("registry-agents").start(() -> {
            try {
                try {
                    own.clean();
                    entries.writeLooks();
                } finally {
                    peers.started();
                }
            } catch (StoreException outage) {
                if (stops) {
                    return; // the next start does it
                }
                LOG.log(Level.WARNING, "entries are brought up to date at the next start: {0}", String.valueOf(outage));
            }
        });
        Thread.ofVirtual().name("registry-words").start(search::warm);
    }

    @Override
    public void stopping() {
        stops = true;
        own.close();
        entries.stopFeeds();
    }

    @Override
    public void close() {
        vault.close();
        prober.close();
        peers.close();
        fetch.close();
        search.close();
        entries.close();
    }
}
