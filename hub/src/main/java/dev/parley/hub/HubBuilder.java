package dev.parley.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.ExtensionTable;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Engine;
import dev.parley.engine.TaskLimits;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.KnowledgeEndpoint;
import dev.parley.knowledge.api.KnowledgeExtension;
import dev.parley.knowledge.api.KnowledgeTokenVerifier;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.SecurityScheme;
import dev.parley.server.RequestHandler;
import dev.parley.server.Server;
import dev.parley.server.ServerBuilder;
import dev.parley.store.Sealing;
import dev.parley.store.Wrapper;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.CardKeys;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.Principal;
import dev.parley.trust.Trust;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Collects the settings of a {@link Hub}; holds the only copy of each default. */
public final class HubBuilder {
    final Map<String, Agent> agents = new LinkedHashMap<>();
    final List<AgentExtension> extensions = new ArrayList<>();
    final List<String> webhookAllow = new ArrayList<>();

    @Nullable
    Path data = Path.of(".parley");

    @Nullable
    String database;

    Wrapper connections = connection -> connection;

    TaskLimits taskLimits = TaskLimits.DEFAULTS;

    @Nullable
    Duration retention;

    @Nullable
    Sealing sealing;

    boolean encryptTasks;
    Duration drain = Duration.ofSeconds(10);

    @Nullable
    Graph graph;

    Set<String> dialects = Dialects.NAMES;
    boolean grpcOnCards;
    final Map<String, Set<String>> agentDialects = new LinkedHashMap<>();
    boolean protectCards;
    boolean auditsCalls;

    @Nullable
    KnowledgeTokenVerifier knowledgeTokens;

    @Nullable
    CardKeys cardKeys;

    @Nullable
    OpenTelemetry telemetry;

    private List<String> corsOrigins = List.of();
    private List<String> allowedHosts = List.of();
    private int port = 7420;
    private String bind = "127.0.0.1";
    private @Nullable Integer adminPort;
    private String adminBind = "127.0.0.1";
    private @Nullable String defaultAgent;
    private @Nullable String publicUrl;
    private long maxBodyBytes = 10L << 20;
    private int mostAgents = 8;
    private @Nullable Path tlsCertificate;
    private @Nullable Path tlsKey;
    private @Nullable Path clientAuthorities;
    private final Set<Switch> switches = EnumSet.noneOf(Switch.class);
    private Callers callers = Callers.builder().build();
    private Authentication authentication = Authentication.NONE;
    private final Map<String, Authentication> agentAuthentication = new LinkedHashMap<>();
    private String service = "parley";
    private @Nullable PolicyFile policy;
    private final List<String> issuers = new ArrayList<>();
    private final List<SecurityScheme.Flow> flows = new ArrayList<>();
    private String keyHeader = Trust.KEY_HEADER;
    private List<String> audiences = List.of();
    private @Nullable String groupClaim;

    HubBuilder() {}

    /** Adds agents; the first one added is the default one unless {@link #defaultAgent} names another. */
    public HubBuilder agents(Agent... more) {
        for (Agent agent : more) {
            if (agents.put(agent.name(), agent) != null) {
                throw new IllegalArgumentException(
                        "agent " + agent.name() + " is there twice (expected: one of each name)");
            }
        }
        return this;
    }

    /** Gives all agents these extensions, besides their own. */
    public HubBuilder extensions(Collection<AgentExtension> more) {
        extensions.addAll(more);
        return this;
    }

    /** The port; default 7420, 0 for any free one. */
    public HubBuilder port(int port) {
        this.port = port;
        return this;
    }

    /**
     * The address to listen at; default {@code 127.0.0.1}. Those that other machines reach need TLS and, for every agent,
     * authentication.
     */
    public HubBuilder bind(String address) {
        this.bind = requireNonNull(address, "address");
        return this;
    }

    /**
     * A separate port, the only one for operators and metrics, which closes last; 0 for any free one. Default: the port of all
     * callers.
     */
    public HubBuilder adminPort(int port) {
        this.adminPort = port;
        return this;
    }

    /**
     * The address of the port for operators; default {@code 127.0.0.1}. Those that other machines reach need what {@link
     * #bind} says, and are served with the hub's certificate; loopback addresses are served without TLS.
     */
    public HubBuilder adminBind(String address) {
        this.adminBind = requireNonNull(address, "address");
        return this;
    }

    /** The directory of everything that is kept; default {@code .parley} below the working directory. */
    public HubBuilder data(Path directory) {
        this.data = requireNonNull(directory, "directory");
        return this;
    }

    /**
     * A database of PostgreSQL instead of the one of SQLite in {@link #data}, which keeps its URL: later starts find it without this
     * setting. Its driver, {@code org.postgresql:postgresql}, has to be on the class path.
     *
     * @param url {@code postgresql://user:password@host:port/database}, with parameters of the driver
     */
    public HubBuilder database(String url) {
        this.database = requireNonNull(url, "url");
        return this;
    }

    /** Wraps the connections to the database in {@link #data}: for tests that have the disk fail. */
    HubBuilder connections(Wrapper wrapper) {
        this.connections = requireNonNull(wrapper, "wrapper");
        return this;
    }

    /** Keeps nothing: tasks are gone when the process is. */
    public HubBuilder inMemory() {
        this.data = null;
        return this;
    }

    /** The agent that also answers at the root; default: the first one added. */
    public HubBuilder defaultAgent(String name) {
        this.defaultAgent = requireNonNull(name, "name");
        return this;
    }

    /** Public URL of this hub, such as {@code https://agents.example.com}; default: address and port. */
    public HubBuilder publicUrl(String url) {
        this.publicUrl = requireNonNull(url, "url");
        return this;
    }

    /** Hosts that webhooks may call though they are private: names or addresses; default: none. */
    public HubBuilder webhookAllow(List<String> hosts) {
        webhookAllow.addAll(hosts);
        return this;
    }

    /** The largest request body, in bytes; default 10 MiB. */
    public HubBuilder maxBodyBytes(long maxBodyBytes) {
        this.maxBodyBytes = maxBodyBytes;
        return this;
    }

    /** Through how many agents a call may go, each of which asks the next: 1 to 100; default 8. */
    public HubBuilder mostAgents(int agents) {
        if (agents < 1 || agents > 100) {
            throw new IllegalArgumentException("max call depth: " + agents + " (expected: 1 to 100)");
        }
        this.mostAgents = agents;
        return this;
    }

    /** How long conversations and tasks may become; default {@link TaskLimits#DEFAULTS}. */
    public HubBuilder taskLimits(TaskLimits limits) {
        this.taskLimits = requireNonNull(limits, "limits");
        return this;
    }

    /** After what time tasks that have ended are removed; default: never. */
    public HubBuilder retention(Duration retention) {
        this.retention = requireNonNull(retention, "retention");
        return this;
    }

    /**
     * The keys with which webhooks are encrypted in the data directory, and tasks if {@link #encryptTasks} is set; default:
     * one that the hub makes for itself, in the file {@code encryption.key} of that directory.
     */
    public HubBuilder encryption(Sealing keys) {
        this.sealing = requireNonNull(keys, "keys");
        return this;
    }

    /** Encrypts what is said in tasks, too, before it is kept; default false. */
    public HubBuilder encryptTasks(boolean encrypt) {
        this.encryptTasks = encrypt;
        return this;
    }

    /** Origins of web pages that may call; default: none. */
    public HubBuilder corsOrigins(List<String> origins) {
        this.corsOrigins = List.copyOf(origins);
        return this;
    }

    /** Host names by which clients may call, as {@link ServerBuilder#allowedHosts}; default: none. */
    public HubBuilder allowedHosts(List<String> hosts) {
        this.allowedHosts = List.copyOf(hosts);
        return this;
    }

    /** Serves TLS with this certificate chain and key, both PEM; default: plain HTTP. */
    public HubBuilder tls(Path certificateChain, Path key) {
        this.tlsCertificate = requireNonNull(certificateChain, "certificateChain");
        this.tlsKey = requireNonNull(key, "key");
        return this;
    }

    /** Authorities of client certificates (PEM), for the scheme mutualTLS; default: none. */
    public HubBuilder clientAuthorities(Path authorities) {
        this.clientAuthorities = requireNonNull(authorities, "authorities");
        return this;
    }

    /** How long closing waits for what is running; default 10 s. */
    public HubBuilder drain(Duration drain) {
        this.drain = requireNonNull(drain, "drain");
        return this;
    }

    /** Refuses 1.0 requests that do not say their version; default false. */
    public HubBuilder strictVersionHeader(boolean strict) {
        return set(Switch.STRICT_VERSION_HEADER, strict);
    }

    /** Answers with the HTTP statuses of release 1.0.0 of the specification; default false: those of 1.0.1. */
    public HubBuilder statusesOf100(boolean old) {
        return set(Switch.STATUSES_OF_100, old);
    }

    /** Answers methods of older versions also to requests that ask for 1.0; default false. */
    public HubBuilder lenientMethods(boolean lenient) {
        return set(Switch.LENIENT_METHODS, lenient);
    }

    /** Reads messages as 0.3 spells them also under methods of 1.0; default false. */
    public HubBuilder lenientBodies(boolean lenient) {
        return set(Switch.LENIENT_BODIES, lenient);
    }

    /**
     * Answers reads and streams of a task that do not say their version, and may be of 0.1 or 0.3, so that clients of
     * both understand; default false: in 0.3, or in 0.1 if the task has a name that its caller gave it.
     */
    public HubBuilder mergedLegacyAnswers(boolean merged) {
        return set(Switch.MERGED_LEGACY_ANSWERS, merged);
    }

    private HubBuilder set(Switch one, boolean on) {
        if (on) {
            switches.add(one);
        } else {
            switches.remove(one);
        }
        return this;
    }

    /**
     * Answers errors of {@code knowledge/query} and {@code knowledge/update} with their HTTP status; default false: with
     * 200, the only status with which published clients of the extension read them.
     */
    public HubBuilder strictKnowledgeStatuses(boolean strict) {
        return set(Switch.STRICT_EXTENSION_STATUSES, strict);
    }

    /**
     * The knowledge graph of the agents that declare that they use one, which the hub then closes with itself; default:
     * one in the hub's own database, or in memory one that is gone with it.
     */
    public HubBuilder knowledge(Graph graph) {
        this.graph = requireNonNull(graph, "graph");
        return this;
    }

    /**
     * Lists the gRPC interface on cards, as host and port; default false. Clients of gRPC that find agents by their cards
     * need it; clients that check the URLs of cards, such as that of the Agent Development Kit, refuse a card with it. gRPC is
     * served in either case.
     */
    public HubBuilder grpcOnCards(boolean listed) {
        this.grpcOnCards = listed;
        return this;
    }

    /**
     * In which dialects the agents are served, out of {@link Dialects#NAMES}; default: all. With only {@code 1.0} the
     * cards have no members for older readers.
     *
     * @throws IllegalArgumentException if one is unknown, or there is none
     */
    public HubBuilder dialects(Collection<String> names) {
        this.dialects = known(names);
        return this;
    }

    /**
     * In which dialects one agent is served, instead of those for all.
     *
     * @throws IllegalArgumentException if one is unknown, or there is none
     */
    public HubBuilder dialects(String agent, Collection<String> names) {
        agentDialects.put(requireNonNull(agent, "agent"), known(names));
        return this;
    }

    /** Callers, for agents with authentication; default: none. */
    public HubBuilder callers(Callers callers) {
        this.callers = requireNonNull(callers, "callers");
        return this;
    }

    /** Authentication of callers; default: none. */
    public HubBuilder authentication(Authentication wanted) {
        this.authentication = requireNonNull(wanted, "wanted");
        return this;
    }

    /** Authentication of the callers of one agent, instead of that of all agents. */
    public HubBuilder authentication(String agent, Authentication wanted) {
        agentAuthentication.put(requireNonNull(agent, "agent"), requireNonNull(wanted, "wanted"));
        return this;
    }

    /** Takes tokens of an issuer besides the hub's own, as {@link Trust.Builder#issuer}. */
    public HubBuilder issuer(String url) {
        issuers.add(requireNonNull(url, "url"));
        return this;
    }

    /** The header that cards name for API keys, as {@link Trust.Builder#keyHeader}; default {@value Trust#KEY_HEADER}. */
    public HubBuilder apiKeyHeader(String name) {
        this.keyHeader = requireNonNull(name, "name");
        return this;
    }

    /**
     * One more OAuth 2 flow on the cards of agents that take tokens of an {@link #issuer}, as {@link Trust.Builder#flow}: with
     * {@link SecurityScheme.Flow.AuthorizationCode} or {@link SecurityScheme.Flow.DeviceCode}, users log in by {@code parley auth
     * login}.
     */
    public HubBuilder oauthFlow(SecurityScheme.Flow flow) {
        flows.add(requireNonNull(flow, "flow"));
        return this;
    }

    /** For whom tokens of other issuers have to be, any one of these; default: the address of the hub. */
    public HubBuilder audiences(Collection<String> audiences) {
        this.audiences = List.copyOf(audiences);
        return this;
    }

    /** Claim in tokens of other issuers that names the group of a caller; default: none. */
    public HubBuilder groupClaim(String claim) {
        this.groupClaim = requireNonNull(claim, "claim");
        return this;
    }

    /**
     * Policy of permissions and limits; default: callers may do everything with their own tasks. {@link #start} refuses a
     * policy that names an operation which neither the protocol nor an agent known by then has.
     */
    public HubBuilder policy(PolicyFile policy) {
        this.policy = requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Writes an audit row for every call of an agent: reads, calls answered by a message, own methods and questions to the knowledge
     * graph too. Default: only for what changes something, and for what was refused.
     */
    public HubBuilder auditCalls(boolean all) {
        this.auditsCalls = all;
        return this;
    }

    /** Verifies tokens in the metadata of knowledge operations; default: they are dropped without a look at them. */
    public HubBuilder knowledgeTokens(KnowledgeTokenVerifier verifier) {
        this.knowledgeTokens = verifier;
        return this;
    }

    /** Shows cards only to callers of the agent; default: to all clients. */
    public HubBuilder protectCards(boolean protect) {
        this.protectCards = protect;
        return this;
    }

    /** Under which name clients of AgentVault keep their keys for this hub; default {@code parley}. */
    public HubBuilder service(String service) {
        this.service = requireNonNull(service, "service");
        return this;
    }

    /** Signs the cards of all agents, and publishes the keys at {@value CardKeys#PATH}; default: cards are not signed. */
    public HubBuilder cardKeys(CardKeys keys) {
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
     * Receives spans of calls, runs of agents and webhooks; its owner closes it. Default: the instance that the process has set as
     * {@link GlobalOpenTelemetry}, else none.
     */
    public HubBuilder openTelemetry(OpenTelemetry telemetry) {
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
    boolean authenticates() {
        return Stream.concat(Stream.of(authentication), agentAuthentication.values().stream())
                .anyMatch(wanted -> !wanted.equals(Authentication.NONE));
    }

    @Nullable
    String bootstrapKey(@Nullable Administration administration) {
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

    void refuseOpenBinding() {
        refuseOpenBinding("bind", bind);
        if (adminPort != null) {
            refuseOpenBinding("admin bind", adminBind);
        }
    }

    void refuseOpenBinding(String name, String address) {
        if (isLoopback(name, address)) {
            return;
        }
        if (authentication.isOpen() || agentAuthentication.values().stream().anyMatch(Authentication::isOpen)) {
            throw new IllegalArgumentException(name + ": " + address
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

    Trust trust(@Nullable Administration administration, byte[] tokenKey, Supplier<String> url) {
        Trust.Builder trust = Trust.builder(callers, administration == null ? null : administration.directory())
                .everywhere(authentication)
                .service(service)
                .mostAgents(mostAgents)
                .tokenKey(tokenKey)
                .hub(url);
        agentAuthentication.forEach(trust::agent);
        issuers.forEach(trust::issuer);
        flows.forEach(trust::flow);
        trust.keyHeader(keyHeader);
        trust.audiences(audiences);
        if (groupClaim != null) {
            trust.groupClaim(groupClaim);
        }
        if (policy != null) {
            policy.requireOperations(methods());
            trust.policy(policy);
        }
        if (administration != null) {
            trust.audit(administration.audit());
        }
        return trust.build();
    }

    /** Names of the methods that agents have besides the operations of the protocol. */
    private Set<String> methods() {
        var names = new HashSet<String>();
        names.add(TaskCredentials.METHOD);
        names.addAll(AdminOperations.names());
        names.addAll(ExtensionTable.installed().names());
        agents.values().forEach(agent -> names.addAll(agent.methods().keySet()));
        var all = new ArrayList<>(extensions);
        agents.values().forEach(agent -> all.addAll(agent.extensions()));
        for (AgentExtension extension : all) {
            names.addAll(extension.methods().keySet());
            names.addAll(extension.handlers().keySet());
        }
        return names;
    }

    private static RequestHandler forScrapers(Trust trust, RequestHandler handler) {
        return (request, body) -> {
            trust.require(Trust.METRICS, request.arrival());
            return handler.answer(request, body);
        };
    }

    private static RequestHandler forOperators(Trust trust, AdminApi api) {
        return (request, body) -> {
            CallContext operator = trust.requireAdmin(request.arrival());
            return api.answer(request.at(AdminOperations.PATH + request.path()).with(body.read()), operator);
        };
    }

    @Nullable
    String root() {
        return defaultAgent == null ? agents.keySet().stream().findFirst().orElse(null) : defaultAgent;
    }

    /** Operations for operators. */
    AdminApi adminApi(
            Engine engine,
            WebhookSecrets secrets,
            @Nullable Administration administration,
            SharedGraph graph,
            UnaryOperator<AgentEndpoint> recorded,
            UnaryOperator<AgentEndpoint> before) {
        var handlers = new ArrayList<Map<String, AdminHandler>>();
        var webhooks = requireNonNull(engine.deliveries().orElse(null));
        handlers.add(new DeadWebhooks(webhooks, secrets).handlers());
        handlers.add(new UnreadableTasks(engine).handlers());
        handlers.add(new KnowledgePages(graph).handlers());
        handlers.add(new PrivacyPages(engine, graph, administration).handlers());
        if (administration != null) {
            handlers.addAll(administration.handlers());
        }
        return AdminApi.of(handlers, recorded, before);
    }

    /** Adds the addresses for operators and metrics. */
    static void operate(ServerBuilder server, Trust trust, AdminApi api, Metrics metrics) {
        server.handler("/metrics", forScrapers(trust, metrics)).handler(AdminOperations.PATH, forOperators(trust, api));
    }

    /** The server on the port for operators; empty if they have none of their own. */
    Optional<ServerBuilder> adminServer(Metrics metrics) {
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

    /** The server on the main port. */
    ServerBuilder server(Trust trust, byte[] fileKey, Metrics metrics) {
        var settings = new DialectSettings(switches);
        ServerBuilder server = Server.builder(new Dialects(settings, fileKey, trust::isWelcome))
                .port(port)
                .bindAddress(bind)
                .maxBodyBytes(maxBodyBytes)
                .corsOrigins(corsOrigins)
                .allowedHosts(allowedHosts)
                .grpc(settings)
                .gracePeriod(drain)
                .protectCards(protectCards)
                .refusals(metrics::refused)
                .handler(
                        Trust.TOKEN_PATH, (request, body) -> trust.token(request.with(body.read(Trust.MAX_FORM_BYTES))))
                .handler(
                        Trust.RESOURCE_PATH,
                        (request, body) -> trust.metadata(request.at(Trust.RESOURCE_PATH + request.path())))
                .handler(Trust.SERVER_PATH, (request, body) -> trust.metadata(request.at(Trust.SERVER_PATH)))
                .handler(
                        KnowledgeEndpoint.EXTENSION_PATH, Page.of("text/markdown; charset=utf-8", "knowledge-graph.md"))
                .handler(
                        KnowledgeExtension.SCHEMA_PATH,
                        Page.of("application/schema+json", "knowledge-graph.schema.json"))
                .handler("/ui/graph", Page.of("text/html; charset=utf-8", "graph.html"))
                .handler("/ui/graph.js", Page.of("text/javascript; charset=utf-8", "graph.js"))
                .handler("/ui/graph.css", Page.of("text/css; charset=utf-8", "graph.css"))
                .handler(HomePage.STYLE, Page.of("text/css; charset=utf-8", "home.css"));
        if (cardKeys != null) {
            server.handler(CardKeys.PATH, new Page("application/jwk-set+json", cardKeys.published()));
        }
        String root = root();
        if (root != null) {
            if (!agents.containsKey(root)) {
                throw new IllegalArgumentException(
                        "default agent: " + root + " (expected: one of " + String.join(", ", agents.keySet()) + ")");
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
