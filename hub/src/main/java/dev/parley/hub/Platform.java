package dev.parley.hub;

import static java.util.Objects.requireNonNullElseGet;

import dev.parley.client.spi.Traces;
import dev.parley.client.webhooks.WebhookSender;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.spi.Notification;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.engine.Agent;
import dev.parley.engine.Engine;
import dev.parley.engine.TaskManager;
import dev.parley.engine.spi.TaskLog.TaskKey;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubObserver;
import dev.parley.hub.admin.AdminApi;
import dev.parley.hub.admin.Administration;
import dev.parley.hub.admin.HubOperation.Check;
import dev.parley.hub.admin.Hubs;
import dev.parley.hub.admin.Intake;
import dev.parley.hub.extensions.HubAgentView;
import dev.parley.hub.extensions.HubExtensions;
import dev.parley.hub.observation.InstrumentedAgent;
import dev.parley.hub.observation.Metrics;
import dev.parley.hub.observation.ObservedRuns;
import dev.parley.hub.observation.Recorded;
import dev.parley.hub.observation.RunMeters;
import dev.parley.hub.pages.ExtensionPages;
import dev.parley.hub.pages.HomePage;
import dev.parley.hub.pages.OpenApiPage;
import dev.parley.hub.pages.StaticPage;
import dev.parley.hub.webhooks.WebhookDelivery;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.support.Sha256;
import dev.parley.server.HttpExchange;
import dev.parley.server.Mount;
import dev.parley.server.Server;
import dev.parley.server.ServerBuilder;
import dev.parley.server.Site;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.audit.AuditTrail;
import dev.parley.store.database.Database;
import dev.parley.store.hubs.HubTable;
import dev.parley.store.spi.Ending;
import dev.parley.trust.Principal;
import dev.parley.trust.Trust;
import dev.parley.trust.Trust.HubState;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.SpanKind;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
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
    /** Time limit for the parts of a hub that has ended: they may wait for a database that does not answer. */
    private static final Duration CLOSING = Duration.ofSeconds(5);

    private final Hosting hosting;
    final Engine engine;
    final Site site;
    private final @Nullable Site adminSite;
    private final int port;
    private final int adminPort;
    private final OpenParts parts = new OpenParts();
    private final List<Site> sites = new CopyOnWriteArrayList<>();
    /** Completed when the hub may not use its database any more, and its parts are closed. */
    private final CompletableFuture<Ending> ended = new CompletableFuture<>();

    private final long lostGroups;
    final Trust trust;
    private final @Nullable String bootstrapKey;
    private final Duration drain;
    final HubAgentView agentViews;
    private final @Nullable Database database;
    final HubExtensions hubExtensions;
    private final Metrics metrics = new Metrics();
    private final Traces traces;
    final ExtensionPages extensionPages;
    final HomePage home;
    final OpenApiPage openApi;
    /** Completed when the agents of the start are hosted, or the start has failed. */
    private final CompletableFuture<Void> hosted = new CompletableFuture<>();

    private final @Nullable AuditTrail audit;
    private final boolean auditsCalls;
    private volatile boolean stopping;
    final Intake intake = new Intake(this::stateChanged);
    private final List<HubObserver> observers;

    /**
     * @param opened how a site, or a site for operators, is opened
     * @param isLocal whether only users of this machine call it
     */
    Platform(Setup setup, Function<ServerBuilder, Site> opened, boolean isLocal) {
        Preparation.begin();
        HubSettings settings = setup.settings;
        this.drain = settings.server().drain();
        this.hosting = new Hosting(setup, this);
        this.auditsCalls = settings.auditsCalls();
        try {
            Optional<Predecessor> before = Optional.ofNullable(setup.given.replaced);
            before.ifPresent(hub -> hub.awaitParts().run()); // they may have what those of this hub need
            Persistence kept = Persistence.open(setup, parts, setup.registration(hosting::names));
            this.lostGroups = before.map(Predecessor::lostGroups).orElse(0L);
            this.database = kept.database();
            this.audit = kept.audit();
            Administration administration =
                    database == null || audit == null ? null : Administration.in(database, audit);
            this.bootstrapKey = setup.bootstrapKey(administration);
            this.trust = setup.trust(administration, Sha256.of("access tokens\n" + kept.tokenSecret()), this::url);
            trust.show(this::state);
            Function<RequestHead, Predicate<String>> shown =
                    arrival -> trust.shown(arrival, settings.trust().protectCards());
            this.extensionPages = new ExtensionPages(shown);
            AddressRule rule = AddressRule.allowing(settings.webhookAllow());
            WebhookSender sender = parts.add(new WebhookSender(rule, InstantSource.system()));
            this.agentViews = new HubAgentView(trust, this::agentUrl, hosting);
            this.hubExtensions = parts.add(
                    new HubExtensions(setup.extensions(), shared(setup, isLocal, kept, rule), database, audit));
            this.home = new HomePage(shown, hubExtensions::startPage);
            this.traces = Traces.of(requireNonNullElseGet(setup.given.telemetry, GlobalOpenTelemetry::getOrNoop));
            this.observers = hubExtensions.observers();
            this.engine = parts.addBelow(hubExtensions, engine(settings, kept, rule, sender));
            parts.add(() -> drain(null));
            watch(sender);
            Preparation.await();
            ServerBuilder forAll = setup.server(trust, kept.secrets().keyFor("addresses of files"), metrics, database);
            Optional<ServerBuilder> forOperators = setup.adminServer(metrics);
            AdminApi api = adminApi(setup, kept, administration);
            Setup.operate(forOperators.orElse(forAll), trust, api, metrics);
            var ownPaths = new HashMap<String, String>();
            setup.extensions().forEach(each -> each.paths().forEach((path, agent) -> ownPaths.put(agent, path)));
            this.openApi = new OpenApiPage(this::url, shown, forOperators.isPresent() ? null : api.table(), ownPaths);
            complete(forAll);
            before.ifPresent(hub -> hub.close().run()); // it has refused requests until here
            this.adminSite =
                    forOperators.map(server -> openAdmin(server, api, opened)).orElse(null);
            this.site = open(forAll, opened);
            this.port = portOf(site);
            this.adminPort = adminSite == null ? port : portOf(adminSite);
            parts.add(() -> drain(site));
            hostAll(setup.given.agents);
            before.map(Predecessor::ending).ifPresent(this::noteLoss);
            hosted.complete(null);
        } catch (RuntimeException | Error failure) {
            hosted.complete(null);
            try (parts) {
                throw failure;
            } finally {
                closeSites();
            }
        }
    }

    /** Shows the engine, the extensions and the database in the metrics, and notes outages and the end of the database. */
    private void watch(WebhookSender sender) {
        metrics.lost(lostGroups);
        metrics.show(engine);
        metrics.show(hubExtensions.all());
        if (database != null) {
            metrics.show(database);
            database.onOutage(this::stateChanged);
            database.access()
                    .onEnding(ending -> Thread.ofVirtual().name("hub-ending").start(() -> end(ending, sender)));
        }
    }

    /** Opens the site for operators, which is closed after the engine: until then there is something to see. */
    private Site openAdmin(ServerBuilder server, AdminApi api, Function<ServerBuilder, Site> opened) {
        server.handler(
                OpenApiPage.PATH, new OpenApiPage(this::adminUrl, arrival -> agent -> false, api.table(), Map.of()));
        Site admin = open(telling(server), opened);
        parts.addBelow(engine, () -> stop(admin));
        return admin;
    }

    private HubExtensions.Shared shared(Setup setup, boolean isLocal, Persistence kept, AddressRule rule) {
        return new HubExtensions.Shared(
                new HubExtensions.Home(setup.data() != null, isLocal, this::url),
                new HubExtensions.Hosted(agentViews, hosting::describe),
                new HubExtensions.Logged(kept.log(), this::follow),
                new HubExtensions.Keys(setup.given.cardKeys, kept.secrets()::keyFor),
                metrics.ofExtensions(),
                rule,
                trust);
    }

    private Engine engine(HubSettings settings, Persistence kept, AddressRule rule, WebhookSender sender) {
        Duration retention = settings.store().retention();
        Engine.Builder running = Engine.builder(kept.log())
                .webhooks(
                        kept.webhooks(),
                        new WebhookDelivery(
                                rule,
                                sender,
                                kept.secrets(),
                                kept.log()::cause,
                                new WebhookDelivery.Permission(
                                        owner -> trust.isWelcome(owner.group(), owner.owner()), this::absence),
                                this::finished,
                                new WebhookDelivery.Observation(metrics, observers, traces),
                                settings.dialect().has(Switch.PREVIEW_1_1)))
                .taskLimits(settings.tasks())
                .retention(retention.isZero() ? null : retention)
                .observer(new ObservedRuns(new RunMeters(metrics, traces, audit), agentViews::extensions, observers))
                .intake(intake::check)
                .written(segment -> tell(observer -> observer.written(segment)));
        hubExtensions.forEach((uri, extension) -> running.extension(uri, () -> operations(extension)));
        hubExtensions.tools().ifPresent(running::tools);
        Optional.ofNullable(kept.memories()).ifPresent(running::memories);
        return running.build();
    }

    private AdminApi adminApi(Setup setup, Persistence kept, @Nullable Administration administration) {
        Supplier<List<Check>> health = () ->
                Health.of(setup.data(), setup.settings.store().secrets(), kept.cipher(), engine, outage(), problems());
        Database shared = database;
        var hubs = new Hubs(
                engine,
                intake,
                audit,
                new Hubs.Parts(
                        this::url,
                        metrics::openStreams,
                        agentViews::size,
                        () -> shared == null ? 0 : shared.access().hub(),
                        () -> shared == null ? List.of() : HubTable.living(shared),
                        health));
        return AdminApi.of(
                AdminApi.handlers(engine, kept.secrets(), hubs, administration, setup.shown, hubExtensions.all()),
                setup.extensions(),
                recorded(AdminApi.NAME)::before,
                endpoint -> new InstrumentedAgent(AdminApi.NAME, metrics, traces, List.of())
                        .before(trust.administered(endpoint)));
    }

    /** Adds pages, extensions and authentication to the server of the site. */
    private void complete(ServerBuilder server) {
        hubExtensions.open().forEach(trust::open);
        if (hubExtensions.useSessions()) {
            trust.takeSessions();
        }
        hubExtensions.resources().forEach((path, resource) -> server.handler(path, StaticPage.of(resource)));
        hubExtensions.faces().forEach((path, face) -> server.face(path, face.agent(), face.face()));
        telling(server)
                .authenticator(new HubAuthenticator(trust, this::url, new ConcurrentHashMap<>()))
                .handler(ExtensionPages.PATH, extensionPages)
                .handler(OpenApiPage.PATH, openApi)
                .home(home)
                .absent(hubExtensions::absent);
    }

    private void hostAll(Map<String, Agent> agents) {
        hubExtensions.forEach((uri, extension) ->
                extensionPages.own(extension.of(site.url(), site.url(), true).at(site.url()), site.url()));
        agents.values().forEach(hosting::host);
        hubExtensions.agents(agents.keySet()).forEach(hosting::host);
        hubExtensions.start(); // which may host more
    }

    /** A server that tells the condition of the hub. */
    private ServerBuilder telling(ServerBuilder server) {
        return server.ended(this::absence)
                .partsDown(this::problems)
                .readiness(this::obstacle)
                .readinessTest(this::readinessTest);
    }

    private Site open(ServerBuilder server, Function<ServerBuilder, Site> opened) {
        Site open = opened.apply(server);
        sites.add(open);
        return open;
    }

    /** Why this hub cannot serve all calls at present; empty if it can. */
    private Optional<String> obstacle() {
        if (stopping) {
            return Optional.of("the hub stops");
        }
        if (!hosted.isDone()) {
            return Optional.of("the agents are not all hosted yet");
        }
        return outage();
    }

    private Optional<String> outage() {
        return database == null ? Optional.empty() : database.outage();
    }

    private Map<String, String> refusedParts() {
        return database == null ? Map.of() : database.refusedParts();
    }

    /** What users of the pages have to know. */
    private HubState state() {
        var broken = new TreeMap<String, String>();
        outage().ifPresent(reason -> broken.put("The hub accepts no changes at the moment", reason));
        refusedParts().forEach((part, reason) -> broken.put("The hub accepts no changes of " + part, reason));
        return new HubState(intake.drained() != null, broken);
    }

    private void stateChanged() {
        tell(HubObserver::stateChanged);
    }

    /**
     * Why this hub should get no new calls, as {@code /ready} tells it; empty if it is ready. May write a row to the database, and wait
     * for it for some seconds.
     */
    public Optional<String> unready() {
        return absence().or(this::obstacle).or(this::readinessTest);
    }

    /** The metrics of {@code /metrics} without those of the virtual machine, for a registry of the program. */
    public MetricSnapshots metrics() {
        return metrics.ofHub();
    }

    /** All metrics of {@code /metrics}, with those of extensions and of the virtual machine. */
    public MetricSnapshots allMetrics() {
        return metrics.all();
    }

    /** Parts that do not work, with their reasons, while the rest of the hub does. */
    public Map<String, String> problems() {
        var problems = new TreeMap<>(hubExtensions.problems());
        refusedParts().forEach((part, reason) -> problems.merge(part, reason, (one, other) -> one + "; " + other));
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

    /** The port of the site, also after it was closed; 0 if it has none. */
    int port() {
        return port;
    }

    private static int portOf(Site site) {
        return site instanceof Server server ? server.port() : 0;
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
        hosting.host(described);
    }

    private Feed<LoggedEvent> follow(TaskKey key) {
        return engine.follow(key);
    }

    InstrumentedAgent observed(String agent) {
        return new InstrumentedAgent(agent, metrics, traces, observers);
    }

    Recorded recorded(String agent) {
        return new Recorded(audit, agent, auditsCalls);
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

    private Notification finished(TaskKey task, String dialect, Notification notification) {
        hosted.join(); // webhooks that waited for the start: their agents may have extensions that change notifications
        List<HubExtension> used = agentViews.extensions(task.agent());
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

    /** The tasks of an agent as the Agentic Kernel's task manager offers them; empty if there is no such agent. */
    public Optional<TaskManager> tasks(String agent) {
        return hosting.tasks(agent);
    }

    /**
     * Refuses new requests, lets running ones finish within the drain time, then stops. Tasks that are unfinished then are
     * dealt with at the next start. Idempotent.
     */
    @Override
    public void close() {
        if (ending().isEmpty()) {
            parts.close();
        }
        if (ending().isPresent()) { // perhaps meanwhile
            closeSites();
            ended.join();
        }
    }

    /** Closes sites that their parts have left open, because the hub has ended. */
    private void closeSites() {
        sites.forEach(open -> open.drain(ANSWERS));
    }

    /** Why this hub may not use its database any more; empty as long as it may. */
    public Optional<Ending> ending() {
        return database == null ? Optional.empty() : database.access().ending();
    }

    /** Why nothing may be answered: this hub may not use its database any more, or may not for now. */
    private Optional<String> absence() {
        return database == null ? Optional.empty() : database.access().obstacle();
    }

    /** @param listener is called once, on a thread of its own, as {@link Hub#onEnding} describes */
    public void onEnding(Consumer<Ending> listener) {
        var unused = ended.thenAcceptAsync(
                listener, work -> Thread.ofVirtual().name("hub-ended").start(work));
    }

    /** This hub, which has ended, for the one that replaces it. */
    Predecessor asPredecessor(Ending ending) {
        long number = database == null ? 0 : database.access().hub();
        return new Predecessor(
                ending, number, port, adminPort, lostGroups + ending.lostGroups(), ended::join, this::close);
    }

    /** Ends all work and closes all parts but the sites, which tell callers and operators until this hub is closed. */
    private void end(Ending ending, WebhookSender sender) {
        LOG.log(
                System.Logger.Level.WARNING,
                "the hub has ended, and refuses all requests until it begins anew: {0}",
                ending.words());
        sender.close();
        sites.forEach(Site::endStreams);
        try {
            engine.halt(hubExtensions::stopping);
        } catch (RuntimeException fault) { // of an extension: all else has to end, too
            LOG.log(System.Logger.Level.ERROR, "an extension of the hub failed as it ended", fault);
        }
        Thread closing = Thread.ofVirtual().name("hub-closing").start(this::closeParts);
        try {
            if (!closing.join(CLOSING)) {
                LOG.log(System.Logger.Level.WARNING, "parts of the hub that has ended are not closed yet");
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } finally {
            ended.complete(ending);
        }
    }

    private void closeParts() {
        hosted.join(); // the start adds parts until then
        stopping = true; // the sites stay
        try {
            parts.close();
        } catch (RuntimeException unwritten) {
            LOG.log(System.Logger.Level.DEBUG, "parts of the hub wanted to write when they closed", unwritten);
        }
    }

    /** Tells operators of the loss for which the hub before this one has ended. */
    private void noteLoss(Ending before) {
        if (before.cause() == Ending.Cause.WENT_BACK && audit != null) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "{0} acknowledged transactions are missing in the database: {1}",
                    before.lostGroups(),
                    before.words());
            audit.note(new AuditEntry(
                    Principal.DEFAULT_GROUP,
                    "hub",
                    "database.went_back",
                    Hubs.THIS,
                    "",
                    "ok",
                    "",
                    "",
                    Map.of("lostGroups", before.lostGroups())));
        }
    }

    private void stop(Site own) {
        if (ending().isEmpty()) {
            own.close();
        }
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
}
