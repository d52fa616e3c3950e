package dev.parley.registry.hub;

import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.AgentExtension.CallHandler;
import dev.parley.extension.Handlers;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import dev.parley.extension.HubParts;
import dev.parley.extension.PersonalData;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionView;
import dev.parley.registry.Embedder;
import dev.parley.registry.Entry;
import dev.parley.registry.EntryOperation;
import dev.parley.registry.EntryOperation.DeleteEntry;
import dev.parley.registry.EntryOperation.PublishVersion;
import dev.parley.registry.EntryOperation.RegisterEntry;
import dev.parley.registry.EntryOperation.RestoreEntry;
import dev.parley.registry.EntryOperation.TransferEntry;
import dev.parley.registry.EntryOperation.UpdateEntry;
import dev.parley.registry.ExchangeOperation;
import dev.parley.registry.ExchangeOperation.ImportEntries;
import dev.parley.registry.ExchangeOperation.Imported;
import dev.parley.registry.ExchangeOperation.ImportedEntry;
import dev.parley.registry.FaceProtocol;
import dev.parley.registry.FaceProtocol.FaceCall;
import dev.parley.registry.InspectionOperation;
import dev.parley.registry.InspectionOperation.RevokeEntry;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.ReviewOperation;
import dev.parley.registry.ReviewOperation.ReviewEntry;
import dev.parley.registry.ReviewOperation.ReviewList;
import dev.parley.registry.ReviewOperation.SetViews;
import dev.parley.registry.document.CardFetch;
import dev.parley.registry.faces.FaceOperations;
import dev.parley.registry.federation.PeerOperations;
import dev.parley.registry.health.OwnHealth;
import dev.parley.registry.health.Prober;
import dev.parley.registry.inspect.Inspector;
import dev.parley.registry.search.Search;
import dev.parley.registry.search.SearchOperations;
import dev.parley.registry.spi.RegistryExtensionSource;
import dev.parley.registry.store.Entries;
import dev.parley.registry.store.EntryOperations;
import dev.parley.registry.store.LookAlikes;
import dev.parley.registry.store.PersonalEntries;
import dev.parley.registry.trust.CatalogSigner;
import dev.parley.registry.trust.Fetch;
import dev.parley.registry.trust.Revocations;
import dev.parley.registry.trust.TrustCheck;
import dev.parley.registry.trust.TrustOperations;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The registry of one hub. */
final class RegistryHub implements HubExtension {
    private static final Logger LOG = System.getLogger("dev.parley.registry");

    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(RegistryProtocol.PROTOCOL.uri(), ExtensionView.Use::operations);

    /** Limit of subscriptions, which are idle most of the time. */
    private static final int MOST_SUBSCRIPTIONS = 1_000;

    private final Entries entries;
    private final LookAlikes lookAlikes;
    private final ChangeTasks changes;
    private final Search search;
    private final Handlers handlers;
    private final Handlers administration;
    private final RegistryExtensions extensions;
    private final RegistryData personal;
    private final CardFetch fetch;
    private final FaceOperations operations;
    private final OwnAgents own;
    private final Prober prober;
    private final OwnHealth ownHealth;
    private final PeerOperations peers;
    private volatile String url = "";
    private volatile boolean stops;

    RegistryHub(
            HubParts hub,
            RegistrySource.Settings settings,
            List<RegistryExtensionSource> sources,
            InstantSource clock) {
        String publisher = Entries.publisher(hub.database(), settings.publisher());
        this.entries = Entries.open(
                hub.database(),
                publisher,
                settings.domains(),
                hub.agents()::knows,
                hub.timers(),
                hub.signatures(),
                clock);
        InstantSource time = entries.clock();
        this.fetch = new CardFetch(settings.fetchAllow(), hub.isLocal());
        this.search = new Search(
                hub.database(),
                entries,
                ServiceLoader.load(Embedder.class).findFirst().orElse(null));
        this.own = new OwnAgents(hub, entries);
        this.lookAlikes = new LookAlikes(hub.database(), entries.reader());
        var onEntries = new EntryOperations(entries, lookAlikes, fetch);
        this.changes = new ChangeTasks(onEntries);
        Fetch documents = (group, url) -> fetch.fetch().get(group, url, CardFetch.HEADERS);
        var revocations = new Revocations(hub.database(), hub.signatures(), publisher, time);
        var trust = new TrustCheck(settings.trusted(), hub.signatures(), revocations, documents, time);
        entries.publisher().check(trust);
        entries.writer().listen(revocations);
        var trustOperations = new TrustOperations(entries, hub, trust);
        this.prober = new Prober(entries, hub, documents, trust, settings.probes());
        entries.writer().listen(prober);
        this.ownHealth = new OwnHealth(entries, hub.timers(), settings.probes());
        this.peers = new PeerOperations(hub, entries, trust, fetch.fetch(), fetch.rule(), publisher);
        this.operations = new FaceOperations(
                hub.database(),
                entries,
                own::isCalledOverMcp,
                search,
                peers.federation(),
                new CatalogSigner(hub.signatures(), publisher, time),
                () -> url);
        var inspector = new Inspector(entries, fetch, documents, trust);
        Handlers own = onEntries
                .handlers()
                .and(new SearchOperations(search, lookAlikes).handlers(onEntries::list))
                .and(changing(new ChangeAudit(hub.audit()), onEntries, trustOperations, trust))
                .and(faces(operations))
                .call(InspectionOperation.REVOCATIONS, (given, caller) -> revocations.signed())
                .call(InspectionOperation.HEALTH, prober::history)
                .call(InspectionOperation.INSPECT, inspector::inspect);
        this.extensions = opened(hub, sources, time, own);
        this.handlers = own.and(extensions.handlers());
        this.personal = new RegistryData(
                new PersonalEntries(hub.database(), entries.writer()), search, extensions.personalData());
        this.administration =
                trustOperations.administration().and(peers.administration()).and(personal.administration());
    }

    /** Extensions of the registry. If one cannot be opened, what the registry has opened is closed. */
    private RegistryExtensions opened(
            HubParts hub, List<RegistryExtensionSource> sources, InstantSource clock, Handlers present) {
        try {
            return new RegistryExtensions(
                    sources, hub, entries, clock, operations.faces().keySet(), present);
        } catch (RuntimeException | Error failure) {
            prober.close();
            peers.close();
            fetch.close();
            search.close();
            throw failure;
        }
    }

    /** Handlers of the operations that change entries, and are audited. */
    private static Handlers changing(
            ChangeAudit audit, EntryOperations entries, TrustOperations trusted, TrustCheck trust) {
        CallHandler<RegisterEntry, Entry> register = entries::register;
        return Handlers.NONE
                .call(
                        EntryOperation.REGISTER,
                        audit.ofEntry("registry.registered", RegisterEntry::id, given -> null, register))
                .call(
                        EntryOperation.PUBLISH,
                        audit.ofEntry("registry.published", PublishVersion::id, given -> null, entries::publish))
                .call(
                        EntryOperation.UPDATE,
                        audit.ofEntry("registry.changed", UpdateEntry::id, UpdateEntry::reason, entries::update))
                .call(
                        EntryOperation.DELETE,
                        audit.ofEntry("registry.deleted", DeleteEntry::id, given -> null, entries::delete))
                .call(
                        EntryOperation.RESTORE,
                        audit.ofEntry("registry.restored", RestoreEntry::id, given -> null, entries::restore))
                .call(
                        EntryOperation.TRANSFER,
                        audit.ofEntry("registry.transferred", TransferEntry::id, given -> null, entries::transfer))
                .call(
                        InspectionOperation.REVOKE,
                        audit.<RevokeEntry>ofEntry(
                                "registry.revoked", RevokeEntry::id, RevokeEntry::reason, trusted::revoke))
                .call(
                        ReviewOperation.REVIEW,
                        audit.<ReviewEntry, ReviewList>of(
                                "registry.reviewed",
                                ReviewEntry::id,
                                (given, answer) -> Map.of("stars", given.stars()),
                                entries::review))
                .call(
                        ReviewOperation.SET_VIEWS,
                        audit.of("registry.views", SetViews::id, (given, answer) -> Map.of(), entries::setViews))
                .call(
                        ExchangeOperation.IMPORT,
                        audit.<ImportEntries, Imported>of(
                                "registry.imported",
                                given -> null,
                                (given, answer) -> imported(answer),
                                (given, caller) ->
                                        FaceOperations.imported(given, entries::imported, register, trust, caller)));
    }

    /** Details of an import for its row of the audit. */
    private static Map<String, Object> imported(Imported answer) {
        return answer.results() == null
                ? Map.of()
                : Map.of(
                        "entries",
                        answer.results().stream()
                                .map(ImportedEntry::id)
                                .filter(Objects::nonNull)
                                .toList());
    }

    private static Handlers faces(FaceOperations operations) {
        Handlers handlers = Handlers.NONE;
        for (ExtensionMethod<FaceCall, Object> row : FaceProtocol.ROWS) {
            handlers = handlers.call(row, operations::answer);
        }
        return handlers;
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
        var all = new HashMap<String, AgentEndpoint>();
        handlers.byName().keySet().forEach(name -> all.put(name, new Operations()));
        var card = new AgentCard.Extension(RegistryProtocol.PROTOCOL.uri(), "A registry of agents", false, Map.of());
        return new AgentExtension(card, List.of(), Map.of(), RegistryProtocol.PROTOCOL, all, null);
    }

    @Override
    public Optional<PersonalData> personalData() {
        return Optional.of(personal);
    }

    @Override
    public Map<String, Face> faces() {
        return Stream.of(operations.faces(), extensions.faces())
                .flatMap(faces -> faces.entrySet().stream())
                .collect(
                        Collectors.toMap(Map.Entry::getKey, face -> new Face(RegistryProtocol.AGENT, face.getValue())));
    }

    @Override
    public Map<String, Set<String>> open() {
        var open = new HashSet<>(RegistryProtocol.OPEN);
        open.addAll(extensions.handlers().byName().keySet());
        open.addAll(FaceProtocol.NAMES);
        return Map.of(RegistryProtocol.AGENT, open);
    }

    /** The operations, by their handlers. */
    private final class Operations implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext caller) {
            return endpoint(operation).call(operation, caller);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext caller) {
            return endpoint(operation).watch(operation, caller);
        }

        private AgentEndpoint endpoint(Operation operation) {
            own.await();
            AgentEndpoint endpoint = handlers.byName().get(operation.name());
            if (endpoint == null) {
                throw A2AException.of(A2AError.METHOD_NOT_FOUND);
            }
            return endpoint;
        }
    }

    @Override
    public void started() {
        Thread.ofVirtual().name("registry-agents").start(() -> {
            try {
                try {
                    own.clean();
                    lookAlikes.write();
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
        entries.changes().log().close();
    }

    @Override
    public void close() {
        try {
            extensions.close();
        } finally {
            prober.close();
            peers.close();
            fetch.close();
            search.close();
            entries.changes().log().close();
        }
    }
}
