package dev.parley.hub;

import static java.util.Objects.requireNonNullElseGet;

import dev.parley.client.spi.Traces;
import dev.parley.client.webhooks.StandardWebhooks;
import dev.parley.client.webhooks.WebhookRule;
import dev.parley.client.webhooks.WebhookSender;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.served.ServedCard;
import dev.parley.dialect.spi.Arrival;
import dev.parley.dialect.spi.DialectProvider;
import dev.parley.dialect.spi.Notification;
import dev.parley.dialect.wire.Admission;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Engine;
import dev.parley.engine.TaskManager;
import dev.parley.engine.spi.MemoryTaskLog;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import dev.parley.hub.admin.AdminApi;
import dev.parley.hub.admin.Administration;
import dev.parley.hub.admin.Hubs;
import dev.parley.hub.admin.Intake;
import dev.parley.hub.extensions.Activated;
import dev.parley.hub.extensions.Extended;
import dev.parley.hub.extensions.ExtensionCarrier;
import dev.parley.hub.extensions.HubExtensions;
import dev.parley.hub.extensions.Neighbours;
import dev.parley.hub.extensions.OwnMethods;
import dev.parley.hub.extensions.TaskCredentials;
import dev.parley.hub.extensions.TemporaryDirectory;
import dev.parley.hub.observation.Metrics;
import dev.parley.hub.observation.Observed;
import dev.parley.hub.observation.ObservedRuns;
import dev.parley.hub.observation.Recorded;
import dev.parley.hub.observation.Runs;
import dev.parley.hub.pages.ExtensionPages;
import dev.parley.hub.pages.HomePage;
import dev.parley.hub.pages.OpenApiPage;
import dev.parley.hub.pages.Page;
import dev.parley.hub.webhooks.SecretFile;
import dev.parley.hub.webhooks.WebhookDelivery;
import dev.parley.hub.webhooks.WebhookSecrets;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.OwnMethod;
import dev.parley.protocol.support.Sha256;
import dev.parley.protocol.support.SimilarNames;
import dev.parley.server.Authenticator;
import dev.parley.server.HttpExchange;
import dev.parley.server.Mount;
import dev.parley.server.Server;
import dev.parley.server.ServerBuilder;
import dev.parley.server.Site;
import dev.parley.store.Store;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.AtRest;
import dev.parley.store.encryption.Sealing;
import dev.parley.trust.Guard;
import dev.parley.trust.Principal;
import dev.parley.trust.Trust;
import dev.parley.trust.Trust.HubState;
import dev.parley.trust.cards.CardKeys;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.SpanKind;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Agents, their tasks on disk, authorization and extensions, without a port: requests come from {@link #handle}. A {@link Hub} is a
 * platform behind a listener.
 *
 * <p>Safe for any thread.
 */
public final class Platform implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("dev.parley.hub");
    /** How long callers have to read the answer that the hub is stopping; the engine takes a second of it. */
    private static final Duration ANSWERS = Duration.ofSeconds(2);

    private final SimilarNames similar = new SimilarNames();
    private final Engine engine;
    private final Site site;
    private final @Nullable Site adminSite;
    private final OpenParts parts = new OpenParts();
    private final Trust trust;
    private final @Nullable Administration administration;
    private final @Nullable String bootstrapKey;
    private final Duration drain;
    private final @Nullable String defaultAgent;
    private final Map<String, AgentEndpoint> endpoints = new ConcurrentHashMap<>();
    private final Map<String, TaskManager> managers = new ConcurrentHashMap<>();
    private final Neighbours neighbours;
    private final Set<String> dialects;
    private final boolean grpcOnCards;
    private final @Nullable Database database;
    private final HubExtensions hubExtensions;
    private final Metrics metrics = new Metrics();
    private final Traces traces;
    private final Map<String, Set<String>> agentDialects;
    private final @Nullable CardKeys cardKeys;
    private final List<AgentExtension> extensions;
    private final ExtensionPages extensionPages;
    private final HomePage home;
    private final OpenApiPage openApi;
    private volatile boolean hosting;
    /** Completed when the agents of the start are hosted, or the start has failed. */
    private final CompletableFuture<Void> hosted = new CompletableFuture<>();

    private final @Nullable AuditTrail audit;
    private final boolean auditsCalls;
    private volatile boolean stopping;
    private final Intake intake = new Intake(this::stateChanged);
    private final List<HubObserver> observers;

    /**
     * @param opened how a site, or a site for operators, is opened
     * @param isLocal whether only users of this machine call it
     */
    Platform(Setup setup, Function<ServerBuilder, Site> opened, boolean isLocal) {
        Preparation.begin();
        Given given = setup.given;
        HubSettings settings = setup.settings;
        this.drain = settings.server().drain();
        this.defaultAgent = setup.root();
        this.dialects = settings.dialects();
        this.grpcOnCards = settings.grpcOnCards();
        this.agentDialects = settings.dialectsOfAgents();
        this.cardKeys = given.cardKeys;
        this.extensions = List.copyOf(given.extensions);
        this.auditsCalls = settings.auditsCalls();
        WebhookSecrets secrets;
        @Nullable Database database;
        String tokenSecret;
        TaskLog log;
        PushStore pushStore;
        Path data = setup.data();
        @Nullable Sealing sealing;
        try {
            if (data == null) {
                secrets = WebhookSecrets.random();
                sealing = null;
                database = setup.authenticates() ? temporary() : null;
                audit = database == null ? null : AuditTrail.in(database, InstantSource.system());
                tokenSecret = StandardWebhooks.newSecret();
                var memory = new MemoryTaskLog();
                log = memory;
                pushStore = memory.webhooks();
            } else {
                String url = settings.store().database();
                if (url != null) {
                    Database.check(data, url);
                }
                AtRest atRest = setup.encryption(data);
                sealing = atRest.sealing();
                secrets = WebhookSecrets.in(data);
                secrets.warnOfShared();
                tokenSecret = SecretFile.readOrMake(data, SecretFile.TOKENS, StandardWebhooks::newSecret);
                InstantSource clock = InstantSource.system();
                Store store = parts.add(
                        url == null
                                ? Store.open(data, clock, atRest, given.connections)
                                : Store.open(data, url, clock, atRest, given.connections));
                database = store.database();
                database.storage().limit(settings.store().quotas());
                for (String name : setup.secretFiles()) {
                    database.keep(data, name);
                }
                audit = store.audit();
                log = store.log();
                pushStore = store.webhooks();
            }
            this.database = database;
            this.administration = database == null || audit == null ? null : Administration.in(database, audit);
            this.bootstrapKey = setup.bootstrapKey(administration);
            this.trust = setup.trust(administration, key("access tokens", tokenSecret), this::url);
            trust.show(this::state);
            boolean protectCards = settings.trust().protectCards();
            Function<Arrival, Predicate<String>> shown = arrival -> trust.shown(arrival, protectCards);
            this.extensionPages = new ExtensionPages(shown);
            this.home = new HomePage(shown, this::startPage);
            WebhookRule rule = WebhookRule.allowing(settings.webhookAllow());
            WebhookSender sender = parts.add(new WebhookSender(rule, InstantSource.system()));
            this.neighbours = new Neighbours(trust, this::agentUrl, new Endpoints());
            this.hubExtensions = parts.add(new HubExtensions(
                    setup.extensions(),
                    new HubExtensions.Shared(
                            data != null,
                            isLocal,
                            this::url,
                            metrics.ofExtensions(),
                            neighbours,
                            log,
                            this::follow,
                            cardKeys,
                            rule,
                            secrets::keyFor,
                            this::describe,
                            trust::identify,
                            trust::session),
                    database,
                    audit));
            this.traces = Traces.of(requireNonNullElseGet(given.telemetry, GlobalOpenTelemetry::getOrNoop));
            Duration retention = settings.store().retention();
            this.observers = hubExtensions.observers();
            Engine.Builder running = Engine.builder(log)
                    .webhooks(
                            pushStore,
                            new WebhookDelivery(
                                    rule,
                                    sender,
                                    secrets,
                                    log::cause,
                                    owner -> trust.isWelcome(owner.group(), owner.owner()),
                                    this::finished,
                                    metrics,
                                    observers,
                                    traces))
                    .taskLimits(settings.tasks())
                    .retention(retention.isZero() ? null : retention)
                    .observer(new ObservedRuns(new Runs(metrics, traces, audit), neighbours::extensions, observers))
                    .intake(intake::check)
                    .written(segment -> tell(observer -> observer.written(segment)));
            hubExtensions.forEach((uri, extension) -> running.extension(uri, () -> operations(extension)));
            hubExtensions.tools().ifPresent(running::tools);
            this.engine = parts.addBelow(hubExtensions, running.build());
            parts.add(() -> drain(null));
            metrics.show(engine);
            metrics.show(hubExtensions.all());
            if (database != null) {
                metrics.show(database);
                database.onOutage(this::stateChanged);
            }
            Preparation.await();
            ServerBuilder forAll = setup.server(trust, secrets.keyFor("addresses of files"), metrics, database);
            Optional<ServerBuilder> forOperators = setup.adminServer(metrics);
            var observed = new Observed(AdminApi.NAME, metrics, traces, List.of());
            AdminApi api = AdminApi.of(
                    engine,
                    secrets,
                    new Hubs(
                            engine,
                            intake,
                            audit,
                            new Hubs.Parts(
                                    this::url,
                                    metrics::openStreams,
                                    neighbours::size,
                                    () -> Health.of(data, sealing, engine, outage(), problems()))),
                    administration,
                    setup.shown,
                    setup.extensions(),
                    hubExtensions.all(),
                    new Recorded(audit, AdminApi.NAME, auditsCalls)::before,
                    endpoint -> observed.before(trust.administered(endpoint)));
            Setup.operate(forOperators.orElse(forAll), trust, api, metrics);
            var ownPaths = new HashMap<String, String>();
            setup.extensions()
                    .forEach(extension -> extension.paths().forEach((path, agent) -> ownPaths.put(agent, path)));
            this.openApi = new OpenApiPage(this::url, shown, forOperators.isPresent() ? null : api.table(), ownPaths);
            hubExtensions.open().forEach(trust::open);
            if (hubExtensions.useSessions()) {
                trust.takeSessions();
            }
            hubExtensions.resources().forEach((path, resource) -> forAll.handler(path, Page.of(resource)));
            hubExtensions.faces().forEach((path, face) -> forAll.face(path, face.agent(), face.face()));
            this.adminSite = forOperators
                    .map(server -> parts.addBelow(
                            engine,
                            opened.apply(server.handler(
                                            OpenApiPage.PATH,
                                            new OpenApiPage(
                                                    this::adminUrl, arrival -> agent -> false, api.table(), Map.of()))
                                    .partsDown(this::problems)
                                    .readiness(this::obstacle)
                                    .readinessTest(this::readinessTest))))
                    .orElse(null); // until the engine has closed there is something to see
            this.site = opened.apply(forAll.authenticator(new Door(trust, this::url, new ConcurrentHashMap<>()))
                    .handler(ExtensionPages.PATH, extensionPages)
                    .handler(OpenApiPage.PATH, openApi)
                    .home(home)
                    .absent(hubExtensions::absent)
                    .partsDown(this::problems)
                    .readiness(this::obstacle)
                    .readinessTest(this::readinessTest));
            parts.add(() -> drain(site));
            hubExtensions.forEach((uri, extension) -> extensionPages.own(
                    extension.of(site.url(), site.url(), true).at(site.url()), site.url()));
            given.agents.values().forEach(this::host);
            hubExtensions.agents(given.agents.keySet()).forEach(this::host);
            hubExtensions.start(); // which may host more
            this.hosting = true;
            hosted.complete(null);
        } catch (RuntimeException | Error failure) {
            hosted.complete(null);
            try (parts) {
                throw failure;
            }
        }
    }

    /** Address to which the root leads browsers, relative to that of the root, which a proxy may serve below a path; empty for none. */
    private Optional<String> startPage() {
        return hubExtensions.startPage().map(path -> path.substring(1));
    }

    /** Why this hub cannot serve all calls at present; empty if it can. */
    private Optional<String> obstacle() {
        if (stopping) {
            return Optional.of("the hub stops");
        }
        if (!hosting) {
            return Optional.of("the agents are not all hosted yet");
        }
        return outage();
    }

    private Optional<String> outage() {
        return database == null ? Optional.empty() : database.outage();
    }

    /** What users of the pages have to know. */
    private HubState state() {
        var broken = new TreeMap<String, String>();
        outage().ifPresent(reason -> broken.put("The hub accepts no changes at the moment", reason));
        if (database != null) {
            database.refusedParts()
                    .forEach((part, reason) -> broken.put("The hub accepts no changes of " + part, reason));
        }
        return new HubState(intake.drained() != null, broken);
    }

    private void stateChanged() {
        tell(HubObserver::stateChanged);
    }

    /** Parts that do not work, with their reasons, while the rest of the hub does. */
    private Map<String, String> problems() {
        var problems = new TreeMap<>(hubExtensions.problems());
        if (database != null) {
            database.refusedParts()
                    .forEach((part, reason) -> problems.merge(part, reason, (one, other) -> one + "; " + other));
        }
        return problems;
    }

    /** Why this hub should get no new calls, although it answers them. */
    private Optional<String> readinessTest() {
        if (intake.drained() != null) {
            return Optional.of("the hub is drained");
        }
        return database == null ? Optional.empty() : database.testWriting();
    }

    /**
     * Answers a request of a container; blocks until the answer has been written, that of a stream included. Virtual threads suit
     * best.
     *
     * @throws IOException if the answer could not be written, for instance because the client has gone
     */
    public void handle(HttpExchange exchange) throws IOException {
        ((Mount) site).handle(exchange);
    }

    /** Returns the address at which clients reach the agents, without a slash at its end. */
    public String url() {
        return site.url();
    }

    /** The port of a site that has one. */
    int port() {
        return ((Server) site).port();
    }

    /** Address for operators and metrics. */
    String adminUrl() {
        return (adminSite == null ? site : adminSite).url();
    }

    /** Returns the address of an agent. */
    public String agentUrl(String name) {
        return site.agentUrl(name);
    }

    /**
     * Returns the first API key, which can create others: on the first start with authentication, as long as no caller has the scope
     * {@value Principal#ADMIN}. It is returned once, for the operator that started the hub.
     */
    public Optional<String> bootstrapKey() {
        return Optional.ofNullable(bootstrapKey);
    }

    /** Hosts one more agent, from now on. */
    public void host(Agent described) {
        host(described, null);
    }

    private Feed<LoggedEvent> follow(TaskKey key) {
        return engine.follow(key);
    }

    /** Replaces the card of an agent, unless it is not hosted. */
    private void describe(Agent described) {
        AgentEndpoint endpoint = endpoints.get(described.name());
        if (endpoint != null) {
            host(described, endpoint);
        }
    }

    /** @param running the agent in the engine, if it is hosted already; else null */
    private void host(Agent described, @Nullable AgentEndpoint running) {
        String url = site.agentUrl(described.name());
        Agent offered = described.offering(extensions, site.url());
        List<HubExtension> used = hubExtensions.usedBy(offered);
        Agent agent = hosted(
                offered.offering(
                        used.stream()
                                .map(extension -> extension.of(site.url(), url, offered.streams()))
                                .toList(),
                        site.url()),
                used);
        for (String missing : hubExtensions.missing(offered)) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "agent \"{0}\" uses the extension {1}, which this program does not have",
                    agent.name(),
                    missing);
        }
        Set<String> spoken = agentDialects.getOrDefault(agent.name(), dialects);
        if (running == null) {
            warnOfSimilar(agent.name());
            agent.extensions().forEach(extension -> extensionPages.add(agent.name(), extension, site.url()));
        }
        var methods = new LinkedHashMap<String, OwnMethod>(agent.methods());
        methods.put(TaskCredentials.METHOD, new TaskCredentials(engine, agent.name()));
        var protocols = new ArrayList<ExtensionProtocol>();
        var own = new LinkedHashMap<>(OwnMethods.of(methods));
        for (AgentExtension extension : agent.extensions()) {
            if (extension.protocol() != null) {
                protocols.add(extension.protocol());
                own.putAll(extension.handlers());
            }
        }
        Map<String, AgentEndpoint> handlers = Activated.of(own, agent.extensions());
        Agent reading = protocols.isEmpty() ? agent : agent.readingJson(agent.handler());
        AgentCard card = trust.card(agent.name(), reading.card(interfaces(url, agent.name(), spoken)));
        boolean streams = agent.streams();
        var observed = new Observed(agent.name(), metrics, traces, observers);
        var recorded = new Recorded(audit, agent.name(), auditsCalls);
        Guard guard = trust.guard(card, agent.extendedSkills(), agent.name());
        Agent hosted = protocols.isEmpty()
                ? agent
                : agent.readingJson(new ExtensionCarrier(
                        agent.handler(),
                        protocols,
                        observed.before(recorded.before(guard.before(new Extended(null, handlers, streams))))));
        AgentEndpoint endpoint = running == null ? engine.host(hosted) : running;
        if (running == null) {
            endpoints.put(agent.name(), endpoint);
            managers.put(agent.name(), engine.tasks(hosted, endpoint, CallContext.anonymous()));
        }
        AgentEndpoint shown = endpoint;
        for (HubExtension extension : used) {
            shown = extension.before(shown);
        }
        protocols.add(ExtensionProtocol.ofMethods(methods.keySet()));
        if (agent.isListed()) {
            home.add(agent.name(), url, card);
        }
        var agentServed = new ServedAgent(
                agent.name(),
                recorded.before(guard.before(new Extended(shown, handlers, streams))),
                served(card),
                spoken,
                new ExtensionTable(protocols),
                observed::before,
                observed::carried,
                agent.isListed());
        neighbours.add(agentServed, used);
        site.add(intake.forClients(agentServed));
        openApi.add(agentServed);
        neighbours.announce(agentServed);
    }

    /** Serves agents that endpoints of extensions answer. */
    private final class Endpoints implements Neighbours.Hosting {
        @Override
        public void add(HostedEndpoint hosted) {
            String name = hosted.name();
            warnOfSimilar(name);
            AgentCard card = here(hosted.card(), name);
            Guard guard = trust.guard(card, List.of(), name);
            var observed = new Observed(name, metrics, traces, observers);
            var recorded = new Recorded(audit, name, auditsCalls);
            byte[] verbatim = hosted.verbatim();
            AgentEndpoint shownCards =
                    new WithCards(intake.beforeRemote(hosted.endpoint()), shown -> here(shown, name));
            var agent = new ServedAgent(
                    name,
                    recorded.before(guard.before(new Translated(shownCards, translations(name)))),
                    verbatim == null ? served(card) : ServedCard.verbatim(card, verbatim),
                    agentDialects.getOrDefault(name, dialects),
                    ExtensionTable.EMPTY,
                    observed::before,
                    observed::carried,
                    true);
            home.add(name, site.agentUrl(name), card);
            neighbours.add(agent, List.of());
            site.add(intake.forClients(agent));
            openApi.add(agent);
            neighbours.announce(agent);
        }

        /** Operations of extensions that these carry out by operations of A2A. */
        private Map<String, AgentEndpoint> translations(String name) {
            var handlers = new LinkedHashMap<String, AgentEndpoint>();
            for (HubExtension extension : hubExtensions.all()) {
                extension
                        .ofRemote(site.url(), site.agentUrl(name))
                        .ifPresent(translated -> handlers.putAll(translated.handlers()));
            }
            return handlers;
        }

        /** A card with the addresses of this hub, and the security of its callers. */
        private AgentCard here(AgentCard card, String name) {
            Set<String> spoken = agentDialects.getOrDefault(name, dialects);
            return trust.card(name, card.at(interfaces(site.agentUrl(name), name, spoken)));
        }

        @Override
        public void remove(String name) {
            site.remove(name);
            openApi.remove(name);
            home.remove(name);
        }
    }

    /** An endpoint before which extensions answer their operations. */
    private record Translated(AgentEndpoint endpoint, Map<String, AgentEndpoint> extensions) implements AgentEndpoint {
        @Override
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            return answering(operation).call(operation, context);
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return answering(operation).watch(operation, context);
        }

        private AgentEndpoint answering(Operation operation) {
            return operation instanceof Operation.Extension extension
                    ? extensions.getOrDefault(extension.name(), endpoint)
                    : endpoint;
        }
    }

    /** An endpoint whose extended cards are changed. */
    private record WithCards(AgentEndpoint endpoint, UnaryOperator<AgentCard> change) implements AgentEndpoint {
        @Override
        @SuppressWarnings("unchecked") // a card is the answer of its operation
        public <R> R call(Operation.Call<R> operation, CallContext context) {
            R answer = endpoint.call(operation, context);
            return operation instanceof Operation.GetExtendedAgentCard ? (R) change.apply((AgentCard) answer) : answer;
        }

        @Override
        public <E> Feed<E> watch(Operation.Watch<E> operation, CallContext context) {
            return endpoint.watch(operation, context);
        }
    }

    /** Tells the observers. The fault of one of them is not that of the others. */
    private void tell(Consumer<HubObserver> news) {
        for (HubObserver observer : observers) {
            try {
                news.accept(observer);
            } catch (RuntimeException fault) {
                LOG.log(System.Logger.Level.ERROR, "an observer of the hub failed", fault);
            }
        }
    }

    private static Agent hosted(Agent agent, List<HubExtension> used) {
        Agent hosted = agent;
        for (HubExtension extension : used) {
            hosted = extension.hosted(hosted);
        }
        return hosted;
    }

    private void warnOfSimilar(String name) {
        synchronized (similar) {
            similar.add(name)
                    .ifPresent(other -> LOG.log(
                            System.Logger.Level.WARNING,
                            "agents \"{0}\" and \"{1}\" have names that look alike: callers may take one for the other",
                            other,
                            name));
        }
    }

    private Notification finished(TaskKey task, String dialect, Notification notification) {
        hosted.join(); // webhooks that waited for the start: their agents may have extensions that change notifications
        List<HubExtension> used = neighbours.extensions(task.agent());
        Notification last = notification;
        // Those of all agents come last: they sign.
        for (boolean isForAll : List.of(false, true)) {
            for (HubExtension extension : used) {
                if (extension.isForAll() == isForAll) {
                    last = extension.notification(dialect, task, agentUrl(task.agent()), last);
                }
            }
        }
        return last;
    }

    /** Operations of an extension as the handlers of agents use them. */
    private AgentEndpoint operations(HubExtension extension) {
        AgentEndpoint own = extension.operations();
        return traces.isOff() ? own : traces.before(SpanKind.INTERNAL, extension::name, own);
    }

    private ServedCard served(AgentCard card) {
        return cardKeys == null
                ? ServedCard.unsigned(card)
                : ServedCard.signed(card, cardKeys.signer(site.url() + CardKeys.PATH));
    }

    /** The tasks of an agent as the Agentic Kernel's task manager offers them; empty if there is no such agent. */
    public Optional<TaskManager> tasks(String agent) {
        return Optional.ofNullable(managers.get(agent));
    }

    private List<AgentCard.Interface> interfaces(String url, String name, Set<String> dialects) {
        var interfaces = new ArrayList<AgentCard.Interface>();
        for (String version : List.of("1.0", "0.3")) {
            if (dialects.contains(version)) {
                interfaces.add(new AgentCard.Interface(url, AgentCard.Interface.JSONRPC, null, version));
                interfaces.add(new AgentCard.Interface(url, AgentCard.Interface.HTTP_JSON, null, version));
            }
        }
        if (grpcOnCards && dialects.contains("1.0")) {
            interfaces.add(new AgentCard.Interface(site.authority(), AgentCard.Interface.GRPC, name, "1.0"));
        }
        if (grpcOnCards && dialects.contains("0.3") && name.equals(defaultAgent)) {
            // There is no tenant in that version, and its cards cannot say what else names an agent.
            interfaces.add(new AgentCard.Interface(site.authority(), AgentCard.Interface.GRPC, null, "0.3"));
        }
        if (dialects.contains("0.1")) {
            interfaces.add(new AgentCard.Interface(url, AgentCard.Interface.JSONRPC, null, "0.1"));
        }
        if (interfaces.isEmpty()) { // not served in A2A
            if (dialects.contains("kernel")) {
                interfaces.add(new AgentCard.Interface(url, AgentCard.Interface.JSONRPC, null, "kernel"));
            }
            if (dialects.contains("agentvault")) {
                String own = url + "/agentvault";
                interfaces.add(new AgentCard.Interface(own, AgentCard.Interface.JSONRPC, null, "agentvault"));
            }
            for (DialectProvider provider : Dialects.providers()) {
                if (dialects.contains(provider.name())) {
                    interfaces.add(provider.at(url));
                }
            }
        }
        return interfaces;
    }

    /**
     * Refuses new requests, lets running ones finish within the drain time, then stops. Tasks that are unfinished then are
     * dealt with at the next start. Idempotent.
     */
    @Override
    public void close() {
        parts.close();
    }

    /**
     * Ends what runs, once. Requests and the runs of agents get the drain time together: blocking calls wait for their agents, and are answered
     * when the engine gives up.
     *
     * @param served null if the hub has no site yet
     */
    private void drain(@Nullable Site served) {
        if (stopping) {
            return;
        }
        stopping = true;
        Thread draining =
                Thread.ofVirtual().name("hub-drain").start(() -> engine.drain(drain, hubExtensions::stopping));
        if (served != null) {
            served.drain(drain.plus(ANSWERS));
        }
        try {
            draining.join();
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }

    /** A database that ends with the hub. */
    private Database temporary() {
        Path scratch = TemporaryDirectory.create();
        parts.add(() -> TemporaryDirectory.remove(scratch));
        return parts.add(Database.temporary(scratch));
    }

    /** Returns the key of one purpose, which is the same after a restart. */
    private static byte[] key(String purpose, String secret) {
        return Sha256.of(purpose + "\n" + secret);
    }

    /**
     * Lets callers in as the hub trusts them.
     *
     * @param begun chains of calls that begin at an agent, by its name
     */
    private record Door(Trust trust, Supplier<String> url, Map<String, CallChain> begun) implements Authenticator {
        @Override
        public Admission admit(String agent, Arrival arrival) {
            return through(trust.admit(agent, arrival), agent, arrival);
        }

        @Override
        public Admission admitUnauthenticated(String agent, Arrival arrival) {
            return through(trust.admitUnauthenticated(agent, arrival), agent, arrival);
        }

        private Admission through(Admission admission, String agent, Arrival arrival) {
            CallChain before = CallChain.read(arrival.header(CallChain.HEADER));
            CallChain begins = begun.get(agent);
            if (begins == null) {
                begins = begun.computeIfAbsent(agent, name -> CallChain.NONE.then(url.get() + "/agents/" + name));
            }
            CallChain chain = before.agents().isEmpty()
                    ? begins
                    : before.then(begins.agents().getFirst());
            return new Admission(
                    admission.caller().through(chain), admission.headers(), admission.leave(), admission.stands());
        }

        @Override
        public boolean lacksCredentials(Arrival arrival) {
            return trust.lacksCredentials(arrival);
        }

        @Override
        public Predicate<String> shown(Arrival arrival, boolean protectCards) {
            return trust.shown(arrival, protectCards);
        }

        @Override
        public boolean isShownToAll(String agent) {
            return trust.isShownToAll(agent);
        }
    }
}
