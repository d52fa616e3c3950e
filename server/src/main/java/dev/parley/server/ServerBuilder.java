package dev.parley.server;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.DialectSettings;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.server.limits.Proxies;
import dev.parley.server.wire.Cors;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link Server}. The defaults stand in {@link ServerSettings} and in the fields here. */
public final class ServerBuilder {
    final Dialects dialects;
    int port = ServerSettings.DEFAULTS.port();
    String bindAddress = ServerSettings.DEFAULTS.bind();

    @Nullable
    String publicUrl;

    @Nullable
    String defaultAgent;

    long maxBodyBytes = ServerSettings.DEFAULTS.maxBodyBytes();
    int maxRequestLineBytes = 8 * 1024;
    int maxHeaderBytes = 16 * 1024;
    int maxConnections = 16_384;
    int maxStreams = 10_000;
    Duration keepAlive = Duration.ofSeconds(15);
    Duration gracePeriod = ServerSettings.DEFAULTS.drain();
    Duration headerTimeout = Duration.ofSeconds(10);
    Duration bodyTimeout = Duration.ofSeconds(60);
    Duration idleTimeout = Duration.ofMinutes(2);
    Duration writeTimeout = Duration.ofSeconds(60);
    Proxies proxies = Proxies.NONE;
    List<String> corsOrigins = List.of();
    List<String> allowedHosts = List.of();

    @Nullable
    TlsIdentity tls;

    @Nullable
    Path clientAuthorities;

    @Nullable
    DialectSettings grpc;

    Authenticator authenticator = (agent, arrival) -> AuthenticationResult.of(CallContext.anonymous());
    boolean protectCards;
    boolean forThisMachine;
    Supplier<Optional<String>> ended = Optional::empty;
    Supplier<Optional<String>> obstacle = Optional::empty;
    Function<String, Optional<A2AException>> absent = name -> Optional.empty();
    Supplier<Optional<String>> readinessTest = Optional::empty;
    Supplier<Map<String, String>> partsDown = Map::of;
    IntConsumer refusals = status -> {};
    final Map<String, RequestHandler> handlers = new LinkedHashMap<>();
    final Map<String, RequestRouter.Front> fronts = new LinkedHashMap<>();

    @Nullable
    RequestHandler home;

    ServerBuilder(Dialects dialects) {
        this.dialects = requireNonNull(dialects, "dialects");
    }

    /** Takes all of these settings. */
    public ServerBuilder settings(ServerSettings settings) {
        this.port = settings.port();
        this.bindAddress = settings.bind();
        this.maxBodyBytes = positive("maxBodyBytes", settings.maxBodyBytes());
        this.corsOrigins = settings.corsOrigins();
        this.allowedHosts = settings.allowedHosts();
        this.gracePeriod = settings.drain();
        if (settings.publicUrl() != null) {
            publicUrl(settings.publicUrl().toString());
        }
        return proxied(settings).secured(settings);
    }

    /** Takes the proxies of these settings, and nothing else. */
    public ServerBuilder proxied(ServerSettings settings) {
        this.proxies = settings.proxies();
        return this;
    }

    /** Takes the certificates of these settings, and nothing else. */
    public ServerBuilder secured(ServerSettings settings) {
        if (settings.tlsCertificate() != null && settings.tlsKey() != null) {
            tls(settings.tlsCertificate(), settings.tlsKey());
            this.clientAuthorities = settings.clientAuthorities();
        }
        return this;
    }

    /** The port to bind, 0 for any free one. Default 7420. */
    public ServerBuilder port(int port) {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port: " + port + " (expected: 0 to 65535)");
        }
        this.port = port;
        return this;
    }

    /** The address or host name to bind. Default {@code 127.0.0.1}. */
    public ServerBuilder bindAddress(String bindAddress) {
        this.bindAddress = requireNonNull(bindAddress, "bindAddress");
        return this;
    }

    /**
     * Base URL of the server for clients, such as {@code https://agents.example.com}. Default: the bound address. The
     * {@code Host} header is never used for this, because the sender of a request chooses it.
     */
    public ServerBuilder publicUrl(String publicUrl) {
        this.publicUrl = publicUrl.endsWith("/") ? publicUrl.substring(0, publicUrl.length() - 1) : publicUrl;
        return this;
    }

    /** Whether a {@link #mount} refuses clients on other machines; a server of its own has its {@link #bindAddress}. Default: false. */
    public ServerBuilder forThisMachine(boolean isForThisMachine) {
        this.forThisMachine = isForThisMachine;
        return this;
    }

    /** The agent that also answers at the root. Default: none. */
    public ServerBuilder defaultAgent(String defaultAgent) {
        this.defaultAgent = requireNonNull(defaultAgent, "defaultAgent");
        return this;
    }

    /** The largest request body; larger ones are answered with 413. Default 10 MiB. */
    public ServerBuilder maxBodyBytes(long maxBodyBytes) {
        this.maxBodyBytes = positive("maxBodyBytes", maxBodyBytes);
        return this;
    }

    /** The longest request line. Default 8 KiB. */
    public ServerBuilder maxRequestLineBytes(int maxRequestLineBytes) {
        this.maxRequestLineBytes = (int) positive("maxRequestLineBytes", maxRequestLineBytes);
        return this;
    }

    /** The most that all headers of a request may need together. Default 16 KiB. */
    public ServerBuilder maxHeaderBytes(int maxHeaderBytes) {
        this.maxHeaderBytes = (int) positive("maxHeaderBytes", maxHeaderBytes);
        return this;
    }

    /** Limit of open connections; further ones wait to be accepted. Default 16,384. */
    public ServerBuilder maxConnections(int maxConnections) {
        this.maxConnections = (int) positive("maxConnections", maxConnections);
        return this;
    }

    /** Limit of open event streams; further ones are answered with 503. Default 10,000. */
    public ServerBuilder maxStreams(int maxStreams) {
        this.maxStreams = (int) positive("maxStreams", maxStreams);
        return this;
    }

    /** Time after which a comment is sent on a silent stream. Default 15 s. */
    public ServerBuilder keepAlive(Duration keepAlive) {
        this.keepAlive = positive("keepAlive", keepAlive);
        return this;
    }

    /** Time that {@link Server#close()} waits for running requests. Default 10 s. */
    public ServerBuilder gracePeriod(Duration gracePeriod) {
        this.gracePeriod = requireNonNull(gracePeriod, "gracePeriod");
        return this;
    }

    /** Time limit from the first byte of a request, or from connecting, to the end of its headers. Default 10 s. */
    public ServerBuilder headerTimeout(Duration headerTimeout) {
        this.headerTimeout = positive("headerTimeout", headerTimeout);
        return this;
    }

    /** Time limit for sending a body. Default 60 s. */
    public ServerBuilder bodyTimeout(Duration bodyTimeout) {
        this.bodyTimeout = positive("bodyTimeout", bodyTimeout);
        return this;
    }

    /** Time after which a connection without a request is closed. Default 2 min. */
    public ServerBuilder idleTimeout(Duration idleTimeout) {
        this.idleTimeout = positive("idleTimeout", idleTimeout);
        return this;
    }

    /** Time limit of one write to a client that does not read; then the connection is closed. Default 60 s. */
    public ServerBuilder writeTimeout(Duration writeTimeout) {
        this.writeTimeout = positive("writeTimeout", writeTimeout);
        return this;
    }

    /**
     * The origins whose pages may call, such as {@code https://app.example.com}; {@code *} means any, then without
     * credentials. Default: none.
     */
    public ServerBuilder corsOrigins(List<String> corsOrigins) {
        this.corsOrigins = List.copyOf(corsOrigins);
        return this;
    }

    /**
     * Host names by which clients may call, besides those of this machine, of the public URL, and of agents below these.
     * Default: none; on addresses other than loopback then any, because pages of strangers cannot use those.
     */
    public ServerBuilder allowedHosts(List<String> allowedHosts) {
        this.allowedHosts = List.copyOf(allowedHosts);
        return this;
    }

    /**
     * Serves TLS 1.2 and 1.3 with a certificate and its chain, and its unencrypted PKCS #8 key, both in PEM. New
     * ones in the same files are taken over at once. Default: no TLS.
     *
     * @throws IllegalArgumentException if the files cannot be read or do not hold that
     */
    public ServerBuilder tls(Path certificateChain, Path privateKey) {
        this.tls = TlsIdentity.pem(certificateChain, privateKey);
        return this;
    }

    /**
     * Serves TLS 1.2 and 1.3 with the one key in a PKCS #12 file.
     *
     * @throws IllegalArgumentException if the file cannot be read or does not hold that
     */
    public ServerBuilder tls(Path pkcs12, char[] password) {
        this.tls = TlsIdentity.pkcs12(pkcs12, password);
        return this;
    }

    /**
     * Accepts client certificates that one of these authorities has signed; others are refused, and clients without a
     * certificate are served as before. Requires TLS. Default: clients are not asked for certificates.
     *
     * @param authorities certificates in PEM
     */
    public ServerBuilder clientAuthorities(Path authorities) {
        this.clientAuthorities = requireNonNull(authorities, "authorities");
        return this;
    }

    /**
     * Also answers calls of gRPC, on the same port: agents are named by {@code tenant}, else by metadata or host name,
     * and without a name it is the default agent. Default: not.
     */
    public ServerBuilder grpc(DialectSettings settings) {
        this.grpc = requireNonNull(settings, "settings");
        return this;
    }

    /** Authenticates callers of agents. Default: all clients may call, as the same caller. */
    public ServerBuilder authenticator(Authenticator authenticator) {
        this.authenticator = requireNonNull(authenticator, "authenticator");
        return this;
    }

    /** Shows cards only to callers of the agent. Default: to all clients. */
    public ServerBuilder protectCards(boolean protectCards) {
        this.protectCards = protectCards;
        return this;
    }

    /**
     * Reason for which the server is not ready, besides draining; empty if it is ready. {@code /ready} shows the reason, and the
     * health check of gRPC reports it. While there is one, a call of an unknown agent is answered as unavailable. The supplier must be
     * quick. Default: always ready.
     */
    public ServerBuilder readiness(Supplier<Optional<String>> obstacle) {
        this.obstacle = requireNonNull(obstacle, "obstacle");
        return this;
    }

    /**
     * Reason for which the service has ended for good while its port stays open; empty before. From then on {@code /ready}
     * shows the reason, {@code /health} answers as before, and all other requests are refused as unavailable, running ones too.
     * {@link Site#endStreams} ends streams. The supplier must be quick. Default: never.
     */
    public ServerBuilder ended(Supplier<Optional<String>> reason) {
        this.ended = requireNonNull(reason, "reason");
        return this;
    }

    /**
     * Reason for which an agent that is not hosted will be, such as a remote one that does not answer yet; empty for other names. Calls of
     * it are refused with the reason. Default: none.
     */
    public ServerBuilder absent(Function<String, Optional<A2AException>> reason) {
        this.absent = requireNonNull(reason, "reason");
        return this;
    }

    /**
     * Test of the server, run on the thread of each {@code /ready} and each health check of gRPC unless there is an {@linkplain
     * #readiness obstacle}; returns why the server is not ready, or empty. May wait for some seconds. Default: none.
     */
    public ServerBuilder readinessTest(Supplier<Optional<String>> test) {
        this.readinessTest = requireNonNull(test, "test");
        return this;
    }

    /**
     * Parts that are down while the server serves all others, with their reasons; {@code /ready} lists them. The supplier must be quick.
     * Default: none.
     */
    public ServerBuilder partsDown(Supplier<Map<String, String>> parts) {
        this.partsDown = requireNonNull(parts, "parts");
        return this;
    }

    /**
     * Receives the HTTP status of each request that is refused before it reaches an agent; for a call of gRPC, the
     * equivalent HTTP status. Must be quick. Default: none.
     */
    public ServerBuilder refusals(IntConsumer refusals) {
        this.refusals = requireNonNull(refusals, "refusals");
        return this;
    }

    /**
     * Lets {@code handler} answer at {@code path} and below, also while the server drains. The longest path wins; all of them
     * win over the default agent.
     *
     * @param path beginning with a slash and not ending with one
     */
    public ServerBuilder handler(String path, RequestHandler handler) {
        requirePath(path);
        handlers.put(path, requireNonNull(handler, "handler"));
        return this;
    }

    /**
     * Lets an agent answer at {@code path} and below, too. The longest path wins; handlers, agents by their names, and the server's own
     * paths win over all of them.
     *
     * @param path beginning with a slash and not ending with one
     * @throws IllegalArgumentException if another agent has the path
     */
    public ServerBuilder alias(String path, String agent) {
        return front(path, new RequestRouter.Front(agent, null));
    }

    /**
     * Lets an agent answer the requests of a protocol at {@code path} and below. The longest path wins, and such paths win over agents
     * that answer at shorter ones.
     *
     * @param path beginning with a slash and not ending with one; {@code /agents/{agent}/name} stands for the path below the address of each
     *     agent, whose callers that agent admits
     * @throws IllegalArgumentException if the path is taken, or the server never asks for it
     */
    public ServerBuilder face(String path, String agent, WireFace face) {
        return front(path, new RequestRouter.Front(agent, requireNonNull(face, "face")));
    }

    private ServerBuilder front(String path, RequestRouter.Front front) {
        requirePath(path);
        RequestRouter.Front taken = fronts.putIfAbsent(path, front);
        if (taken != null && !taken.equals(front)) {
            throw new IllegalArgumentException("path: " + path + " for agent \"" + front.agent()
                    + "\" (expected: another, this one is of \"" + taken.agent() + "\")");
        }
        return this;
    }

    /** Refuses protocols at paths where requests never reach them. */
    private void requireReachableFaces() {
        fronts.forEach((path, front) -> Stream.concat(RequestRouter.OWN_PATHS.stream(), handlers.keySet().stream())
                .filter(own -> front.face() != null && !path.startsWith(RequestRouter.OF_AGENTS + "/"))
                .filter(own -> path.equals(own) || path.startsWith(own + "/"))
                .findFirst()
                .ifPresent(own -> {
                    throw new IllegalArgumentException("path: " + path + " for agent \"" + front.agent()
                            + "\" (expected: another, the server answers at " + own + ")");
                }));
    }

    private static void requirePath(String path) {
        if (path.length() < 2 || !path.startsWith("/") || path.endsWith("/")) {
            throw new IllegalArgumentException("path: " + path + " (expected: /name)");
        }
    }

    /**
     * Answers {@code GET /}, unless the client accepts JSON by its name and no {@code text/html}. All other requests go to the default
     * agent. Default: these, too.
     */
    public ServerBuilder home(RequestHandler home) {
        this.home = requireNonNull(home, "home");
        return this;
    }

    /**
     * Opens the port and serves.
     *
     * @throws java.io.UncheckedIOException if the address cannot be bound
     */
    public Server start() {
        return HttpServer.start(this);
    }

    /**
     * Serves without a port of its own: requests are handed to the result. Needs the {@link #publicUrl}; settings of ports, TLS,
     * connections and gRPC are not used.
     */
    public Mount mount() {
        return new MountedSite(this);
    }

    RequestRouter routes(AgentDirectory agents, BooleanSupplier draining) {
        requireReachableFaces();
        return new RequestRouter(
                dialects,
                agents,
                new RequestRouter.Access(authenticator, protectCards),
                new RequestRouter.Targets(handlers, fronts, home),
                new RequestRouter.Condition(ended, obstacle, readinessTest, partsDown, draining),
                absent,
                refusals);
    }

    /** @param reachable whether other machines can call */
    BrowserRule browsers(Cors cors, boolean reachable) {
        return new BrowserRule(cors, allowedHosts, bindAddress, publicHost(), reachable);
    }

    @Nullable
    String publicHost() {
        return publicUrl == null ? null : URI.create(publicUrl).getHost();
    }

    /** The settings in their order, for people to read. */
    @Override
    public String toString() {
        return "port=" + port + " bindAddress=" + bindAddress + " publicUrl=" + publicUrl + " defaultAgent="
                + defaultAgent + " maxBodyBytes=" + maxBodyBytes + " maxRequestLineBytes=" + maxRequestLineBytes
                + " maxHeaderBytes=" + maxHeaderBytes + " maxConnections=" + maxConnections + " maxStreams="
                + maxStreams
                + " keepAlive=" + keepAlive + " gracePeriod=" + gracePeriod + " headerTimeout=" + headerTimeout
                + " bodyTimeout=" + bodyTimeout + " idleTimeout=" + idleTimeout + " writeTimeout=" + writeTimeout
                + " corsOrigins=" + corsOrigins + " allowedHosts=" + allowedHosts + " tls=" + (tls != null) + " grpc="
                + (grpc != null);
    }

    private static long positive(String name, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
        }
        return value;
    }

    private static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: > 0)");
        }
        return value;
    }
}
