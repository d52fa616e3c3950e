package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNull;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.webhooks.GuardedClients;
import dev.parley.client.webhooks.WebhookRule;
import dev.parley.dialect.Json;
import dev.parley.extension.ExtensionMetrics;
import dev.parley.extension.HostedEndpoint;
import dev.parley.extension.HubParts;
import dev.parley.extension.MetricLabel;
import dev.parley.gateway.card.CardSource;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.credentials.GatewayCredentials;
import dev.parley.gateway.credentials.RouteCredential;
import dev.parley.gateway.credentials.SecretName;
import dev.parley.gateway.hub.Refreshes.Outcome;
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
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.support.Backoff;
import dev.parley.protocol.support.Loopback;
import dev.parley.store.audit.Entry;
import dev.parley.store.database.DatabaseKind;
import dev.parley.store.spi.StoreException;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
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
    /** Pause that callers of a waiting route are told. */
    private static final Duration RETRY_SOON = Duration.ofSeconds(1);

    private static final CallContext OWN = CallContext.of("gateway", new Scope("default", "gateway"));

    /** How long the start waits for the routes of the settings. */
    private static final Duration FIRST = Duration.ofSeconds(2);

    /** Interval in which changes by other hubs are found, for a database that several may use. */
    private static final Backoff EPOCHS = new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(1));

    private final HubParts hub;
    private final GatewaySettings settings;
    private final RouteTable table;
    private final Owners owners;
    private final List<String> allowed;
    private final GuardedClients clients;
    private final CardSource cards;
    private final ExtensionMetrics.Counter changes;
    private final ExtensionMetrics.Counter foreign;
    private final Map<String, Live> live = new ConcurrentHashMap<>();
    private final Map<String, String> problems = new ConcurrentHashMap<>();
    /** Reasons, for callers, of routes that are not hosted yet. */
    private final Map<String, String> waiting = new ConcurrentHashMap<>();

    private final GatewayMetrics metrics;
    private final PushRelay relay;
    private final SecretName.Places secrets;
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            PROBES_AT_ONCE, Thread.ofPlatform().daemon().name("gateway-probes").factory());
    private final CountDownLatch closing = new CountDownLatch(1);
    private final Refreshes refreshes;
    /** Addresses of routes of the settings that are not compared with their rows yet. */
    private final Map<String, String> unread;
    /** Routes of the settings whose first attempt has not ended. */
    private final Set<String> begun = ConcurrentHashMap.newKeySet();

    private final CountDownLatch first;

    /** Number of the last change whose rows are hosted, and whether all of them could be. Guarded by this. */
    private long epoch = -1;

    private boolean complete;

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
        this.unread = new ConcurrentHashMap<>(settings.remotes());
        this.first = new CountDownLatch(unread.size());
        begun.addAll(unread.keySet());
        unread.keySet().forEach(name -> waiting.put(name, "its card is being read"));
        this.refreshes = new Refreshes(settings.refresh(), timer, this::attempt);
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

    /** Routes that are not hosted as their rows say, with the reasons; empty if all are. */
    Optional<String> problems() {
        String all = problems.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(problem -> problem.getKey() + ": " + problem.getValue())
                .collect(Collectors.joining("; "));
        return all.isEmpty() ? Optional.empty() : Optional.of(all);
    }

    /** Why a route is not hosted as its row says; empty if it is. */
    String problem(String name) {
        return problems.getOrDefault(name, "");
    }

    /** Hosts the routes, and reads their cards from now on. */
    void start() {
        settings.remotes().keySet().forEach(name -> refreshes.add(name, false)); // first, as rows may have them, too
        reloadNow();
        try {
            if (!first.await(FIRST.toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.log(Level.WARNING, "the gateway still waits for the cards of {0}", begun);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        if (hub.database().kind() == DatabaseKind.POSTGRESQL) {
            Thread.ofVirtual().name("gateway-changes").start(this::follow);
        }
    }

    /** Follows the changes of other hubs. */
    private void follow() {
        try {
            int failures = 0;
            while (!closing.await(EPOCHS.bound(failures + 1).toMillis(), TimeUnit.MILLISECONDS)) {
                failures = reloadNow() ? 0 : failures + 1;
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
            return read(name);
        } finally {
            if (begun.remove(name)) {
                first.countDown();
            }
        }
    }

    private Outcome read(String name) {
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
            fail(name, failure);
            return live.containsKey(name) ? Outcome.HOSTED : Outcome.WAITING;
        }
    }

    /** Writes the row of a route of the settings. */
    private void configure(String name, String url) {
        boolean registered = url.startsWith(REGISTRY);
        Map<String, Object> options = registered ? entry(url, OWN) : Map.of(Route.LOCAL, true);
        String address = registered ? resolve(url, OWN) : url;
        if (table.named(name).filter(row -> row.url().equals(address)).isEmpty()) {
            table.put(Route.of(name, address, options));
        }
    }

    /** The refusal of a route that is not hosted yet, with the reason; empty for other names. */
    Optional<A2AException> waiting(String name) {
        return Optional.ofNullable(waiting.get(name))
                .map(reason -> A2AException.unavailable(
                        "The agent \"" + name + "\" cannot be called yet: " + reason, RETRY_SOON));
    }

    /** A problem without the addresses in it, which callers must not see. */
    private static String reason(RuntimeException failure) {
        return switch (failure) {
            case ClientException problem ->
                switch (problem.problem()) {
                    case CARD_NOT_FOUND -> "it has no card";
                    case CARD_INVALID -> "its card cannot be read";
                    case CARD_NOT_VERIFIED -> "its card is not signed as required";
                    case TIMED_OUT -> "it does not answer in time";
                    case REDIRECTED -> "its card is elsewhere";
                    case NO_INTERFACE -> "its card names no interface that can be called";
                    case ORIGIN_NOT_ALLOWED -> "its address is not allowed";
                    default -> "it cannot be reached";
                };
            default -> "its card cannot be used";
        };
    }

    private void fail(String name, RuntimeException failure) {
        waiting.computeIfPresent(name, (route, before) -> reason(failure));
        String problem = String.valueOf(failure.getMessage());
        if (problem.equals(problems.put(name, problem))) {
            return; // logged before
        }
        if (closing.getCount() > 0) {
            LOG.log(Level.WARNING, "route {0}: {1}", name, problem);
        }
    }

    /** The address of an agent: that of an entry of the registry of this hub, or the address itself. */
    String resolve(String url, CallContext caller) {
        if (!url.startsWith(REGISTRY)) {
            return url;
        }
        Object answer = hub.agents()
                .endpoint("registry")
                .call(new MethodCall("registry/show", Map.of("id", url.substring(REGISTRY.length()))), caller);
        Map<?, ?> members = answer instanceof WireDocument entry ? Json.read(entry.bytes(), Map.class) : Map.of();
        var addresses = new ArrayList<@Nullable Object>();
        addresses.add(members.get("url"));
        if (members.get("endpoints") instanceof List<?> endpoints) { // an entry of a file has those of its card only
            endpoints.forEach(each -> addresses.add(each instanceof Map<?, ?> endpoint ? endpoint.get("url") : null));
        }
        return addresses.stream()
                .filter(each -> each instanceof String address && address.startsWith("http"))
                .map(String::valueOf)
                .findFirst()
                .orElseThrow(() -> A2AException.invalidParams("url", url + ": the entry has no http address"));
    }

    /** Options of a route to an entry of the registry; none for other addresses. */
    Map<String, Object> entry(String url, CallContext caller) {
        return url.startsWith(REGISTRY)
                ? Map.of(
                        Route.ENTRY,
                        url.substring(REGISTRY.length()),
                        Route.ENTRY_GROUP,
                        caller.scope().group())
                : Map.of();
    }

    /** Refuses calls of an agent whose entry is not in the registry any more, or names another address, as when a peer was cut. */
    private void requireListed(Route route) {
        String entry = route.option(Route.ENTRY);
        if (entry.isEmpty()) {
            return;
        }
        var reader = CallContext.of("gateway", new Scope(route.option(Route.ENTRY_GROUP), "gateway"));
        String address;
        try {
            address = resolve(REGISTRY + entry, reader);
        } catch (A2AException gone) {
            if (gone.error() == A2AError.UNAVAILABLE) {
                throw gone;
            }
            throw A2AException.of(
                            A2AError.UNAVAILABLE,
                            "The agent \"" + route.name() + "\" is no longer in the registry of the hub")
                    .causedBy(gone);
        }
        if (!address.equals(route.url())) {
            throw A2AException.of(
                    A2AError.UNAVAILABLE,
                    "The registry of the hub has another address for the agent \"" + route.name()
                            + "\" (expected: an operator adds the route again)");
        }
    }

    /**
     * Adds a route, after its card was read.
     *
     * @throws A2AException INVALID_PARAMS with the reason if the card cannot be used
     */
    Route add(Route route) {
        byte[] document;
        origin(route.url());
        origin(address(route));
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
        var options = new HashMap<String, Object>(route.options());
        options.computeIfAbsent("replicas", none -> List.of(route.url()));
        return valid("set", () -> UpstreamSettings.read(options));
    }

    private static RouteCredential credential(Route route) {
        return valid("set", () -> RouteCredential.read(route.options()));
    }

    /** A value of an operator's field, with the refusal of one that is not valid. */
    static <T> T valid(String field, Supplier<T> value) {
        try {
            return value.get();
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams(field, String.valueOf(wrong.getMessage()));
        }
    }

    /**
     * Reads the card of a route again. A changed one is used from now on, unless its security differs.
     *
     * @throws ClientException if there is none that can be used
     */
    Route refresh(String name) {
        Route route = named(name);
        byte[] document = fetch(route);
        byte[] confirmed = route.card();
        RemoteCard now;
        try {
            now = read(route, document);
        } catch (ClientException refused) {
            if (confirmed == null || refused.problem() != Problem.CARD_NOT_VERIFIED || route.state() == State.PAUSED) {
                throw refused;
            }
            if (route.state() == State.CHANGED) {
                return route;
            }
            note(route, "security", "signature", CardSource.digest(document));
            return change(name, row -> row.in(State.CHANGED, String.valueOf(refused.getMessage()), null));
        }
        boolean isKnown = route.pending() == null
                ? Arrays.equals(confirmed, document) && route.state() != State.CHANGED
                : Arrays.equals(route.pending(), document);
        Route next = route;
        if (!isKnown) {
            requireUsable(route, now);
            List<String> security = List.of();
            if (confirmed != null) {
                RemoteCard before = reading(route, confirmed);
                security = now.otherSecurity(before);
                note(route, "security", String.join(", ", security), now.digest());
                note(route, "skills", String.join(", ", now.otherSkills(before)), now.digest());
            }
            String reason = security.isEmpty() ? "" : "the card has other " + String.join(", ", security);
            next = table.change(name, row -> {
                        if (!Arrays.equals(row.card(), confirmed)) {
                            return row; // an operator or another hub was faster
                        }
                        Route confirming = row.with(document);
                        return !reason.isEmpty()
                                ? row.in(State.CHANGED, reason, document)
                                : row.state() == State.PAUSED
                                        ? confirming.in(State.PAUSED, row.reason(), null)
                                        : confirming;
                    })
                    .orElse(route);
        }
        problems.remove(name);
        reload();
        return next;
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

    private void note(Route route, String kind, String changed, String digest) {
        if (changed.isEmpty()) {
            return;
        }
        changes.add(1, route.name(), kind);
        LOG.log(Level.WARNING, "route {0}: the card has other {1}: {2}", route.name(), kind, changed);
        String action = "gateway.card." + kind;
        Map<String, Object> details = Map.of("changed", changed, "digest", digest);
        hub.audit().note(new Entry("default", route.name(), action, route.name(), "", "changed", "", "", details));
    }

    /** Begins no tasks at a replica any more, or begins them again. */
    Route drain(String name, String url, boolean draining) {
        return change(name, row -> {
            UpstreamSettings changed = valid("url", () -> settings(row).draining(url, draining));
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
        Route changed = table.change(name, change).orElseThrow(() -> unknown(name));
        reload();
        return changed;
    }

    void remove(String name) {
        if (!table.remove(name)) {
            throw unknown(name);
        }
        owners.forget();
        reload();
        relay.forget(name);
    }

    /** The remote agent of a route as callers reach it; empty if it is not hosted. */
    Optional<AgentEndpoint> endpoint(String name) {
        return Optional.ofNullable(live.get(name)).flatMap(Live::endpoint);
    }

    /** The replicas of a route with their states; none if it is not hosted. */
    List<Upstream.Status> replicas(String name) {
        Live known = live.get(name);
        return known == null ? List.of() : known.remote().status();
    }

    /** Hosts the routes as their rows are now. Rows are read, and connections closed, without the lock that hosts them. */
    void reload() {
        long now = table.epoch();
        if (isHosted(now)) {
            return;
        }
        // Before the rows are read: the row of a route of the settings may be written meanwhile.
        Set<String> withoutRow = Set.copyOf(unread.keySet());
        Map<String, String> damaged = table.damaged();
        List<Route> rows = table.all();
        var ended = new ArrayList<Live>();
        try {
            host(now, rows, damaged, withoutRow, ended);
        } finally {
            ended.forEach(Live::close);
        }
    }

    private synchronized boolean isHosted(long change) {
        return closing.getCount() == 0 || change < epoch || change == epoch && complete;
    }

    /** @param ended takes the routes that are not used any more */
    private synchronized void host(
            long now, List<Route> rows, Map<String, String> damaged, Set<String> withoutRow, List<Live> ended) {
        if (isHosted(now)) {
            return; // these rows, or newer ones
        }
        boolean all = true;
        damaged.forEach((name, reason) -> fail(name, new StoreException(reason)));
        var names = new HashSet<String>();
        for (Route route : rows) {
            names.add(route.name());
            Live known = live.get(route.name());
            if (route.card() != null && (known == null || !known.route().isSame(route))) {
                try {
                    host(route, known, ended);
                    problems.remove(route.name());
                } catch (RuntimeException failure) {
                    fail(route.name(), failure);
                    all = false; // tried again with the next reload
                }
            }
            if (!live.containsKey(route.name())) {
                waiting.putIfAbsent(route.name(), "its card is being read");
            }
            refreshes.add(route.name(), route.card() != null);
        }
        for (String name : List.copyOf(live.keySet())) {
            if (!names.contains(name)) {
                hub.agents().remove(name);
                ended.add(requireNonNull(live.remove(name)));
                owners.forget();
            }
        }
        problems.keySet().removeIf(name -> !names.contains(name) && !withoutRow.contains(name));
        waiting.keySet().removeIf(name -> !names.contains(name) && !withoutRow.contains(name));
        epoch = now;
        complete = all;
    }

    private void host(Route route, @Nullable Live known, List<Live> ended) {
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
        waiting.remove(route.name());
        LOG.log(
                Level.INFO,
                "route {0}: hosted, {1}",
                route.name(),
                route.state().shown());
        if (known != null && !isSame) {
            ended.add(known);
        }
    }

    private RemoteEndpoint.Known known(Route route, RemoteCard card, Upstream upstream) {
        boolean extended = Boolean.TRUE.equals(card.card().capabilities().extendedAgentCard());
        return new RemoteEndpoint.Known(
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
                () -> requireListed(route),
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

    /** Whether a text is an http or https URL, or names an entry of the registry. */
    static boolean isAddress(String text) {
        try {
            return text.startsWith(REGISTRY) || !origin(text).toString().isEmpty();
        } catch (A2AException wrong) {
            return false;
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
        List<Live> ended;
        synchronized (this) {
            ended = List.copyOf(live.values());
            live.clear();
        }
        ended.forEach(Live::close);
        timer.shutdownNow();
        cards.close();
        clients.close();
    }
}
