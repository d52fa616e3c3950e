package dev.parley.gateway.hub;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.extension.HubParts;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.card.RemoteCards;
import dev.parley.gateway.credentials.GatewayCredentials;
import dev.parley.gateway.credentials.RouteCredential;
import dev.parley.gateway.credentials.SecretName;
import dev.parley.gateway.route.Route;
import dev.parley.gateway.upstream.GatewayMetrics;
import dev.parley.gateway.upstream.GatewayParts;
import dev.parley.gateway.upstream.ReplicaConnector;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.gateway.upstream.UpstreamSettings;
import dev.parley.outbound.AddressRule;
import dev.parley.outbound.GuardedClients;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.support.Loopback;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Supplier;

/** Connections to remote agents, and reading of their cards, as the options of their routes say. Safe for any thread. */
final class GatewayConnections implements AutoCloseable {
    private static final int PROBES_AT_ONCE = 4;

    private final HubParts hub;
    private final List<String> allowed;
    private final GuardedClients clients;
    private final RemoteCards cards;
    private final SecretName.Places secrets;
    private final GatewayMetrics metrics;
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            PROBES_AT_ONCE, Thread.ofPlatform().daemon().name("gateway-probes").factory());

    /** A connection to the replicas of an agent. */
    record Connection(Upstream remote, GatewayCredentials credentials) {
        void close() {
            remote.close();
            credentials.close();
        }
    }

    /** @param allowed hosts that may be private, which the rule knows, too */
    GatewayConnections(HubParts hub, List<String> allowed, AddressRule rule, GatewaySettings settings) {
        this.hub = hub;
        this.allowed = allowed;
        this.clients = new GuardedClients(rule);
        this.cards = new RemoteCards(rule, settings.trusted());
        this.secrets = SecretName.Places.of(settings.secrets());
        this.metrics = new GatewayMetrics(hub.metrics());
    }

    ScheduledThreadPoolExecutor timer() {
        return timer;
    }

    static UpstreamSettings settings(Route route) {
        var options = new HashMap<String, Object>(route.options());
        options.computeIfAbsent("replicas", none -> List.of(route.url()));
        return valid("set", () -> UpstreamSettings.read(options));
    }

    static RouteCredential credential(Route route) {
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

    byte[] fetch(Route route) {
        return fetch(route, route.url());
    }

    private byte[] fetch(Route route, String url) {
        return cards.fetch(URI.create(url), () -> builder(route).connect(url));
    }

    private RemoteCard replica(Route route, String url) {
        return cards.read(fetch(route, url), route.option(Route.TRUST), Addresses.origin(url));
    }

    RemoteCard read(Route route, byte[] document) {
        return cards.read(document, route.option(Route.TRUST), Addresses.called(route));
    }

    /** Reads a document that was accepted before; a key that verified it may not be trusted any more. */
    RemoteCard reading(Route route, byte[] document) {
        try {
            return read(route, document);
        } catch (ClientException untrusted) {
            return cards.read(document, "", Addresses.called(route));
        }
    }

    void requireUsable(Route route, RemoteCard card) {
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

    Connection open(Route route, RemoteCard card) {
        var credentials = new GatewayCredentials(credential(route), secrets, this::tokens);
        ReplicaConnector connector = (url, builder) -> builder.of(
                url.equals(route.url()) ? card.called() : replica(route, url).called());
        var surroundings =
                new GatewayParts(connector, () -> credentials.on(builder(route)), metrics, timer, System::nanoTime);
        return new Connection(Upstream.of(route.name(), settings(route), surroundings), credentials);
    }

    /** Connections to authorization servers, whose addresses operators of the hub choose as those of agents. */
    private AgentClientBuilder tokens() {
        return AgentClient.builder().httpClient(clients.of("gateway"));
    }

    private AgentClientBuilder builder(Route route) {
        AgentClientBuilder builder = AgentClient.builder();
        URI origin = Addresses.called(route);
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

    @Override
    public void close() {
        timer.shutdownNow();
        cards.close();
        clients.close();
    }
}
