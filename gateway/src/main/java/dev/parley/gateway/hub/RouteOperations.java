package dev.parley.gateway.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.extension.AdminHandler;
import dev.parley.extension.AdminParameters;
import dev.parley.extension.AdminRow;
import dev.parley.extension.AnswerSchema;
import dev.parley.extension.HubParts;
import dev.parley.gateway.card.RemoteCard;
import dev.parley.gateway.route.Route;
import dev.parley.gateway.route.Route.State;
import dev.parley.gateway.upstream.Upstream;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.RestParameter;
import dev.parley.protocol.extension.RestParameter.Type;
import dev.parley.trust.cards.CardTrust;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Operations of the administration on routes. */
public final class RouteOperations {
    private static final String LIST = "gateway/list";
    private static final String SHOW = "gateway/show";
    private static final String ADD = "gateway/add";
    private static final String REMOVE = "gateway/remove";
    private static final String PAUSE = "gateway/pause";
    private static final String RESUME = "gateway/resume";
    private static final String DRAIN = "gateway/drain";
    private static final String REFRESH = "gateway/refresh";

    private static final String ROUTE = "/gateway/routes/{name}";

    private static final List<String> SETTINGS = List.of(
            ("connect-timeout first-byte-timeout idle-timeout total-timeout concurrency retries resumes failures pause "
                            + "probe deduplicates credential credential-header secret token-url client-id scope audience")
                    .split(" ", -1));

    private static final RestParameter NAME = RestParameter.path("name", "NAME", "Name of the route and its agent.");

    private final HubParts hub;
    private final Routes routes;

    RouteOperations(HubParts hub, Routes routes) {
        this.hub = hub;
        this.routes = routes;
    }

    /** Rows of the operations. */
    public static List<ExtensionMethod<?, ?>> administration() {
        RestParameter url =
                text("url", "URL", "Address of the agent or its card, or registry:ID for an entry of the registry.");
        return List.of(
                row(
                        ADD,
                        "POST /gateway/routes",
                        "Host a remote agent",
                        text("name", "NAME", "Name of the route and its agent.").asArgument(),
                        url.asArgument(),
                        text(
                                Route.ADDRESS,
                                "URL",
                                "Scheme, host and port that are called; default: those of the first address."),
                        text(Route.BINDING, "BINDING", "Preferred binding: JSONRPC, HTTP+JSON or GRPC."),
                        text(
                                Route.VERSION,
                                "VERSION",
                                "Only version of A2A in which it is called, such as 0.3; default: the best on its card."),
                        text(
                                Route.TRUST,
                                "KEYS",
                                "Public keys of which one has to sign the card: a JWK set or PEM; @FILE reads a file."),
                        texts("replicas", "URL", "Addresses of all replicas; default: the first address.")
                                .flag("--replica"),
                        texts(
                                "set",
                                "NAME=VALUE",
                                "Setting of its connections or its credential, as docs/gateway.md lists them."),
                        RestParameter.member(Route.VERBATIM, Type.TRUTH, "", "Serve the card byte for byte.")),
                row(LIST, "GET /gateway/routes", "List the remote agents"),
                row(SHOW, "GET " + ROUTE, "Show a remote agent", NAME),
                row(REMOVE, "DELETE " + ROUTE, "Remove a remote agent, and the owners of its tasks", NAME),
                row(
                        PAUSE,
                        "POST " + ROUTE + "/pause",
                        "Refuse calls of a remote agent",
                        NAME,
                        text("reason", "TEXT", "Reason, for operators.")),
                row(
                        DRAIN,
                        "POST " + ROUTE + "/drain",
                        "Begin no tasks at a replica of a remote agent any more; its tasks go on",
                        NAME,
                        text("url", "URL", "Address of the replica.").asArgument(),
                        RestParameter.member("end", Type.TRUTH, "", "Begin tasks there again.")),
                row(
                        RESUME,
                        "POST " + ROUTE + "/resume",
                        "Pass calls of a remote agent on again, and confirm its changed card",
                        NAME),
                row(REFRESH, "POST " + ROUTE + "/refresh", "Read the card of a remote agent now", NAME));
    }

    private static ExtensionMethod<?, ?> row(String name, String rest, String summary, RestParameter... parameters) {
        return AdminRow.of(name, rest, summary, AnswerSchema.ANY, parameters);
    }

    private static RestParameter text(String name, String label, String description) {
        return RestParameter.member(name, Type.TEXT, label, description);
    }

    private static RestParameter texts(String name, String label, String description) {
        return RestParameter.member(name, Type.TEXTS, label, description);
    }

    /** Handlers of the operations, by name. */
    Map<String, AdminHandler> handlers() {
        return Map.of(
                ADD,
                this::add,
                LIST,
                (given, operator) -> list(),
                SHOW,
                (given, operator) -> details(routes.named(given.text("name"))),
                REMOVE,
                (given, operator) -> {
                    routes.remove(given.text("name"));
                    return Map.of("removed", given.text("name"));
                },
                PAUSE,
                (given, operator) -> shown(routes.pause(
                        given.text("name"), requireNonNullElse(given.textOrNull("reason"), "by an operator"))),
                DRAIN,
                (given, operator) -> shown(routes.drain(given.text("name"), given.text("url"), !given.isTrue("end"))),
                RESUME,
                (given, operator) -> shown(routes.resume(given.text("name"))),
                REFRESH,
                (given, operator) -> shown(routes.refreshNow(given.text("name"))));
    }

    private Map<String, Object> list() {
        var all = new ArrayList<Map<String, @Nullable Object>>();
        routes.all().forEach(route -> all.add(shown(route)));
        routes.damaged().forEach((name, reason) -> {
            var shown = new LinkedHashMap<String, @Nullable Object>();
            shown.put("name", name);
            shown.put("url", "");
            shown.put("state", "damaged");
            shown.put("reason", reason);
            all.add(shown);
        });
        return Map.of("routes", all);
    }

    private Object add(AdminParameters given, CallContext operator) {
        String name = given.text("name");
        boolean isRoute = routes.all().stream().anyMatch(route -> route.name().equals(name));
        if (!isRoute && hub.agents().cards(operator).containsKey(name)) {
            throw A2AException.invalidParams("name", name + ": an agent of the hub has this name");
        }
        var options = new LinkedHashMap<String, Object>();
        for (String option : List.of(Route.ADDRESS, Route.BINDING, Route.VERSION, Route.TRUST)) {
            String value = given.textOrNull(option);
            if (value != null && !value.isEmpty()) {
                options.put(option, value);
            }
        }
        if (!given.texts("replicas").isEmpty()) {
            options.put("replicas", given.texts("replicas"));
        }
        for (String setting : given.texts("set")) {
            int end = setting.indexOf('=');
            if (end <= 0 || !SETTINGS.contains(setting.substring(0, end))) {
                throw A2AException.invalidParams(
                        "set", setting + " (expected: NAME=VALUE with one of " + String.join(", ", SETTINGS) + ")");
            }
            String value = setting.substring(end + 1);
            options.put(
                    setting.substring(0, end),
                    value.matches("\\d{1,9}")
                            ? (Object) Integer.parseInt(value)
                            : value.equals("true") ? (Object) true : value);
        }
        if (given.isTrue(Route.VERBATIM)) {
            options.put(Route.VERBATIM, true);
        }
        try {
            var unused = given.textOrNull(Route.TRUST) == null ? null : CardTrust.of(given.text(Route.TRUST));
        } catch (IllegalArgumentException wrong) {
            throw A2AException.invalidParams(Route.TRUST, String.valueOf(wrong.getMessage()));
        }
        options.putAll(routes.entry(given.text("url"), operator));
        return shown(routes.add(Route.of(name, routes.resolve(given.text("url"), operator), options)));
    }

    private Map<String, @Nullable Object> shown(Route route) {
        var shown = new LinkedHashMap<String, @Nullable Object>();
        shown.put("name", route.name());
        shown.put("url", route.url());
        shown.put(
                "state",
                route.card() == null && route.state() == State.ACTIVE
                        ? "waiting"
                        : route.state().shown());
        if (!route.reason().isEmpty()) {
            shown.put("reason", route.reason());
        }
        String problem = routes.problem(route.name());
        if (!problem.isEmpty()) {
            shown.put("problem", problem);
        }
        List<Upstream.Status> replicas = routes.replicas(route.name());
        if (replicas.size() > 1) {
            long taking = replicas.stream()
                    .filter(each -> !each.draining() && each.breaker().equals("closed"))
                    .count();
            shown.put("available", taking + " of " + replicas.size() + " replicas");
        }
        return shown;
    }

    private Map<String, @Nullable Object> details(Route route) {
        Map<String, @Nullable Object> shown = shown(route);
        shown.put("address", hub.agents().url(route.name()));
        var options = new LinkedHashMap<>(route.options());
        options.computeIfPresent(Route.TRUST, (option, keys) -> true);
        shown.put("options", options);
        RemoteCard card = routes.card(route, route.card());
        if (card != null) {
            shown.put("digest", card.digest());
            shown.put("verdict", card.verdict().outcome().name());
            shown.put("verdictReason", card.verdict().reason());
            shown.put("skills", card.card().skills().stream().map(Skill::id).toList());
        }
        shown.put(
                "replicas",
                routes.replicas(route.name()).stream()
                        .map(each -> Map.of(
                                "url", each.url(),
                                "weight", each.weight(),
                                "draining", each.draining(),
                                "breaker", each.breaker(),
                                "outstanding", each.outstanding()))
                        .toList());
        RemoteCard next = routes.card(route, route.pending());
        if (next != null) {
            shown.put("pendingDigest", next.digest());
        }
        return shown;
    }
}
