package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElseGet;

import dev.parley.client.StandardWebhooks;
import dev.parley.client.Traces;
import dev.parley.client.WebhookRule;
import dev.parley.client.WebhookSender;
import dev.parley.dialect.Admission;
import dev.parley.dialect.Arrival;
import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.KnowledgeExtension;
import dev.parley.dialect.ServedAgent;
import dev.parley.dialect.ServedCard;
import dev.parley.dialect.ServedKnowledge;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Engine;
import dev.parley.engine.MemoryPushStore;
import dev.parley.engine.MemoryTaskLog;
import dev.parley.engine.TaskLimits;
import dev.parley.engine.TaskManager;
import dev.parley.engine.spi.PushStore;
import dev.parley.engine.spi.TaskLog;
import dev.parley.knowledge.Graph;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.KnowledgeEndpoint;
import dev.parley.protocol.OwnMethod;
import dev.parley.server.Authenticator;
import dev.parley.server.RequestHandler;
import dev.parley.server.Server;
import dev.parley.server.ServerBuilder;
import dev.parley.store.AtRest;
import dev.parley.store.AuditTrail;
import dev.parley.store.Database;
import dev.parley.store.Sealing;
import dev.parley.store.Store;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.CardKeys;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.Guard;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.Principal;
import dev.parley.trust.Trust;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.SpanKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A running hub: agents, their tasks on disk, and one port on which they are called.
 *
 * <p>Safe for any thread.
 */
public final class Hub implements AutoCloseable {
    private final Engine engine;
    private final Server server;
    private final @Nullable Server adminServer;
    private final WebhookSender sender;
    private final Trust trust;
    private final @Nullable Administration administration;
    private final @Nullable String bootstrapKey;
    private final Duration drain;
    private final @Nullable String defaultAgent;
    private final Map<String, TaskManager> managers = new ConcurrentHashMap<>();
    private final Set<String> dialects;
    private final @Nullable Path scratch;
    private final @Nullable Database scratchDatabase;
    private final SharedGraph graph;
    private final Metrics metrics = new Metrics();
    private final Traces traces;
    private final Map<String, Set<String>> agentDialects;
    private final @Nullable CardKeys cardKeys;
    private final List<AgentExtension> extensions;
    private final ExtensionPages extensionPages;
    private volatile boolean stopping;

    private Hub(Builder settings) {
        settings.refuseOpenBinding();
        this.drain = settings.drain;
        this.defaultAgent = settings.root();
        this.dialects = settings.dialects;
        this.agentDialects = Map.copyOf(settings.agentDialects);
        this.cardKeys = settings.cardKeys;
        this.extensions = List.copyOf(settings.extensions);
        String secret;
        @Nullable Database database;
        @Nullable AuditTrail audit;
        String tokenSecret;
        TaskLog log;
        PushStore pushStore;
        Path data = settings.data;
        this.scratch = data == null && settings.authenticates() ? TemporaryDirectory.create() : null;
        if (data == null) {
            secret = StandardWebhooks.newSecret();
            database = scratch == null ? null : Database.open(scratch);
            audit = database == null ? null : AuditTrail.in(database, InstantSource.system());
            tokenSecret = StandardWebhooks.newSecret();
            log = new MemoryTaskLog();
            pushStore = new MemoryPushStore();
        } else {
            Sealing sealing = settings.sealing;
            if (sealing == null) {
                sealing = Sealing.of(List.of(secret(data, "encryption.key", Sealing::newKey)));
            }
            Store store = Store.open(data, InstantSource.system(), new AtRest(sealing, settings.encryptTasks));
            secret = secret(data, "webhook.secret", StandardWebhooks::newSecret);
            tokenSecret = secret(data, "token.secret", StandardWebhooks::newSecret);
            database = store.database();
            audit = store.audit();
            log = store.log();
            pushStore = store.webhooks();
        }
        this.scratchDatabase = data == null ? database : null;
        this.administration = database == null || audit == null ? null : Administration.in(database, audit);
        this.bootstrapKey = settings.bootstrapKey(administration);
        this.trust = settings.trust(administration, key("access tokens", tokenSecret), this::url);
        this.extensionPages = new ExtensionPages(arrival -> trust.shown(arrival, settings.protectCards));
        StandardWebhooks signer = StandardWebhooks.of(List.of(secret));
        this.sender = new WebhookSender(WebhookRule.allowing(settings.webhookAllow), signer, InstantSource.system());
        this.graph = new SharedGraph(settings.graph, database, audit);
        this.traces = Traces.of(requireNonNullElseGet(settings.telemetry, GlobalOpenTelemetry::getOrNoop));
        this.engine = Engine.builder(log)
                .webhooks(
                        pushStore,
                        new WebhookDelivery(
                                WebhookRule.allowing(settings.webhookAllow), sender, log::cause, metrics, traces))
                .taskLimits(settings.taskLimits)
                .retention(settings.retention)
                .grace(settings.drain.dividedBy(2))
                .knowledge(this::knowledge)
                .observer(new Runs(metrics, traces))
                .build();
        metrics.show(engine);
        if (database != null) {
            metrics.show(database);
        }
        ServerBuilder forAll = settings.server(trust, key("addresses of files", secret), metrics);
        Optional<ServerBuilder> forOperators = settings.adminServer(metrics);
        settings.operate(forOperators.orElse(forAll), engine, trust, administration, graph, metrics);
        boolean started = false;
        try {
            this.adminServer = forOperators
                    .map(server -> server.readiness(() -> !stopping).start())
                    .orElse(null);
            this.server = forAll.authenticator(new Builder.Door(trust, this::url))
                    .handler(ExtensionPages.PATH, extensionPages)
                    .start();
            settings.agents.values().forEach(this::host);
            started = true;
        } finally {
            if (!started) {
                closeAllButServer();
            }
        }
    }

    /** Begins a hub. */
    public static Builder builder() {
        return new Builder();
    }

    /** Where the hub is reached: scheme, host and port. */
    public String url() {
        return server.url();
    }

    /** Where operators reach the hub, and whoever reads its metrics: {@link #url} unless that has a port of its own. */
    public String adminUrl() {
        return (adminServer == null ? server : adminServer).url();
    }

    /** Where an agent is reached. */
    public String agentUrl(String name) {
        return server.agentUrl(name);
    }

    /**
     * The API key with which to make others: on the first start with authentication, as long as nobody has the scope {@value
     * Trust#ADMIN}. It is told this once, and should be shown to whoever started the hub, and to nobody else.
     */
    public Optional<String> bootstrapKey() {
        return Optional.ofNullable(bootstrapKey);
    }

    /** Hosts one more agent, from now on. */
    public void host(Agent described) {
        Agent agent = described.offering(extensions, server.url());
        String url = server.agentUrl(agent.name());
        Set<String> spoken = agentDialects.getOrDefault(agent.name(), dialects);
        Graph used = agent.usesKnowledge() ? graph.get() : null;
        var observed = new Observed(agent.name(), metrics, traces);
        ServedKnowledge shared =
                used == null ? null : new ServedKnowledge(observed.before(guarded(agent, url, used)), used::schema);
        Agent hosted = shared == null ? agent : withKnowledge(agent, url, shared);
        hosted.extensions().forEach(extension -> extensionPages.add(agent.name(), extension, server.url()));
        AgentCard card = trust.card(agent.name(), hosted.card(interfaces(url, agent.name(), spoken)));
        AgentEndpoint endpoint = engine.host(hosted);
        managers.put(agent.name(), engine.tasks(hosted, endpoint, CallContext.anonymous()));
        AgentEndpoint shown = used == null ? endpoint : new KnowledgeOfTasks(endpoint, used);
        Guard guard = trust.guard(card, agent.extendedSkills(), agent.name());
        var own = new LinkedHashMap<String, OwnMethod>(agent.methods());
        own.put(TaskCredentials.METHOD, new TaskCredentials(engine, agent.name()));
        var methods = new LinkedHashMap<String, OwnMethod>();
        own.forEach((name, method) -> methods.put(name, observed.before(name, guard.before(name, method))));
        server.add(new ServedAgent(
                agent.name(), guard.before(shown), served(card), spoken, shared, methods, observed::before));
    }

    /** The graph as agents use it themselves. */
    private KnowledgeEndpoint knowledge() {
        return traces.isOff() ? graph.get() : traces.before(SpanKind.INTERNAL, () -> "graph", graph.get());
    }

    /** The graph as callers reach it through an agent, be it inside messages. */
    private KnowledgeEndpoint guarded(Agent agent, String url, Graph used) {
        AgentCard card = agent.card(interfaces(url, agent.name(), dialects));
        return trust.guard(card, List.of(), agent.name()).before(used);
    }

    private ServedCard served(AgentCard card) {
        return cardKeys == null
                ? ServedCard.unsigned(card)
                : ServedCard.signed(card, cardKeys.signer(server.url() + CardKeys.PATH));
    }

    private Agent withKnowledge(Agent agent, String url, ServedKnowledge shared) {
        return agent.extended(
                KnowledgeExtension.of(server.url(), url, shared.endpoint().queryLanguages(), true),
                new KnowledgeCarrier(agent.handler(), shared));
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
        if (dialects.contains("1.0")) {
            interfaces.add(new AgentCard.Interface(server.authority(), AgentCard.Interface.GRPC, name, "1.0"));
        }
        if (dialects.contains("0.3") && name.equals(defaultAgent)) {
            // There is no tenant in that version, and its cards cannot say what else names an agent.
            interfaces.add(new AgentCard.Interface(server.authority(), AgentCard.Interface.GRPC, null, "0.3"));
        }
        if (dialects.contains("0.1") || interfaces.isEmpty()) {
            interfaces.add(new AgentCard.Interface(url, AgentCard.Interface.JSONRPC, null, "0.1"));
        }
        return interfaces;
    }

    /** Closes this hub when the process is told to stop. */
    public void closeOnShutdown() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::close, "hub-shutdown"));
    }

    /**
     * Refuses new requests, lets running ones finish within the drain time, then stops. Tasks that are unfinished then are
     * dealt with at the next start. Idempotent.
     */
    @Override
    public void close() {
        stopping = true;
        // Blocking calls wait for their agents, so both get the drain time together, the engine within the server's.
        server.drain(drain);
        closeAllButServer();
    }

    private void closeAllButServer() {
        engine.close();
        if (adminServer != null) {
            adminServer.close(); // until now there was something to see
        }
        sender.close();
        graph.close();
        if (scratchDatabase != null) {
            scratchDatabase.close();
        }
        if (scratch != null) {
            TemporaryDirectory.remove(scratch);
        }
    }

    /** A key for one purpose alone, and yet the same after a restart. */
    private static byte[] key(String purpose, String secret) {
        try {
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            return sha.digest((purpose + "\n" + secret).getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException impossible) {
            throw new AssertionError("every Java platform has SHA-256", impossible);
        }
    }

    private static String secret(Path data, String name, Supplier<String> made) {
        Path file = data.resolve(name);
        try {
            if (!Files.exists(file)) {
                Files.createDirectories(data);
                Files.createFile(
                        file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
                Files.writeString(file, made.get(), StandardOpenOption.WRITE);
            }
            return Files.readString(file).strip();
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read or make " + file, failure);
        }
    }

    /** Collects the settings of a hub; holds the only copy of each default. */
    public static final class Builder {
        private final Map<String, Agent> agents = new LinkedHashMap<>();
        private final List<AgentExtension> extensions = new ArrayList<>();
        private final List<String> webhookAllow = new ArrayList<>();
        private List<String> corsOrigins = List.of();
        private List<String> allowedHosts = List.of();
        private @Nullable Path data = Path.of(".parley");
        private int port = 7420;
        private String bind = "127.0.0.1";
        private @Nullable Integer adminPort;
        private String adminBind = "127.0.0.1";
        private @Nullable String defaultAgent;
        private @Nullable String publicUrl;
        private long maxBodyBytes = 10L << 20;
        private TaskLimits taskLimits = TaskLimits.DEFAULTS;
        private int mostAgents = 8;
        private @Nullable Duration retention;
        private @Nullable Sealing sealing;
        private boolean encryptTasks;
        private @Nullable Path tlsCertificate;
        private @Nullable Path tlsKey;
        private @Nullable Path clientAuthorities;
        private Duration drain = Duration.ofSeconds(10);
        private final Set<Switch> switches = EnumSet.noneOf(Switch.class);
        private @Nullable Graph graph;
        private Set<String> dialects = Dialects.NAMES;
        private final Map<String, Set<String>> agentDialects = new LinkedHashMap<>();
        private Callers callers = Callers.builder().build();
        private Authentication authentication = Authentication.NONE;
        private final Map<String, Authentication> agentAuthentication = new LinkedHashMap<>();
        private String service = "parley";
        private @Nullable PolicyFile policy;
        private boolean protectCards;
        private final List<String> issuers = new ArrayList<>();
        private List<String> audiences = List.of();
        private @Nullable String groupClaim;
        private @Nullable CardKeys cardKeys;
        private @Nullable OpenTelemetry telemetry;

        private Builder() {}

        /** Adds agents; the first one added is the default one unless {@link #defaultAgent} names another. */
        public Builder agents(Agent... more) {
            for (Agent agent : more) {
                if (agents.put(agent.name(), agent) != null) {
                    throw new IllegalArgumentException(
                            "agent " + agent.name() + " is there twice (expected: one of each name)");
                }
            }
            return this;
        }

        /** Gives all agents these extensions, besides their own. */
        public Builder extensions(Collection<AgentExtension> more) {
            extensions.addAll(more);
            return this;
        }

        /** The port; default 7420, 0 for any free one. */
        public Builder port(int port) {
            this.port = port;
            return this;
        }

        /**
         * The address to listen at; default {@code 127.0.0.1}. Those that other machines reach need TLS and, for every agent,
         * authentication.
         */
        public Builder bind(String address) {
            this.bind = requireNonNull(address, "address");
            return this;
        }

        /**
         * Another port, on which alone operators and whoever reads metrics are answered, until everything else has ended; 0 for
         * any free one. Default: the port of everybody.
         */
        public Builder adminPort(int port) {
            this.adminPort = port;
            return this;
        }

        /**
         * The address of the port for operators; default {@code 127.0.0.1}. Those that other machines reach need what {@link
         * #bind} says, and are served with the hub's certificate; loopback addresses are served without TLS.
         */
        public Builder adminBind(String address) {
            this.adminBind = requireNonNull(address, "address");
            return this;
        }

        /** The directory of everything that is kept; default {@code .parley} below the working directory. */
        public Builder data(Path directory) {
            this.data = requireNonNull(directory, "directory");
            return this;
        }

        /** Keeps nothing: tasks are gone when the process is. */
        public Builder inMemory() {
            this.data = null;
            return this;
        }

        /** The agent that also answers at the root; default: the first one added. */
        public Builder defaultAgent(String name) {
            this.defaultAgent = requireNonNull(name, "name");
            return this;
        }

        /** What clients call this hub, such as {@code https://agents.example.com}; default: address and port. */
        public Builder publicUrl(String url) {
            this.publicUrl = requireNonNull(url, "url");
            return this;
        }

        /** Hosts that webhooks may call though they are private: names or addresses; default: none. */
        public Builder webhookAllow(List<String> hosts) {
            webhookAllow.addAll(hosts);
            return this;
        }

        /** The largest request body, in bytes; default 10 MiB. */
        public Builder maxBodyBytes(long maxBodyBytes) {
            this.maxBodyBytes = maxBodyBytes;
            return this;
        }

        /** Through how many agents a call may go, each of which asks the next; default 8. */
        public Builder mostAgents(int agents) {
            this.mostAgents = agents;
            return this;
        }

        /** How long conversations and tasks may become; default {@link TaskLimits#DEFAULTS}. */
        public Builder taskLimits(TaskLimits limits) {
            this.taskLimits = requireNonNull(limits, "limits");
            return this;
        }

        /** After what time tasks that have ended are removed; default: never. */
        public Builder retention(Duration retention) {
            this.retention = requireNonNull(retention, "retention");
            return this;
        }

        /**
         * The keys with which webhooks are encrypted in the data directory, and tasks if {@link #encryptTasks} is set; default:
         * one that the hub makes for itself, in the file {@code encryption.key} of that directory.
         */
        public Builder encryption(Sealing keys) {
            this.sealing = requireNonNull(keys, "keys");
            return this;
        }

        /** Encrypts what is said in tasks, too, before it is kept; default false. */
        public Builder encryptTasks(boolean encrypt) {
            this.encryptTasks = encrypt;
            return this;
        }

        /** Origins of web pages that may call; default: none. */
        public Builder corsOrigins(List<String> origins) {
            this.corsOrigins = List.copyOf(origins);
            return this;
        }

        /** Host names by which clients may call, as {@link ServerBuilder#allowedHosts}; default: none. */
        public Builder allowedHosts(List<String> hosts) {
            this.allowedHosts = List.copyOf(hosts);
            return this;
        }

        /** Serves TLS with this certificate chain and key, both PEM; default: plain HTTP. */
        public Builder tls(Path certificateChain, Path key) {
            this.tlsCertificate = requireNonNull(certificateChain, "certificateChain");
            this.tlsKey = requireNonNull(key, "key");
            return this;
        }

        /** Who signs the certificates that callers may show (PEM), for the scheme mutualTLS; default: nobody. */
        public Builder clientAuthorities(Path authorities) {
            this.clientAuthorities = requireNonNull(authorities, "authorities");
            return this;
        }

        /** How long closing waits for what is running; default 10 s. */
        public Builder drain(Duration drain) {
            this.drain = requireNonNull(drain, "drain");
            return this;
        }

        /** Refuses 1.0 requests that do not say their version; default false. */
        public Builder strictVersionHeader(boolean strict) {
            return set(Switch.STRICT_VERSION_HEADER, strict);
        }

        /** Answers with the HTTP statuses of release 1.0.0 of the specification; default false: those of 1.0.1. */
        public Builder statusesOf100(boolean old) {
            return set(Switch.STATUSES_OF_100, old);
        }

        /** Ends streams when a task waits for its caller; default false. */
        public Builder closeOnInputRequired(boolean close) {
            return set(Switch.CLOSE_ON_INPUT_REQUIRED, close);
        }

        /** Answers methods of older versions also to requests that ask for 1.0; default false. */
        public Builder lenientMethods(boolean lenient) {
            return set(Switch.LENIENT_METHODS, lenient);
        }

        /** Reads messages as 0.3 spells them also under methods of 1.0; default false. */
        public Builder lenientBodies(boolean lenient) {
            return set(Switch.LENIENT_BODIES, lenient);
        }

        /**
         * Answers reads and streams of a task that do not say their version, and may be of 0.1 or 0.3, so that clients of
         * both understand; default false: in 0.3, or in 0.1 if the task has a name that its caller gave it.
         */
        public Builder mergedLegacyAnswers(boolean merged) {
            return set(Switch.MERGED_LEGACY_ANSWERS, merged);
        }

        private Builder set(Switch one, boolean on) {
            if (on) {
                switches.add(one);
            } else {
                switches.remove(one);
            }
            return this;
        }

        /**
         * Answers errors of {@code knowledge/query} and {@code knowledge/update} with their HTTP status; default false: with
         * 200, under which alone published clients of the extension find them.
         */
        public Builder strictKnowledgeStatuses(boolean strict) {
            return set(Switch.STRICT_KNOWLEDGE_STATUSES, strict);
        }

        /**
         * The knowledge graph of the agents that declare that they use one, which the hub then closes with itself; default:
         * one in the hub's own database, or in memory one that is gone with it.
         */
        public Builder knowledge(Graph graph) {
            this.graph = requireNonNull(graph, "graph");
            return this;
        }

        /**
         * In which dialects the agents are served, out of {@link Dialects#NAMES}; default: all. With {@code 1.0} alone the
         * cards have no members for older readers.
         *
         * @throws IllegalArgumentException if one is unknown, or there is none
         */
        public Builder dialects(Collection<String> names) {
            this.dialects = known(names);
            return this;
        }

        /**
         * In which dialects one agent is served, instead of those for all.
         *
         * @throws IllegalArgumentException if one is unknown, or there is none
         */
        public Builder dialects(String agent, Collection<String> names) {
            agentDialects.put(requireNonNull(agent, "agent"), known(names));
            return this;
        }

        /** Who may call, where callers have to show who they are; default: nobody. */
        public Builder callers(Callers callers) {
            this.callers = requireNonNull(callers, "callers");
            return this;
        }

        /** What callers have to show; default: nothing. */
        public Builder authentication(Authentication wanted) {
            this.authentication = requireNonNull(wanted, "wanted");
            return this;
        }

        /** What callers of one agent have to show, instead of what those of all do. */
        public Builder authentication(String agent, Authentication wanted) {
            agentAuthentication.put(requireNonNull(agent, "agent"), requireNonNull(wanted, "wanted"));
            return this;
        }

        /** Takes tokens of an issuer besides the hub's own, as {@link Trust.Builder#issuer}. */
        public Builder issuer(String url) {
            issuers.add(requireNonNull(url, "url"));
            return this;
        }

        /** For whom tokens of other issuers have to be, any one of these; default: the address of the hub. */
        public Builder audiences(Collection<String> audiences) {
            this.audiences = List.copyOf(audiences);
            return this;
        }

        /** Which claim of other issuers names a caller's group; default: none. */
        public Builder groupClaim(String claim) {
            this.groupClaim = requireNonNull(claim, "claim");
            return this;
        }

        /** What callers may do, and how much; default: everything with their own. */
        public Builder policy(PolicyFile policy) {
            this.policy = requireNonNull(policy, "policy");
            return this;
        }

        /** Shows cards only to those who may call; default: to everybody. */
        public Builder protectCards(boolean protect) {
            this.protectCards = protect;
            return this;
        }

        /** Under which name clients of AgentVault keep their keys for this hub; default {@code parley}. */
        public Builder service(String service) {
            this.service = requireNonNull(service, "service");
            return this;
        }

        /** Signs the cards of all agents, and publishes the keys at {@value CardKeys#PATH}; default: cards are not signed. */
        public Builder cardKeys(CardKeys keys) {
            this.cardKeys = requireNonNull(keys, "keys");
            return this;
        }

        private static Set<String> known(Collection<String> names) {
            if (names.isEmpty() || !Dialects.NAMES.containsAll(names)) {
                throw new IllegalArgumentException("dialects: " + String.join(", ", names) + " (expected: some of "
                        + String.join(", ", Dialects.NAMES) + ")");
            }
            return Set.copyOf(names);
        }

        /**
         * Who gets spans of what callers ask, of what agents do and of webhooks; whoever gives it closes it. Default: whoever the
         * process has set as {@link GlobalOpenTelemetry}, else nobody.
         */
        public Builder openTelemetry(OpenTelemetry telemetry) {
            this.telemetry = requireNonNull(telemetry, "telemetry");
            return this;
        }

        /**
         * Starts the hub: opens the store, deals with tasks that a crash interrupted, and opens the port.
         *
         * @throws IllegalArgumentException if the settings contradict each other
         * @throws dev.parley.store.StoreException if the data directory cannot be used
         */
        public Hub start() {
            return new Hub(this);
        }

        /** True if some agent asks its callers for something. */
        private boolean authenticates() {
            return Stream.concat(Stream.of(authentication), agentAuthentication.values().stream())
                    .anyMatch(wanted -> !wanted.equals(Authentication.NONE));
        }

        private @Nullable String bootstrapKey(@Nullable Administration administration) {
            if (administration == null
                    || !authenticates()
                    || callers.anyWith(Trust.ADMIN)
                    || administration.directory().anyWith(Trust.ADMIN)) {
                return null;
            }
            return administration
                    .directory()
                    .createKey(Principal.DEFAULT_GROUP, "admin", List.of(Trust.ADMIN), null, Actor.OPERATOR)
                    .secret();
        }

        private void refuseOpenBinding() {
            refuseOpenBinding("bind", bind);
            if (adminPort != null) {
                refuseOpenBinding("admin bind", adminBind);
            }
        }

        private void refuseOpenBinding(String name, String address) {
            if (isLoopback(name, address)) {
                return;
            }
            if (authentication.isOpen() || agentAuthentication.values().stream().anyMatch(Authentication::isOpen)) {
                throw new IllegalArgumentException(
                        name + ": " + address
                                + " (expected: a loopback address such as 127.0.0.1, because everybody on the network could use"
                                + " agents for which no authentication is configured; put a proxy that authenticates in front)");
            }
            if (tlsCertificate == null) {
                throw new IllegalArgumentException(name + ": " + address
                        + " (expected: a loopback address such as 127.0.0.1, because without TLS the credentials of"
                        + " callers could be read on the way)");
            }
        }

        private static boolean isLoopback(String name, String address) {
            try {
                return InetAddress.getByName(address).isLoopbackAddress();
            } catch (UnknownHostException unknown) {
                throw new IllegalArgumentException(
                        name + ": " + address + " (expected: an address of this machine)", unknown);
            }
        }

        private Trust trust(@Nullable Administration administration, byte[] tokenKey, Supplier<String> url) {
            Trust.Builder trust = Trust.builder(callers, administration == null ? null : administration.directory())
                    .everywhere(authentication)
                    .service(service)
                    .mostAgents(mostAgents)
                    .tokenKey(tokenKey)
                    .hub(url);
            agentAuthentication.forEach(trust::agent);
            issuers.forEach(trust::issuer);
            trust.audiences(audiences);
            if (groupClaim != null) {
                trust.groupClaim(groupClaim);
            }
            if (policy != null) {
                trust.policy(policy);
            }
            if (administration != null) {
                trust.audit(administration.audit());
            }
            return trust.build();
        }

        /** Lets callers in as the hub trusts them. */
        private record Door(Trust trust, Supplier<String> url) implements Authenticator {
            @Override
            public Admission admit(String agent, Arrival arrival) {
                Admission admission = trust.admit(agent, arrival);
                CallChain chain =
                        CallChain.read(arrival.header(CallChain.HEADER)).then(url.get() + "/agents/" + agent);
                return new Admission(admission.caller().through(chain), admission.headers(), admission.leave());
            }

            @Override
            public Predicate<String> shown(Arrival arrival, boolean protectCards) {
                return trust.shown(arrival, protectCards);
            }
        }

        private static RequestHandler forScrapers(Trust trust, RequestHandler handler) {
            return request -> {
                trust.require(Trust.METRICS, request.arrival());
                return handler.answer(request);
            };
        }

        private static RequestHandler forOperators(Trust trust, AdminPages pages) {
            return request -> {
                CallContext operator = trust.requireAdmin(request.arrival());
                return pages.answer(new AdminRequest(request), operator);
            };
        }

        private static RequestHandler forOperators(Trust trust, String path, Administration administration) {
            return request -> {
                CallContext operator = trust.requireAdmin(request.arrival());
                var by = new Actor(operator.scope().group(), operator.caller(), request.address());
                return administration.answer(request.at(path + request.path()), by);
            };
        }

        private @Nullable String root() {
            return defaultAgent == null ? agents.keySet().stream().findFirst().orElse(null) : defaultAgent;
        }

        /** What is for operators, and for whoever reads metrics. */
        private void operate(
                ServerBuilder server,
                Engine engine,
                Trust trust,
                @Nullable Administration administration,
                SharedGraph graph,
                Metrics metrics) {
            var deadWebhooks =
                    new DeadWebhooks(requireNonNull(engine.deliveries().orElse(null)));
            server.handler("/metrics", forScrapers(trust, metrics))
                    .handler("/admin/webhooks", forOperators(trust, deadWebhooks))
                    .handler("/admin/knowledge", forOperators(trust, new KnowledgePages(graph)))
                    .handler("/admin/privacy", forOperators(trust, new PrivacyPages(engine, graph, administration)));
            if (administration != null) {
                for (String path : List.of("/groups", "/users", "/keys", "/audit")) {
                    server.handler("/admin" + path, forOperators(trust, path, administration));
                }
            }
        }

        /** The server on the port for operators; empty if they have none of their own. */
        private Optional<ServerBuilder> adminServer(Metrics metrics) {
            if (adminPort == null) {
                return Optional.empty();
            }
            ServerBuilder server = Server.builder(new Dialects(new DialectSettings(switches)))
                    .port(adminPort)
                    .bindAddress(adminBind)
                    .maxBodyBytes(maxBodyBytes)
                    .allowedHosts(allowedHosts)
                    .gracePeriod(drain)
                    .refusals(metrics::refused);
            if (!isLoopback("admin bind", adminBind)) {
                secure(server);
            }
            return Optional.of(server);
        }

        private void secure(ServerBuilder server) {
            if (tlsCertificate != null && tlsKey != null) {
                server.tls(tlsCertificate, tlsKey);
                if (clientAuthorities != null) {
                    server.clientAuthorities(clientAuthorities);
                }
            }
        }

        /** The server on the port for everybody. */
        private ServerBuilder server(Trust trust, byte[] fileKey, Metrics metrics) {
            var settings = new DialectSettings(switches);
            ServerBuilder server = Server.builder(new Dialects(settings, fileKey))
                    .port(port)
                    .bindAddress(bind)
                    .maxBodyBytes(maxBodyBytes)
                    .corsOrigins(corsOrigins)
                    .allowedHosts(allowedHosts)
                    .grpc(settings)
                    .gracePeriod(drain)
                    .protectCards(protectCards)
                    .refusals(metrics::refused)
                    .handler(Trust.TOKEN_PATH, trust::token)
                    .handler(
                            Trust.RESOURCE_PATH,
                            request -> trust.metadata(request.at(Trust.RESOURCE_PATH + request.path())))
                    .handler(Trust.SERVER_PATH, request -> trust.metadata(request.at(Trust.SERVER_PATH)))
                    .handler(
                            KnowledgeEndpoint.EXTENSION_PATH,
                            Page.of("text/markdown; charset=utf-8", "knowledge-graph.md"))
                    .handler(
                            KnowledgeExtension.SCHEMA_PATH,
                            Page.of("application/schema+json", "knowledge-graph.schema.json"))
                    .handler("/ui/graph", Page.of("text/html; charset=utf-8", "graph.html"))
                    .handler("/ui/graph.js", Page.of("text/javascript; charset=utf-8", "graph.js"))
                    .handler("/ui/graph.css", Page.of("text/css; charset=utf-8", "graph.css"));
            if (cardKeys != null) {
                server.handler(CardKeys.PATH, new Page("application/jwk-set+json", cardKeys.published()));
            }
            String root = root();
            if (root != null) {
                if (!agents.containsKey(root)) {
                    throw new IllegalArgumentException("default agent: " + root + " (expected: one of "
                            + String.join(", ", agents.keySet()) + ")");
                }
                server.defaultAgent(root);
            }
            if (publicUrl != null) {
                server.publicUrl(publicUrl);
            }
            secure(server);
            return server;
        }
    }
}
