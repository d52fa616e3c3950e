package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.extension.Handlers;
import dev.parley.extension.HubParts;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.hub.RouteOperation.AddRoute;
import dev.parley.gateway.hub.RouteOperation.CardView;
import dev.parley.gateway.hub.RouteOperation.Phase;
import dev.parley.gateway.hub.RouteOperation.Removed;
import dev.parley.gateway.hub.RouteOperation.ReplicaView;
import dev.parley.gateway.hub.RouteOperation.RouteDetails;
import dev.parley.gateway.hub.RouteOperation.RouteView;
import dev.parley.gateway.route.Route;
import dev.parley.gateway.upstream.Breaker;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CallContext;
import dev.parley.trust.cards.CardTrust;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Handlers of the {@linkplain RouteOperation operations} on routes. */
final class RouteOperations {
    private static final List<String> SETTINGS = List.of(
            ("connect-timeout first-byte-timeout idle-timeout total-timeout concurrency retries resumes failures pause "
                            + "probe deduplicates credential credential-header secret token-url client-id scope audience")
                    .split(" ", -1));

    private final HubParts hub;
    private final Routes routes;

    RouteOperations(HubParts hub, Routes routes) {
        this.hub = hub;
        this.routes = routes;
    }

    Handlers handlers() {
        return Handlers.NONE
                .call(RouteOperation.ADD, this::add)
                .call(RouteOperation.LIST, (given, operator) -> list())
                .call(RouteOperation.SHOW, (given, operator) -> details(routes.named(given.route())))
                .call(RouteOperation.REMOVE, (given, operator) -> {
                    routes.remove(given.route());
                    return new Removed(given.route());
                })
                .call(RouteOperation.PAUSE, (given, operator) -> shown(routes.pause(given.route(), given.reason())))
                .call(
                        RouteOperation.DRAIN,
                        (given, operator) -> shown(routes.drain(given.route(), given.url(), !given.end())))
                .call(RouteOperation.RESUME, (given, operator) -> shown(routes.resume(given.route())))
                .call(RouteOperation.REFRESH, (given, operator) -> shown(routes.refreshNow(given.route())));
    }

    private List<RouteView> list() {
        var all = new ArrayList<RouteView>();
        routes.all().forEach(route -> all.add(shown(route)));
        routes.damaged().forEach((name, reason) -> all.add(new RouteView(name, "", Phase.DAMAGED, reason, "", "")));
        return all;
    }

    private RouteView add(AddRoute given, CallContext operator) {
        String name = given.route();
        boolean isRoute = routes.all().stream().anyMatch(route -> route.name().equals(name));
        if (!isRoute && hub.agents().cards(operator).containsKey(name)) {
            throw A2AException.invalidParams("name", name + ": an agent of the hub has this name");
        }
        String trust = requireNonNullElse(given.trust(), "");
        if (given.trust() != null) {
            var unused = GatewayConnections.valid(Route.TRUST, () -> CardTrust.of(trust));
        }
        var options = new LinkedHashMap<String, Object>();
        put(options, Route.ADDRESS, given.address());
        put(options, Route.BINDING, given.binding());
        put(options, Route.VERSION, given.version());
        put(options, Route.TRUST, trust);
        if (!given.replicas().isEmpty()) {
            options.put("replicas", given.replicas());
        }
        given.set().forEach(setting -> set(options, setting));
        if (given.verbatim()) {
            options.put(Route.VERBATIM, true);
        }
        options.putAll(routes.addresses().entry(given.url(), operator));
        return shown(routes.add(Route.of(name, routes.addresses().resolve(given.url(), operator), options)));
    }

    private static void put(Map<String, Object> options, String option, String value) {
        if (!value.isEmpty()) {
            options.put(option, value);
        }
    }

    private static void set(Map<String, Object> options, String setting) {
        int end = setting.indexOf('=');
        if (end <= 0 || !SETTINGS.contains(setting.substring(0, end))) {
            throw A2AException.invalidParams(
                    "set", setting + " (expected: NAME=VALUE with one of " + String.join(", ", SETTINGS) + ")");
        }
        String name = setting.substring(0, end);
        String value = setting.substring(end + 1);
        boolean isNumber = value.matches("\\d{1,9}");
        boolean isTruth = value.equals("true") || value.equals("false") && RouteOptions.TRUTHS.contains(name);
        if (RouteOptions.NUMBERS.contains(name) && !isNumber) {
            throw A2AException.invalidParams("set", setting + " (expected: a number of at most 9 digits)");
        }
        if (RouteOptions.TRUTHS.contains(name) && !isTruth) {
            throw A2AException.invalidParams("set", setting + " (expected: true or false)");
        }
        options.put(
                name,
                isNumber ? (Object) Integer.parseInt(value) : isTruth ? (Object) Boolean.parseBoolean(value) : value);
    }

    private RouteView shown(Route route) {
        List<Upstream.Status> replicas = routes.replicas(route.name());
        long taking = replicas.stream()
                .filter(each -> !each.draining() && each.breaker() == Breaker.State.CLOSED)
                .count();
        return new RouteView(
                route.name(),
                route.url(),
                phase(route),
                route.reason(),
                routes.problems().of(route.name()),
                replicas.size() > 1 ? taking + " of " + replicas.size() + " replicas" : "");
    }

    private static Phase phase(Route route) {
        return switch (route.state()) {
            case ACTIVE -> route.card() == null ? Phase.WAITING : Phase.ACTIVE;
            case PAUSED -> Phase.PAUSED;
            case CHANGED -> Phase.CHANGED;
        };
    }

    private RouteDetails details(Route route) {
        var options = new LinkedHashMap<>(route.options());
        options.computeIfPresent(Route.TRUST, (option, keys) -> true);
        RemoteCard card = routes.card(route, route.card());
        RemoteCard next = routes.card(route, route.pending());
        return new RouteDetails(
                shown(route),
                hub.agents().url(route.name()),
                options,
                card == null ? null : shown(card),
                routes.replicas(route.name()).stream()
                        .map(RouteOperations::shown)
                        .toList(),
                next == null ? null : next.digest());
    }

    private static CardView shown(RemoteCard card) {
        return new CardView(
                card.digest(),
                card.verdict().outcome(),
                card.verdict().reason(),
                card.card().skills().stream().map(Skill::id).toList());
    }

    private static ReplicaView shown(Upstream.Status replica) {
        return new ReplicaView(
                replica.url(), replica.weight(), replica.draining(), replica.breaker(), replica.outstanding());
    }
}
