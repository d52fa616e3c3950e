package dev.parley.hub;

import static dev.parley.trust.ResourceMetadata.AUTHORIZE_PATH;
import static dev.parley.trust.ResourceMetadata.REGISTER_PATH;
import static dev.parley.trust.ResourceMetadata.SERVER_PATH;
import static dev.parley.trust.ResourceMetadata.TOKEN_PATH;
import static java.util.Objects.requireNonNullElse;
import static java.util.Objects.requireNonNullElseGet;

import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.Dialects;
import dev.parley.dialect.served.ExtensionTable;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.AdminRow;
import dev.parley.extension.AuthorizeTask;
import dev.parley.extension.HubExtensionSource;
import dev.parley.hub.admin.AdminApi;
import dev.parley.hub.admin.AdminOperations;
import dev.parley.hub.admin.Administration;
import dev.parley.hub.admin.Hubs;
import dev.parley.hub.admin.SettingOperation.SettingView;
import dev.parley.hub.extensions.HubExtensions;
import dev.parley.hub.observation.Metrics;
import dev.parley.hub.pages.StaticPage;
import dev.parley.hub.secrets.SecretDirectory;
import dev.parley.hub.secrets.SecretFile;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.support.Loopback;
import dev.parley.server.RequestHandler;
import dev.parley.server.Server;
import dev.parley.server.ServerBuilder;
import dev.parley.server.ServerSettings;
import dev.parley.store.database.Database;
import dev.parley.store.encryption.EncryptionAtRest;
import dev.parley.store.encryption.ValueCipher;
import dev.parley.store.spi.Registration;
import dev.parley.store.spi.Registration.Sharing;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import dev.parley.trust.Directory.Actor;
import dev.parley.trust.PolicyFile;
import dev.parley.trust.Principal;
import dev.parley.trust.ResourceMetadata;
import dev.parley.trust.Trust;
import dev.parley.trust.TrustBuilder;
import dev.parley.trust.TrustSettings;
import dev.parley.trust.cards.CardKeys;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The parts of a hub as its builder and its settings describe them. */
final class Setup {
    final BuilderObjects given;
    final HubSettings settings;
    /** The settings with their sources, as operators see them. */
    final List<SettingView> shown;

    private final List<HubExtensionSource> extensions;
    private final Callers callers;
    private final Authentication authentication;
    private final Map<String, Authentication> agentAuthentication;
    private final @Nullable PolicyFile policy;
    /** Why the hub serves nothing before it has its database. */
    private volatile String obstacle = "the hub starts";

    /** @param own extensions of the builder, with their settings */
    Setup(BuilderObjects given, HubSettings settings, List<HubExtensionSource> own, List<SettingView> shown) {
        this.given = given;
        this.settings = settings;
        this.shown = shown;
        this.extensions = HubExtensions.replaced(settings.extensions(), own);
        TrustSettings trust = settings.trust();
        this.callers = requireNonNullElseGet(given.callers, () -> callers(trust.callers()));
        this.authentication = requireNonNullElse(given.authentication, trust.authentication());
        this.agentAuthentication = new LinkedHashMap<>(trust.ofAgents());
        agentAuthentication.putAll(given.agentAuthentication);
        this.policy = given.policy != null || trust.policy() == null ? given.policy : PolicyFile.read(trust.policy());
        requireProtectionBehindProxy();
    }

    private static Callers callers(@Nullable Path file) {
        Callers.Builder callers = Callers.builder();
        return (file == null ? callers : callers.file(file)).build();
    }

    /** Extensions with parts of their own. */
    List<HubExtensionSource> extensions() {
        return extensions;
    }

    /** The data directory; null if nothing is kept. */
    @Nullable
    Path data() {
        return settings.store().inMemory() ? null : settings.store().data();
    }

    /** The directory with the secrets of this hub, whose data directory is {@code data}. */
    SecretDirectory secrets(Path data) {
        Path mounted = settings.store().secrets();
        return mounted == null ? SecretDirectory.data(data) : SecretDirectory.mounted(mounted);
    }

    /** The keys of encryption that were given; null if the key is in the directory of the secrets. */
    @Nullable
    ValueCipher keys() {
        try {
            return given.encryption == null ? settings.store().encryption() : given.encryption;
        } catch (IOException failure) {
            throw new UncheckedIOException("cannot read " + settings.store().encryptionKeyFile(), failure);
        }
    }

    /** Encryption by {@code keys}, or by the key in {@code secrets}, of the secrets in the database, and of tasks if so set. */
    EncryptionAtRest encryption(SecretDirectory secrets, @Nullable ValueCipher keys) {
        ValueCipher cipher =
                keys == null ? ValueCipher.of(List.of(secrets.get(SecretFile.ENCRYPTION, ValueCipher::newKey))) : keys;
        return new EncryptionAtRest(cipher, settings.store().encryptTasks());
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
                || callers.anyWith(Principal.ADMIN)
                || administration.directory().anyWith(Principal.ADMIN)) {
            return null;
        }
        return administration
                .directory()
                .createKey(Principal.DEFAULT_GROUP, "admin", List.of(Principal.ADMIN), null, Actor.OPERATOR)
                .secret();
    }

    /**
     * Whether only users of this machine call the hub, who reach its other servers without the hub: it listens on loopback, requires no
     * credentials, and has no name or web origin by which a proxy or a page makes calls of others.
     */
    boolean isLocal() {
        ServerSettings server = settings.server();
        return isLoopback("bind", server.bind())
                && !authenticates()
                && server.publicUrl() == null
                && server.allowedHosts().stream().allMatch(Loopback::is)
                && server.corsOrigins().stream().allMatch(Setup::isOfLoopback);
    }

    private static boolean isOfLoopback(String origin) {
        try {
            String host = URI.create(origin).getHost();
            return host != null && Loopback.is(host);
        } catch (IllegalArgumentException any) {
            return false;
        }
    }

    /** @throws IllegalArgumentException if the hub is behind a proxy, and credentials are not required, or could be read in front of it */
    private void requireProtectionBehindProxy() {
        ServerSettings server = settings.server();
        if (!server.behindProxy()) {
            return;
        }
        if (isOpen()) {
            throw new IllegalArgumentException(
                    "behind-proxy: without authentication (expected: authentication for every agent, such as --auth required)");
        }
        URI url = server.publicUrl();
        if (url == null || !"https".equalsIgnoreCase(url.getScheme()) && !Loopback.is(String.valueOf(url.getHost()))) {
            throw new IllegalArgumentException(
                    "behind-proxy: " + (url == null ? "without public-url" : "public-url " + url)
                            + " (expected: the https URL at which the proxy serves the hub)");
        }
    }

    /** Whether an agent answers callers without credentials. */
    boolean isOpen() {
        return authentication.isOpen() || agentAuthentication.values().stream().anyMatch(Authentication::isOpen);
    }

    /** @throws IllegalArgumentException if callers would be authenticated by a container, which a hub with a port has not */
    void refuseContainer() {
        if (Stream.concat(Stream.of(authentication), agentAuthentication.values().stream())
                .anyMatch(wanted -> wanted.schemes().contains(Authentication.Scheme.CONTAINER))) {
            throw new IllegalArgumentException(
                    "auth: container (expected: other schemes, because callers of a port have no container)");
        }
    }

    void refuseOpenBinding() {
        refuseOpenBinding("bind", settings.server().bind());
        if (settings.adminPort() != null) {
            refuseOpenBinding("admin bind", settings.adminBind());
        }
    }

    private void refuseOpenBinding(String name, String address) {
        if (isLoopback(name, address)) {
            return;
        }
        if (isOpen()) {
            throw new IllegalArgumentException(name + ": " + address
                    + " (expected: a loopback address such as 127.0.0.1, or authentication for every agent, and TLS or"
                    + " --behind-proxy)");
        }
        if (settings.server().tlsCertificate() == null && !settings.server().behindProxy()) {
            throw new IllegalArgumentException(name + ": " + address
                    + " (expected: a loopback address such as 127.0.0.1, or TLS, because without TLS credentials are"
                    + " readable on the network, or --behind-proxy if a proxy ends TLS)");
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
        TrustBuilder trust = Trust.builder(callers, administration == null ? null : administration.directory())
                .settings(settings.trust())
                .allowedHosts(settings.webhookAllow())
                .everywhere(authentication)
                .tokenKey(tokenKey)
                .hub(url)
                .namesMetadata(settings.dialect().has(Switch.PREVIEW_1_1));
        agentAuthentication.forEach(trust::agent);
        given.flows.forEach(trust::flow);
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
        names.add(AuthorizeTask.NAME);
        names.addAll(AdminOperations.names());
        extensions.forEach(extension -> {
            extension.administration().forEach(row -> names.add(row.name()));
            names.addAll(extension.operations());
        });
        names.addAll(ExtensionTable.installed().names());
        given.agents.values().forEach(agent -> names.addAll(agent.methods().keySet()));
        var all = new ArrayList<>(given.extensions);
        given.agents.values().forEach(agent -> all.addAll(agent.extensions()));
        for (AgentExtension extension : all) {
            names.addAll(extension.methods().keySet());
            names.addAll(extension.handlers().keySet());
        }
        return names;
    }

    /** Refuses paths below one. */
    private static WireRequest ofPage(WireRequest request) {
        if (!request.path().isEmpty()) {
            throw A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
        }
        return request;
    }

    private static RequestHandler forScrapers(Trust trust, RequestHandler handler) {
        return (request, body) -> {
            trust.require(Principal.METRICS, request.arrival());
            return handler.answer(request, body);
        };
    }

    private static RequestHandler forOperators(Trust trust, AdminApi api) {
        return (request, body) -> {
            CallContext operator = AdminRow.isOfGroups(request.path())
                    ? trust.requireGroupAdmin(request.arrival())
                    : trust.requireAdmin(request.arrival());
            return api.answer(request.at(AdminOperations.PATH + request.path()).with(body.read()), operator);
        };
    }

    @Nullable
    String root() {
        return given.defaultAgent == null
                ? given.agents.keySet().stream().findFirst().orElse(null)
                : given.defaultAgent;
    }

    /** Adds the addresses for operators and metrics. */
    static void operate(ServerBuilder server, Trust trust, AdminApi api, Metrics metrics) {
        server.handler("/metrics", forScrapers(trust, metrics)).handler(AdminOperations.PATH, forOperators(trust, api));
    }

    /** Port of a server: in place of any free one that of the hub which this one replaces. */
    private int port(int wanted, ToIntFunction<Predecessor> before) {
        Predecessor replaced = given.replaced;
        return wanted == 0 && replaced != null ? before.applyAsInt(replaced) : wanted;
    }

    /** Opens the ports of a hub that may have to wait for its database: all but {@code /health} is refused. */
    void waitForTurn() {
        if (!settings.store().cluster() || given.replaced != null) {
            return;
        }
        Supplier<Optional<String>> reason = () -> Optional.of(obstacle);
        var opened = new ArrayList<Server>();
        opened.add(site(new Dialects(settings.dialect())).ended(reason).start());
        try {
            adminSite().ifPresent(admin -> opened.add(admin.ended(reason).start()));
        } catch (RuntimeException | Error failure) {
            opened.forEach(Server::close);
            throw failure;
        }
        given.replaced = new Predecessor(
                null,
                0,
                opened.getFirst().port(),
                opened.getLast().port(),
                0,
                () -> {},
                () -> opened.forEach(Server::close));
    }

    /**
     * What the hub tells of itself in its database.
     *
     * @param hosted names of the agents that it hosts by now
     */
    Registration registration(Supplier<Set<String>> hosted) {
        Predecessor before = given.replaced;
        return new Registration(
                Hubs.version(),
                () -> Stream.concat(given.agents.keySet().stream(), hosted.get().stream())
                        .distinct()
                        .sorted()
                        .toList(),
                sharing(),
                before == null ? 0 : before.number(),
                this::waitsFor);
    }

    private Sharing sharing() {
        if (!settings.store().cluster()) {
            return Sharing.NONE;
        }
        return extensions.stream().allMatch(HubExtensionSource::sharesDatabase) ? Sharing.AT_ONCE : Sharing.IN_TURNS;
    }

    /** The hub waits for another one. */
    private void waitsFor(String working) {
        obstacle = "hub " + working + " works with the database, and this one waits until it ends";
        given.waits.accept(obstacle);
    }

    /** Closes the ports of {@link #waitForTurn}. */
    void waitNoLonger() {
        Predecessor waiting = given.replaced;
        if (waiting != null && waiting.ending() == null) {
            given.replaced = null;
            waiting.close().run();
        }
    }

    private ServerBuilder site(Dialects dialects) {
        return Server.builder(dialects)
                .settings(settings.server())
                .port(port(settings.server().port(), Predecessor::port))
                .grpc(settings.dialect());
    }

    /** The server on the port for operators; empty if they have none of their own. */
    Optional<ServerBuilder> adminServer(Metrics metrics) {
        return adminSite().map(server -> server.refusals(metrics::refused));
    }

    private Optional<ServerBuilder> adminSite() {
        ServerSettings all = settings.server();
        if (settings.adminPort() == null) {
            return Optional.empty();
        }
        ServerBuilder server = Server.builder(new Dialects(settings.dialect()))
                .port(port(settings.adminPort(), Predecessor::adminPort))
                .bindAddress(settings.adminBind())
                .maxBodyBytes(all.maxBodyBytes())
                .allowedHosts(all.allowedHosts())
                .gracePeriod(all.drain())
                .proxied(all);
        return Optional.of(isLoopback("admin bind", settings.adminBind()) ? server : server.secured(all));
    }

    /** The server on the main port. */
    ServerBuilder server(Trust trust, byte[] fileKey, Metrics metrics, @Nullable Database database) {
        ServerBuilder server = site(new Dialects(settings.dialect(), fileKey, trust::isWelcome))
                .protectCards(settings.trust().protectCards())
                .refusals(metrics::refused)
                .handler(TOKEN_PATH, (request, body) -> trust.token(request.with(body.read(Trust.MAX_FORM_BYTES))))
                .handler(
                        AUTHORIZE_PATH,
                        (request, body) -> trust.authorize(ofPage(request).with(body.read(Trust.MAX_FORM_BYTES))))
                .handler(
                        REGISTER_PATH,
                        (request, body) -> trust.register(ofPage(request).with(body.read(Trust.MAX_FORM_BYTES))))
                .handler(
                        ResourceMetadata.PATH,
                        (request, body) -> trust.metadata(request.at(ResourceMetadata.PATH + request.path())))
                .handler(SERVER_PATH, (request, body) -> trust.metadata(request.at(SERVER_PATH)))
                .handler(StaticPage.STYLE, StaticPage.of("text/css; charset=utf-8", "page.css"));
        for (HubExtensionSource extension : extensions) {
            extension.pages().forEach((path, page) -> server.handler(path, StaticPage.of(page)));
            extension.paths().forEach(server::alias);
        }
        if (given.cardKeys != null) {
            server.handler(CardKeys.PATH, new StaticPage("application/jwk-set+json", given.cardKeys.published()));
        }
        String root = root();
        if (root != null) {
            if (!given.agents.containsKey(root)
                    && extensions.stream().noneMatch(each -> each.agents().contains(root))
                    && (database == null
                            || extensions.stream()
                                    .noneMatch(each -> each.agents(database).contains(root)))) {
                throw new IllegalArgumentException("default agent: " + root + " (expected: one of "
                        + String.join(", ", given.agents.keySet()) + ")");
            }
            server.defaultAgent(root);
        }
        return server;
    }
}
