package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.webhooks.GuardedClients;
import dev.parley.client.webhooks.WebhookRule;
import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubParts;
import dev.parley.extension.MetricLabel;
import dev.parley.gateway.card.CardSource;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.credentials.GatewayCredentials;
import dev.parley.gateway.credentials.RouteCredential;
import dev.parley.gateway.credentials.SecretName;
import dev.parley.gateway.push.PushRelay;
import dev.parley.gateway.route.Owners;
import dev.parley.gateway.route.PausedEndpoint;
import dev.parley.gateway.route.RemoteEndpoint;
import dev.parley.gateway.route.RemoteWebhooks;
import dev.parley.gateway.route.Route;
import dev.parley.gateway.route.Route.State;
import dev.parley.gateway.route.RouteTable;
import dev.parley.gateway.upstream.Connector;
import dev.parley.gateway.upstream.GatewayMetrics;
import dev.parley.gateway.upstream.Surroundings;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.gateway.upstream.UpstreamSettings;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.extension.MethodCall;
import dev.parley.protocol.support.Loopback;
import dev.parley.store.audit.Entry;
import dev.parley.store.database.DatabaseKind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The routes of a hub. Rows decide: routes in memory are made anew when the number of the last change is another one, whichever hub made
 * the change. Safe for any thread.
 */
final class Routes implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final String REGISTRY = "registry:";
    private static final int PROBES_AT_ONCE = 4;

    /** Interval in which changes by other hubs are found, for a database that several may use. */
    private static final Duration EPOCH = Duration.ofSeconds(1);

    private final HubParts hub;
    private final GatewaySettings settings;
    private final RouteTable table;
    private final Owners owners;
    private final List<String> allowed;
    private final GuardedClients clients;
    private final CardSource cards;
    private final ExtensionMetrics.Counter changes;
    private final ExtensionMetrics.Counter foreign;
    private final Map<String, Live> live = new HashMap<>();
    private final Map<String, String> problems = new HashMap<>();
    private final GatewayMetrics metrics;
    private final PushRelay relay;
    private final SecretName.Places secrets;
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            PROBES_AT_ONCE, Thread.ofPlatform().daemon().name("gateway-probes").factory());
    private final CountDownLatch closing = new CountDownLatch(1);
    private long epoch = -1;

    /** A hosted route. */
    private record Live(
            Route route,
            RemoteCard card,
            Upstream remote,
            GatewayCredentials credentials,
            Optional<AgentEndpoint> endpoint) {
        Live at(Route row, RemoteCard now, AgentEndpoint hosted) {
            return new Live(row, now, remote, credentials, Optional.of(hosted));
        }

        void close() {
            remote.close();
            credentials.close();
        }
    }

    Routes(HubParts hub, GatewaySettings settings, PushRelay relay, Function<List<String>, WebhookRule> rules) {
        this.hub = hub;
        this.settings = settings;
        this.table = new RouteTable(hub.database());
        this.owners = new Owners(hub.database(), InstantSource.system(), PushRelay.sealing(hub));
        this.allowed = allowed(hub, settings);
        WebhookRule rule = rules.apply(allowed);
        this.clients = new GuardedClients(rule);
        this.cards = new CardSource(rule, settings.trusted());
        this.metrics = new GatewayMetrics(hub.metrics());
        this.relay = relay;
        this.secrets = SecretName.Places.of(settings.secrets());
        MetricLabel route = MetricLabel.upTo(100, "route");
        MetricLabel kind = MetricLabel.oneOf("kind", "security", "skills");
        this.changes =
                hub.metrics().counter("gateway_card_changes", "Changes of the cards of remote agents.", route, kind);
        this.foreign = hub.metrics()
                .counter("gateway_foreign_answers", "Answers of remote agents with ids of other callers.", route);
    }

    /** Hosts that may be private: those of the setting, and those that the operator of the process has named. */
    private List<String> allowed(HubParts parts, GatewaySettings given) {
        var hosts = new ArrayList<>(given.allowed());
        if (parts.isLocal()) {
            hosts.add("localhost");
        }
        var urls = new ArrayList<>(given.remotes().values());
        table.all().stream().filter(Route::isLocal).map(Route::url).forEach(urls::add);
        for (String url : urls) {
            if (!url.startsWith(REGISTRY)) {
                hosts.add(origin(url).getHost());
            }
        }
        return List.copyOf(hosts);
    }

    Owners owners() {
        return owners;
    }

    List<Route> all() {
        return table.all();
    }

    Route named(String name) {
        return table.named(name)
                .orElseThrow(() -> A2AException.invalidParams("name", name + " (expected: the name of a route)"));
    }

    /** Why a route is not hosted as its row says; empty if it is. */
    String problem(String name) {
        synchronized (this) {
            return problems.getOrDefault(name, "");
        }
    }

    /** Hosts the routes, and reads their cards again from time to time, on a thread of its own. */
    void start() {
        try {
            reload();
        } catch (RuntimeException failure) {
            LOG.log(Level.WARNING, "the routes of the gateway cannot be read", failure);
        }
        Thread.ofVirtual().name("gateway-routes").start(this::run);
    }

    private void run() {
        settings.remotes().forEach(this::configured);
        boolean shared = hub.database().kind() == DatabaseKind.POSTGRESQL;
        long refreshAt = System.nanoTime() + settings.refresh().toNanos();
        while (pause(shared ? EPOCH : settings.refresh())) {
            try {
                reload();
                if (System.nanoTime() - refreshAt >= 0) {
                    refreshAll();
                    refreshAt = System.nanoTime() + settings.refresh().toNanos();
                }
            } catch (RuntimeException failure) {
                LOG.log(Level.WARNING, "the routes of the gateway cannot be read", failure);
            }
        }
    }

    /** Returns false if the gateway is closed. */
    private boolean pause(Duration time) {
        try {
            return !closing.await(time.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException stopped) {
            return false;
        }
    }

    /** A route of the settings, which is the row of its name from then on. */
    private void configured(String name, String url) {
        try {
            boolean registered = url.startsWith(REGISTRY);
            Map<String, Object> options = registered ? Map.of() : Map.of(Route.LOCAL, true);
            String address = registered ? resolve(url, own()) : url;
            Optional<Route> known = table.named(name).filter(row -> row.url().equals(address));
            if (known.isEmpty()) {
                table.put(Route.of(name, address, options));
            }
            refresh(name);
        } catch (RuntimeException failure) {
            fail(name, failure);
        }
    }

    private static CallContext own() {
        return CallContext.of("gateway", new Scope("default", "gateway"));
    }

    private void refreshAll() {
        for (Route route : table.all()) {
            try {
                refresh(route.name());
            } catch (RuntimeException failure) {
                fail(route.name(), failure);
            }
        }
    }

    private void fail(String name, RuntimeException failure) {
        LOG.log(Level.WARNING, "route {0}: {1}", name, failure.getMessage());
        synchronized (this) {
            problems.put(name, String.valueOf(failure.getMessage()));
        }
    }

    /** The address of an agent: that of an entry of the registry of this hub, or the address itself. */
    String resolve(String url, CallContext caller) {
        if (!url.startsWith(REGISTRY)) {
            return url;
        }
        Object entry = hub.agents()
                .endpoint("registry")
                .call(new MethodCall("registry/show", Map.of("id", url.substring(REGISTRY.length()))), caller);
        String address = entry instanceof Map<?, ?> members ? address(members) : null;
        if (address == null) {
            throw A2AException.invalidParams("url", url + ": the entry has no address");
        }
        return address;
    }

    private static @Nullable String address(Map<?, ?> members) {
        for (Object value : Arrays.asList(members.get("url"), members.get("resource"), members.get("entry"))) {
            if (value instanceof String url) {
                return url;
            }
            String inner = value instanceof Map<?, ?> below ? address(below) : null;
            if (inner != null) {
                return inner;
            }
        }
        return null;
    }

    /**
     * Adds a route, after its card was read.
     *
     * @throws A2AException INVALID_PARAMS with the reason if the card cannot be used
     */
    Route add(Route route) {
        byte[] document;
        try {
            document = fetch(route);
            requireUsable(route, read(route, document));
        } catch (ClientException problem) {
            throw A2AException.invalidParams("url", route.url() + ": " + problem.getMessage())
                    .causedBy(problem);
        }
        Route ready = route.with(document);
        table.put(ready);
        reload();
        String problem = problem(route.name());
        if (!problem.isEmpty()) {
            remove(route.name());
            throw A2AException.invalidParams("url", route.url() + ": " + problem);
        }
        return ready;
    }

    private byte[] fetch(Route route) {
        return cards.fetch(URI.create(route.url()), () -> builder(route).connect(route.url()));
    }

    private RemoteCard read(Route route, byte[] document) {
        return cards.read(document, route.option(Route.TRUST), origin(address(route)));
    }

    private static String address(Route route) {
        String address = route.option(Route.ADDRESS);
        return address.isEmpty() ? route.url() : address;
    }

    private void requireUsable(Route route, RemoteCard card) {
        if (route.isVerbatim()) {
            card.requireHere(hub.agents().url(route.name()));
        }
        var unused = settings(route);
        var credential = new GatewayCredentials(credential(route), secrets, this::tokens);
        credential
                .on(builder(route))
                .of(card.called())
                .close(); // refuses a card without an interface that can be called
    }

    private static UpstreamSettings settings(Route route) {
        try {
            var options = new HashMap<String, Object>(route.options());
            options.computeIfAbsent("replicas", none -> List.of(route.url()));
            return UpstreamSettings.read(options);
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams("set", String.valueOf(wrong.getMessage()));
        }
    }

    private static RouteCredential credential(Route route) {
        try {
            return RouteCredential.read(route.options());
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams("set", String.valueOf(wrong.getMessage()));
        }
    }

    /** Reads the card of a route again. A changed one is used from now on, unless its security differs. */
    Route refresh(String name) {
        Route route = named(name);
        byte[] document = fetch(route);
        RemoteCard now = read(route, document);
        byte[] known = route.pending() == null ? route.card() : route.pending();
        if (known != null && Arrays.equals(known, document)) {
            clear(name);
            reload();
            return route;
        }
        requireUsable(route, now);
        byte[] confirmed = route.card();
        RemoteCard before = confirmed == null ? null : reading(route, confirmed);
        List<String> security = before == null ? List.of() : now.otherSecurity(before);
        if (before != null) {
            changed(route, now, security, now.otherSkills(before));
        }
        Route next = table.change(
                        name,
                        row -> security.isEmpty() && row.state() != State.PAUSED
                                ? row.with(document)
                                : security.isEmpty()
                                        ? row.with(document).in(State.PAUSED, row.reason(), null)
                                        : row.in(
                                                State.CHANGED,
                                                "the card has other " + String.join(", ", security),
                                                document))
                .orElse(route);
        clear(name);
        reload();
        return next;
    }

    /** Reads the card of a route for an operator. */
    Route refreshNow(String name) {
        try {
            return refresh(name);
        } catch (ClientException problem) {
            throw A2AException.of(A2AError.UNAVAILABLE, name + ": " + problem.getMessage())
                    .causedBy(problem);
        }
    }

    /** The card of a document of a route; null for none. */
    @Nullable
    RemoteCard card(Route route, byte @Nullable [] document) {
        return document == null ? null : reading(route, document);
    }

    /** Reads a document that was accepted before; a key that verified it may not be trusted any more. */
    private RemoteCard reading(Route route, byte[] document) {
        try {
            return read(route, document);
        } catch (ClientException untrusted) {
            return cards.read(document, "", origin(address(route)));
        }
    }

    private void changed(Route route, RemoteCard now, List<String> security, List<String> skills) {
        if (!security.isEmpty()) {
            changes.add(1, route.name(), "security");
            note(route, "security", String.join(", ", security), now);
        }
        if (!skills.isEmpty()) {
            changes.add(1, route.name(), "skills");
            note(route, "skills", String.join(", ", skills), now);
        }
    }

    private void note(Route route, String kind, String changed, RemoteCard now) {
        LOG.log(Level.WARNING, "route {0}: the card has other {1}: {2}", route.name(), kind, changed);
        hub.audit()
                .note(new Entry(
                        "default",
                        route.name(),
                        "gateway.card." + kind,
                        route.name(),
                        "",
                        "changed",
                        "",
                        "",
                        Map.of("changed", changed, "digest", now.digest())));
    }

    /** Begins no tasks at a replica any more, or begins them again. */
    Route drain(String name, String url, boolean draining) {
        return change(name, row -> {
            try {
                return row.with(
                        "replicas",
                        requireNonNull(
                                settings(row).draining(url, draining).json().get("replicas")));
            } catch (IllegalArgumentException unknown) {
                throw A2AException.invalidParams("url", String.valueOf(unknown.getMessage()));
            }
        });
    }

    /** Stops passing on calls. */
    Route pause(String name, String reason) {
        return change(name, row -> row.in(State.PAUSED, reason, row.pending()));
    }

    /** Passes calls on again, and confirms a card that waits. */
    Route resume(String name) {
        return change(name, row -> {
            byte[] card = row.pending() == null ? row.card() : row.pending();
            return card == null ? row.in(State.ACTIVE, "", null) : row.with(card);
        });
    }

    private Route change(String name, UnaryOperator<Route> change) {
        Route changed = table.change(name, change)
                .orElseThrow(() -> A2AException.invalidParams("name", name + " (expected: the name of a route)"));
        reload();
        return changed;
    }

    void remove(String name) {
        if (!table.remove(name)) {
            throw A2AException.invalidParams("name", name + " (expected: the name of a route)");
        }
        owners.forget();
        relay.forget(name);
        clear(name);
        reload();
    }

    /** The remote agent of a route as callers reach it; empty if it is not hosted. */
    synchronized Optional<AgentEndpoint> endpoint(String name) {
        return Optional.ofNullable(live.get(name)).flatMap(Live::endpoint);
    }

    /** The replicas of a route with their states; none if it is not hosted. */
    synchronized List<Upstream.Status> replicas(String name) {
        Live known = live.get(name);
        return known == null ? List.of() : known.remote().status();
    }

    private synchronized void clear(String name) {
        problems.remove(name);
    }

    /** Hosts the routes as their rows are now. */
    synchronized void reload() {
        long now = table.epoch();
        if (closing.getCount() == 0 || now == epoch) {
            return;
        }
        var names = new HashSet<String>();
        for (Route route : table.all()) {
            names.add(route.name());
            Live known = live.get(route.name());
            if (route.card() != null && (known == null || !known.route().isSame(route))) {
                try {
                    host(route, known);
                    problems.remove(route.name());
                } catch (RuntimeException failure) {
                    fail(route.name(), failure);
                }
            }
        }
        for (String name : List.copyOf(live.keySet())) {
            if (!names.contains(name)) {
                hub.agents().remove(name);
                requireNonNull(live.remove(name)).close();
                owners.forget();
            }
        }
        epoch = now;
    }

    private void host(Route route, @Nullable Live known) {
        RemoteCard card = read(route, requireNonNull(route.card()));
        boolean isSame = false;
        Live now;
        if (known != null && known.route().leadsWhere(route) && known.card().isCalledAs(card)) {
            isSame = true;
            now = known;
            known.remote().use(settings(route)); // streams and breakers stay
        } else {
            now = connect(route, card);
        }
        AgentEndpoint endpoint = route.state() == State.ACTIVE
                ? new RemoteEndpoint(
                        route.name(), owners, now.remote(), known(route, card, now.remote()), InstantSource.system())
                : new PausedEndpoint(route.name());
        byte[] verbatim = route.isVerbatim() ? card.bytes() : null;
        hub.agents().host(new HostedEndpoint(route.name(), card.shown(pushes(route, card)), endpoint, verbatim));
        live.put(route.name(), now.at(route, card, endpoint));
        LOG.log(
                Level.INFO,
                "route {0}: hosted, {1}",
                route.name(),
                route.state().shown());
        if (known != null && !isSame) {
            known.close();
        }
    }

    private RemoteEndpoint.Known known(Route route, RemoteCard card, Upstream upstream) {
        boolean extended = Boolean.TRUE.equals(card.card().capabilities().extendedAgentCard());
        return new RemoteEndpoint.Known(
                card.card().capabilities().extensions().stream()
                        .map(AgentCard.Extension::uri)
                        .filter(uri -> !uri.equals(RemoteCard.PROVENANCE))
                        .collect(Collectors.toUnmodifiableSet()),
                extended ? more -> card.extended(more, pushes(route, card)) : null,
                new RemoteWebhooks(
                        pushes(route, card) ? relay : null,
                        route.name(),
                        notifies(route, card) ? version(route, card) : "",
                        upstream),
                waits(route, card),
                card.hidden(),
                () -> {
                    foreign.add(1, route.name());
                    LOG.log(Level.WARNING, "route {0}: an answer has an id of another caller or task", route.name());
                });
    }

    /** Whether callers may register webhooks. A task is followed without its caller, so not with a token of the caller. */
    private static boolean pushes(Route route, RemoteCard card) {
        return notifies(route, card) || !(credential(route) instanceof RouteCredential.OAuth oauth && oauth.exchange());
    }

    /** Whether the agent notifies the gateway; else the gateway follows its tasks. */
    private static boolean notifies(Route route, RemoteCard card) {
        return Boolean.TRUE.equals(card.card().capabilities().pushNotifications())
                && PushRelay.reads(version(route, card));
    }

    /** Version of A2A in which the agent is called. */
    private static String version(Route route, RemoteCard card) {
        String version = route.option(Route.VERSION);
        return version.isEmpty() ? card.card().supportedInterfaces().getFirst().protocolVersion() : version;
    }

    private static boolean waits(Route route, RemoteCard card) {
        String spoken = version(route, card);
        return spoken.startsWith("0.1") || spoken.equals("kernel");
    }

    private Live connect(Route route, RemoteCard card) {
        var credentials = new GatewayCredentials(credential(route), secrets, this::tokens);
        Connector connector = (url, builder) -> builder.of(
                url.equals(route.url())
                        ? card.called()
                        : cards.read(
                                        cards.fetch(
                                                URI.create(url),
                                                () -> builder(route).connect(url)),
                                        route.option(Route.TRUST),
                                        origin(url))
                                .called());
        var surroundings =
                new Surroundings(connector, () -> credentials.on(builder(route)), metrics, timer, System::nanoTime);
        return new Live(
                route, card, Upstream.of(route.name(), settings(route), surroundings), credentials, Optional.empty());
    }

    /** Connections to authorization servers, whose addresses operators of the hub choose as those of agents. */
    private AgentClientBuilder tokens() {
        return AgentClient.builder().httpClient(clients.of("gateway"));
    }

    private AgentClientBuilder builder(Route route) {
        AgentClientBuilder builder = AgentClient.builder();
        URI origin = origin(address(route));
        String binding = route.option(Route.BINDING);
        if (!binding.isEmpty()) {
            builder.prefer(binding.toUpperCase(Locale.ROOT));
        }
        if (!route.option(Route.VERSION).isEmpty()) {
            builder.version(route.option(Route.VERSION));
        }
        if (binding.equalsIgnoreCase(AgentCard.Interface.GRPC)) {
            requireAllowed(origin.getHost());
        } else {
            builder.httpClient(clients.of("gateway"));
        }
        return origin.getScheme().equals("http") ? builder.plainHttp() : builder;
    }

    /** Connections of gRPC look hosts up themselves, so only hosts that an operator has named are called. */
    private void requireAllowed(String host) {
        if (!allowed.contains(host) && !(Loopback.is(host) && allowed.contains("localhost"))) {
            throw new ClientException(
                    Problem.ORIGIN_NOT_ALLOWED,
                    "binding GRPC: host " + host + " (expected: one that gateway-allow names, as its addresses are not"
                            + " checked)");
        }
    }

    private static URI origin(String url) {
        try {
            URI uri = URI.create(url);
            String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
            if (uri.getHost() == null
                    || uri.getUserInfo() != null
                    || !scheme.equals("http") && !scheme.equals("https")) {
                throw new IllegalArgumentException("no http or https URL");
            }
            return URI.create(scheme + "://" + uri.getRawAuthority());
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams("url", url + ": " + wrong.getMessage());
        }
    }

    @Override
    public void close() {
        closing.countDown();
        synchronized (this) {
            live.values().forEach(Live::close);
            live.clear();
        }
        timer.shutdownNow();
        cards.close();
        clients.close();
    }
}
