package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubParts;
import dev.parley.extension.MetricLabel;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.card.RemoteCards;
import dev.parley.gateway.credentials.RouteCredential;
import dev.parley.gateway.hub.GatewayConnections.Connection;
import dev.parley.gateway.hub.Refreshes.Outcome;
import dev.parley.gateway.push.PushRelay;
import dev.parley.gateway.route.Owners;
import dev.parley.gateway.route.PausedEndpoint;
import dev.parley.gateway.route.RemoteAgent;
import dev.parley.gateway.route.RemoteEndpoint;
import dev.parley.gateway.route.RemoteWebhooks;
import dev.parley.gateway.route.Route;
import dev.parley.gateway.route.Route.State;
import dev.parley.gateway.route.RouteTable;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.gateway.upstream.UpstreamSettings;
import dev.parley.outbound.AddressRule;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import dev.parley.protocol.retry.Backoff;
import dev.parley.store.audit.AuditEntry;
import dev.parley.store.spi.StoreException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The routes of a hub. Rows decide: routes in memory are made anew after each change, whichever hub made it. Safe for any thread. */
final class Routes implements AutoCloseable {
    private static final Logger LOG = System.getLogger("dev.parley.gateway");
    private static final CallContext OWN = CallContext.of("gateway", new Scope("default", "gateway"));

    /** Time for which the start waits for the routes of the settings. */
    private static final Duration FIRST = Duration.ofSeconds(2);

    /** Pauses before rows that could not be read at the start are read again. */
    private static final Backoff READINGS = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private final HubParts hub;
    private final GatewaySettings settings;
    private final RouteTable table;
    private final Owners owners;
    private final Addresses addresses;
    private final GatewayConnections connections;
    private final ExtensionMetrics.Counter changes;
    private final ExtensionMetrics.Counter foreign;
    private final Map<String, Live> live = new ConcurrentHashMap<>();
    private final PushRelay relay;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final RouteProblems problems = new RouteProblems(() -> closing.getCount() > 0);
    private final Refreshes refreshes;
    /** Addresses of routes of the settings that are not compared with their rows yet. */
    private final Map<String, String> unread;
    /** Routes of the settings whose first attempt has not ended. */
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    private final CountDownLatch first;

    /** Whether all rows are hosted, as far as this hub knows. */
    private volatile boolean complete;

    /** A hosted route. */
    private record Live(Route route, RemoteCard card, Connection connection, AgentEndpoint endpoint) {}

    Routes(HubParts hub, GatewaySettings settings, PushRelay relay, Function<List<String>, AddressRule> rules) {
        this.hub = hub;
        this.settings = settings;
        this.table = new RouteTable(hub.database());
        this.owners = new Owners(hub.database(), InstantSource.system(), PushRelay.cipher(hub));
        List<String> allowed = allowed(hub, settings);
        this.addresses = new Addresses(hub);
        this.connections = new GatewayConnections(hub, allowed, rules.apply(allowed), settings);
        this.relay = relay;
        this.unread = new ConcurrentHashMap<>(settings.remotes());
        this.first = new CountDownLatch(unread.size());
        begun.addAll(unread.keySet());
        problems.await(unread.keySet());
        this.refreshes = new Refreshes(settings.refresh(), connections.timer(), this::attempt);
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
            if (!Addresses.isEntry(url)) {
                hosts.add(Addresses.origin(url).getHost());
            }
        }
        return List.copyOf(hosts);
    }

    Addresses addresses() {
        return addresses;
    }

    Owners owners() {
        return owners;
    }

    List<Route> all() {
        return table.all();
    }

    /** Why rows cannot be read, by the names of their routes. */
    Map<String, String> damaged() {
        return table.damaged();
    }

    Route named(String name) {
        return table.named(name).orElseThrow(() -> unknown(name));
    }

    private static A2AException unknown(String name) {
        return A2AException.invalidParams("name", "no route \"" + name + "\" (expected: the name of a route)");
    }

    RouteProblems problems() {
        return problems;
    }

    /** Hosts the routes, and reads their cards from now on. */
    void start() {
        table.keep(this::reload);
        settings.remotes().keySet().forEach(name -> refreshes.add(name, false)); // first, as rows may have them, too
        if (!reloadNow()) {
            Thread.ofVirtual().name("gateway-routes").start(this::reloadUntilRead);
        }
        try {
            if (!first.await(FIRST.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.log(Level.WARNING, "the gateway still waits for the cards of {0}", begun);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void reloadUntilRead() {
        try {
            int failures = 1;
            while (!closing.await(READINGS.bound(failures).toMillis(), TimeUnit.MILLISECONDS) && !reloadNow()) {
                failures++;
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean reloadNow() {
        try {
            reload();
            return true;
        } catch (RuntimeException failure) {
            if (closing.getCount() > 0) {
                LOG.log(Level.WARNING, "the routes of the gateway cannot be read", failure);
            }
            return false;
        }
    }

    private Outcome attempt(String name) {
        try {
            String url = unread.get(name);
            if (url != null) {
                configure(name, url);
                unread.remove(name);
            } else if (table.named(name).isEmpty()) {
                return Outcome.REMOVED;
            }
            Route route = refresh(name);
            return route.card() == null ? Outcome.WAITING : Outcome.HOSTED;
        } catch (RuntimeException failure) {
            problems.fail(name, failure);
            return live.containsKey(name) ? Outcome.HOSTED : Outcome.WAITING;
        } finally {
            if (begun.remove(name)) {
                first.countDown();
            }
        }
    }

    /** Writes the row of a route of the settings. */
    private void configure(String name, String url) {
        Map<String, Object> options = Addresses.isEntry(url) ? addresses.entry(url, OWN) : Map.of(Route.LOCAL, true);
        String address = addresses.resolve(url, OWN);
        if (table.named(name).filter(row -> row.url().equals(address)).isEmpty()) {
            table.configure(Route.of(name, address, options)); // unless another hub has done so
        }
    }

    /**
     * Adds a route, after its card was read.
     *
     * @throws A2AException INVALID_PARAMS with the reason if the card cannot be used
     */
    Route add(Route route) {
        byte[] document;
        Addresses.origin(route.url());
        Addresses.called(route);
        try {
            document = connections.fetch(route);
            connections.requireUsable(route, connections.read(route, document));
        } catch (ClientException problem) {
            throw A2AException.invalidParams("url", route.url() + ": " + problem.getMessage())
                    .causedBy(problem);
        }
        Route ready = route.with(document);
        hosting(() -> {
            table.put(ready);
            return ready;
        });
        String problem = problems.of(route.name());
        if (!problem.isEmpty()) {
            remove(route.name());
            throw A2AException.invalidParams("url", route.url() + ": " + problem);
        }
        return ready;
    }

    /**
     * Reads the card of a route again. A changed one is used from now on, unless its security differs.
     *
     * @throws ClientException if there is none that can be used
     */
    Route refresh(String name) {
        Route route = named(name);
        byte[] document = connections.fetch(route);
        byte[] confirmed = route.card();
        RemoteCard now;
        try {
            now = connections.read(route, document);
        } catch (ClientException refused) {
            if (confirmed == null || refused.problem() != Problem.CARD_NOT_VERIFIED || route.state() == State.PAUSED) {
                throw refused;
            }
            if (route.state() == State.CHANGED) {
                return route;
            }
            String reason = String.valueOf(refused.getMessage());
            return change(
                    route,
                    row -> row.state() == State.CHANGED ? row : row.in(State.CHANGED, reason, null),
                    () -> note(route, "security", "signature", RemoteCards.digest(document)));
        }
        boolean isKnown = route.pending() == null
                ? Arrays.equals(confirmed, document) && route.state() != State.CHANGED
                : Arrays.equals(route.pending(), document);
        if (!isKnown) {
            connections.requireUsable(route, now);
        }
        Route next = isKnown ? route : confirm(route, document, now);
        problems.solve(name);
        if (isKnown && !complete) {
            reload();
        }
        return next;
    }

    /** Has a changed card be used from now on, or wait for an operator. */
    private Route confirm(Route route, byte[] document, RemoteCard now) {
        byte[] confirmed = route.card();
        RemoteCard before = confirmed == null ? null : connections.reading(route, confirmed);
        List<String> security = before == null ? List.of() : now.otherSecurity(before);
        String reason = security.isEmpty() ? "" : "the card has other " + String.join(", ", security);
        return change(
                route,
                row -> {
                    if (!Arrays.equals(row.card(), confirmed) || Arrays.equals(row.pending(), document)) {
                        return row; // an operator or another hub was faster
                    }
                    Route confirming = row.with(document);
                    return !reason.isEmpty()
                            ? row.in(State.CHANGED, reason, document)
                            : row.state() == State.PAUSED
                                    ? confirming.in(State.PAUSED, row.reason(), null)
                                    : confirming;
                },
                () -> {
                    note(route, "security", String.join(", ", security), now.digest());
                    note(
                            route,
                            "skills",
                            before == null ? "" : String.join(", ", now.otherSkills(before)),
                            now.digest());
                });
    }

    /** @param noting notes the change, which one hub of the database makes; called before other hubs have it */
    private Route change(Route route, UnaryOperator<Route> change, Runnable noting) {
        var isMade = new AtomicBoolean();
        return hosting(() -> {
            Optional<Route> changed = table.changeIfDue(route.name(), row -> {
                Route next = change.apply(row);
                isMade.set(!next.equals(row));
                return next;
            });
            if (isMade.get() && changed.isPresent()) {
                noting.run();
            }
            return changed.orElse(route);
        });
    }

    /** Reads the card of a route for an operator. */
    Route refreshNow(String name) {
        try {
            return refresh(name);
        } catch (ClientException problem) {
            throw A2AException.unavailable(name + ": " + problem.getMessage(), Duration.ofSeconds(1));
        }
    }

    /** The card of a document of a route; null for none. */
    @Nullable
    RemoteCard card(Route route, byte @Nullable [] document) {
        return document == null ? null : connections.reading(route, document);
    }

    private void note(Route route, String kind, String changed, String digest) {
        if (changed.isEmpty()) {
            return;
        }
        changes.add(1, route.name(), kind);
        LOG.log(Level.WARNING, "route {0}: the card has other {1}: {2}", route.name(), kind, changed);
        String action = "gateway.card." + kind;
        Map<String, Object> details = Map.of("changed", changed, "digest", digest);
        hub.audit().note(new AuditEntry("default", route.name(), action, route.name(), "", "changed", "", "", details));
    }

    /** Begins no tasks at a replica any more, or begins them again. */
    Route drain(String name, String url, boolean draining) {
        return change(name, row -> {
            UpstreamSettings changed = GatewayConnections.valid(
                    "url", () -> GatewayConnections.settings(row).draining(url, draining));
            return row.with("replicas", requireNonNull(changed.json().get("replicas")));
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
        return hosting(() -> table.change(name, change).orElseThrow(() -> unknown(name)));
    }

    void remove(String name) {
        var unused = hosting(() -> {
            if (!table.remove(name)) {
                throw unknown(name);
            }
            owners.forget();
            return name;
        });
        relay.forget(name);
    }

    /** Makes a change of rows, and hosts the routes as they are then. */
    private <T> T hosting(Supplier<T> change) {
        var ended = new ArrayList<Connection>();
        try {
            return table.changing(() -> {
                complete = false; // also if the outcome of the change is unknown
                T changed = change.get();
                reload(ended);
                return changed;
            });
        } finally {
            ended.forEach(Connection::close);
        }
    }

    /** The remote agent of a route as callers reach it; empty if it is not hosted. */
    Optional<AgentEndpoint> endpoint(String name) {
        return Optional.ofNullable(live.get(name)).map(Live::endpoint);
    }

    /** The replicas of a route with their states; none if it is not hosted. */
    List<Upstream.Status> replicas(String name) {
        Live known = live.get(name);
        return known == null ? List.of() : known.connection().remote().status();
    }

    /** Hosts the routes as their rows are now. Connections are closed without the lock that hosts them. */
    void reload() {
        var ended = new ArrayList<Connection>();
        try {
            reload(ended);
        } finally {
            ended.forEach(Connection::close);
        }
    }

    /** @param ended takes the routes that are not used any more */
    private void reload(List<Connection> ended) {
        // Before the rows are read: the row of a route of the settings may be written meanwhile.
        Set<String> withoutRow = Set.copyOf(unread.keySet());
        table.read(content -> host(content, withoutRow, ended));
    }

    private synchronized void host(RouteTable.Content content, Set<String> withoutRow, List<Connection> ended) {
        if (closing.getCount() == 0) {
            return;
        }
        boolean all = true;
        content.damaged().forEach((name, reason) -> problems.fail(name, new StoreException(reason)));
        var names = new HashSet<String>();
        for (Route route : content.routes()) {
            names.add(route.name());
            Live known = live.get(route.name());
            if (route.card() != null && (known == null || !known.route().isSame(route))) {
                try {
                    host(route, known, ended);
                    problems.solve(route.name());
                } catch (RuntimeException failure) {
                    problems.fail(route.name(), failure);
                    all = false; // tried again when its card is read
                    if (route.state() != State.ACTIVE && known != null) {
                        show(known, new PausedEndpoint(route.name()));
                    }
                }
            }
            if (!live.containsKey(route.name())) {
                problems.await(List.of(route.name()));
            }
            refreshes.add(route.name(), route.card() != null);
        }
        for (String name : List.copyOf(live.keySet())) {
            if (!names.contains(name)) {
                hub.agents().remove(name);
                ended.add(requireNonNull(live.remove(name)).connection());
                owners.forget();
            }
        }
        problems.forget(name -> !names.contains(name) && !withoutRow.contains(name));
        complete = all;
    }

    private void host(Route route, @Nullable Live known, List<Connection> ended) {
        RemoteCard card = connections.read(route, requireNonNull(route.card()));
        boolean isSame =
                known != null && known.route().leadsWhere(route) && known.card().isCalledAs(card);
        Connection connection = isSame ? requireNonNull(known).connection() : connections.open(route, card);
        Upstream remote = connection.remote();
        if (isSame) {
            remote.use(GatewayConnections.settings(route)); // streams and breakers stay
        }
        AgentEndpoint endpoint = route.state() == State.ACTIVE
                ? new RemoteEndpoint(
                        route.name(),
                        owners,
                        remote,
                        known(route, card, remote),
                        () -> addresses.requireListed(route),
                        () -> noteForeign(route),
                        InstantSource.system())
                : new PausedEndpoint(route.name());
        show(new Live(route, card, connection, endpoint), endpoint);
        problems.host(route.name());
        LOG.log(
                Level.INFO,
                "route {0}: hosted, {1}",
                route.name(),
                route.state().shown());
        if (known != null && !isSame) {
            ended.add(known.connection());
        }
    }

    private void show(Live shown, AgentEndpoint endpoint) {
        Route route = shown.route();
        RemoteCard card = shown.card();
        byte[] verbatim = route.isVerbatim() ? card.bytes() : null;
        hub.agents().host(new HostedEndpoint(route.name(), card.shown(pushes(route, card)), endpoint, verbatim));
        live.put(route.name(), new Live(route, card, shown.connection(), endpoint));
    }

    private RemoteAgent known(Route route, RemoteCard card, Upstream upstream) {
        boolean extended = Boolean.TRUE.equals(card.card().capabilities().extendedAgentCard());
        return new RemoteAgent(
                card.card().capabilities().extensions().stream()
                        .map(AgentCard.Extension::uri)
                        .filter(uri -> !uri.equals(RemoteCard.PROVENANCE))
                        .collect(Collectors.toUnmodifiableSet()),
                card.hiddenRequirements(),
                extended ? more -> card.extended(more, pushes(route, card)) : null,
                new RemoteWebhooks(
                        pushes(route, card) ? relay : null,
                        route.name(),
                        notifies(route, card) ? version(route, card) : "",
                        upstream),
                waits(route, card),
                Boolean.TRUE.equals(card.card().capabilities().streaming()),
                card.hidden());
    }

    private void noteForeign(Route route) {
        foreign.add(1, route.name());
        LOG.log(Level.WARNING, "route {0}: an answer has an id of another caller or task", route.name());
    }

    /** Whether callers may register webhooks. A task is followed without its caller, so not with a token of the caller. */
    private static boolean pushes(Route route, RemoteCard card) {
        return notifies(route, card)
                || !(GatewayConnections.credential(route) instanceof RouteCredential.OAuth oauth && oauth.exchange());
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

    @Override
    public void close() {
        closing.countDown();
        List<Connection> ended;
        synchronized (this) {
            ended = live.values().stream().map(Live::connection).toList();
            live.clear();
        }
        ended.forEach(Connection::close);
        connections.close();
    }
}
