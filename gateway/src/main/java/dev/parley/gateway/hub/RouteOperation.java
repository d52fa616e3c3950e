package dev.parley.gateway.hub;

import static dev.parley.protocol.json.Codecs.BOOLEAN;
import static dev.parley.protocol.json.Codecs.COUNT;
import static dev.parley.protocol.json.Codecs.TEXT;
import static dev.parley.protocol.json.Codecs.TEXTS;
import static dev.parley.protocol.json.Codecs.TRUTH;

import dev.parley.extension.AdminCall;
import dev.parley.extension.AdminRow;
import dev.parley.gateway.route.Route;
import dev.parley.gateway.upstream.Breaker;
import dev.parley.protocol.CardVerifier.Outcome;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.ObjectCodec;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Operations of the administration on routes: their requests, their answers, and a row for each. */
public final class RouteOperation {
    private static final String ROUTE = "/gateway/routes/{name}";

    private RouteOperation() {}

    @AdminCall.Named("gateway/list")
    record ListRoutes() implements AdminCall<List<RouteView>> {}

    @AdminCall.Named("gateway/show")
    record ShowRoute(String route) implements AdminCall<RouteDetails> {}

    /**
     * Hosts a remote agent.
     *
     * @param url of the agent or its card, or {@code registry:ID}
     * @param address scheme, host and port that are called; empty for those of the first address
     * @param binding preferred one; empty for any
     * @param version only version of A2A in which it is called; empty for the best
     * @param trust keys of which one has to sign the card; null for none
     * @param replicas addresses of all replicas; empty for the first address
     * @param set settings as {@code NAME=VALUE}
     * @param verbatim whether the card is served byte for byte
     */
    @AdminCall.Named("gateway/add")
    record AddRoute(
            String route,
            String url,
            String address,
            String binding,
            String version,
            @Nullable String trust,
            List<String> replicas,
            List<String> set,
            boolean verbatim)
            implements AdminCall<RouteView> {}

    @AdminCall.Named("gateway/remove")
    record RemoveRoute(String route) implements AdminCall<Removed> {}

    /** @param reason for operators */
    @AdminCall.Named("gateway/pause")
    record PauseRoute(String route, String reason) implements AdminCall<RouteView> {}

    @AdminCall.Named("gateway/resume")
    record ResumeRoute(String route) implements AdminCall<RouteView> {}

    /**
     * Begins no tasks at a replica any more.
     *
     * @param url of the replica
     * @param end whether tasks begin there again
     */
    @AdminCall.Named("gateway/drain")
    record DrainReplica(String route, String url, boolean end) implements AdminCall<RouteView> {}

    @AdminCall.Named("gateway/refresh")
    record RefreshRoute(String route) implements AdminCall<RouteView> {}

    /** State of a route, for operators. */
    public enum Phase {
        ACTIVE,
        /** The card was not read yet. */
        WAITING,
        PAUSED,
        CHANGED,
        /** The database has no route of that name that can be read. */
        DAMAGED
    }

    /**
     * A route.
     *
     * @param url empty if it is damaged
     * @param reason of its state; empty for none
     * @param problem with the remote agent; empty for none
     * @param available how many replicas take tasks, in words; empty if there is one
     */
    public record RouteView(String name, String url, Phase state, String reason, String problem, String available) {}

    /**
     * A route with its card and its replicas.
     *
     * @param address of the agent at the hub
     * @param options of the route by their names; of keys, whether there are some
     * @param card null if none was read
     * @param pendingDigest of a card that waits for an operator; null for none
     */
    public record RouteDetails(
            RouteView route,
            String address,
            Map<String, Object> options,
            @Nullable CardView card,
            List<ReplicaView> replicas,
            @Nullable String pendingDigest) {}

    /** The card of a remote agent. */
    public record CardView(String digest, Outcome verdict, String verdictReason, List<String> skills) {}

    /**
     * A replica of a remote agent.
     *
     * @param draining whether no task begins there
     * @param outstanding calls that it has not answered yet
     */
    public record ReplicaView(String url, long weight, boolean draining, Breaker.State breaker, long outstanding) {}

    /** The name of a route that was removed. */
    public record Removed(String removed) {}

    private static <T> ObjectCodec.Builder<T> route(Function<T, RouteView> route) {
        return ObjectCodec.<T>of()
                .required("name", TEXT, of -> route.apply(of).name())
                .required("url", TEXT, of -> route.apply(of).url())
                .required(
                        "state",
                        Codecs.words(Phase.class),
                        of -> route.apply(of).state())
                .optional("reason", TEXT, "", of -> route.apply(of).reason())
                .optional("problem", TEXT, "", of -> route.apply(of).problem())
                .optional("available", TEXT, "", of -> route.apply(of).available());
    }

    private static RouteView view(ObjectCodec.Values v) {
        return new RouteView(v.next(), v.next(), v.next(), v.next(), v.next(), v.next());
    }

    private static final Codec<RouteView> VIEW =
            RouteOperation.<RouteView>route(Function.identity()).as(RouteOperation::view);

    private static final Codec<ReplicaView> REPLICA = ObjectCodec.<ReplicaView>of()
            .required("url", TEXT, ReplicaView::url)
            .required("weight", COUNT, ReplicaView::weight)
            .required("draining", BOOLEAN, ReplicaView::draining)
            .required("breaker", Codecs.words(Breaker.State.class), ReplicaView::breaker)
            .required("outstanding", COUNT, ReplicaView::outstanding)
            .as(v -> new ReplicaView(v.next(), v.next(), v.next(), v.next(), v.next()));

    private static <V> Function<RouteDetails, @Nullable V> ofCard(Function<CardView, V> member) {
        return details -> {
            CardView card = details.card();
            return card == null ? null : member.apply(card);
        };
    }

    private static final Codec<RouteDetails> DETAILS = RouteOperation.route(RouteDetails::route)
            .required("address", TEXT, RouteDetails::address)
            .required("options", RouteOptions.CODEC, RouteDetails::options)
            .optional("digest", TEXT, ofCard(CardView::digest))
            .optional("verdict", Codecs.enumeration("", Outcome.class), ofCard(CardView::verdict))
            .optional("verdictReason", TEXT, ofCard(CardView::verdictReason))
            .optional("skills", TEXTS, ofCard(CardView::skills))
            .required("replicas", Codecs.list(REPLICA), RouteDetails::replicas)
            .optional("pendingDigest", TEXT, RouteDetails::pendingDigest)
            .as(RouteOperation::details);

    private static RouteDetails details(ObjectCodec.Values v) {
        RouteView route = view(v);
        String address = v.next();
        Map<String, Object> options = v.next();
        String digest = v.next();
        Outcome verdict = v.next();
        String reason = v.next();
        List<String> skills = v.next();
        CardView card = digest == null ? null : new CardView(digest, verdict, reason, skills);
        return new RouteDetails(route, address, options, card, v.next(), v.next());
    }

    static final ExtensionMethod<AddRoute, RouteView> ADD = AdminRow.of(
            AddRoute.class,
            "POST /gateway/routes",
            "Host a remote agent",
            named(AddRoute::route)
                    .required("url", TEXT, AddRoute::url)
                    .argument("URL", "Address of the agent or its card, or registry:ID for an entry of the registry.")
                    .optional(Route.ADDRESS, TEXT, "", AddRoute::address)
                    .help("URL", "Scheme, host and port that are called; default: those of the first address.")
                    .optional(Route.BINDING, TEXT, "", AddRoute::binding)
                    .help("BINDING", "Preferred binding: JSONRPC, HTTP+JSON or GRPC.")
                    .optional(Route.VERSION, TEXT, "", AddRoute::version)
                    .help(
                            "VERSION",
                            "Only version of A2A in which it is called, such as 0.3; default: the best on its card.")
                    .optional(Route.TRUST, TEXT, AddRoute::trust)
                    .help(
                            "KEYS",
                            "Public keys of which one has to sign the card: a JWK set or PEM; @FILE reads a file.")
                    .optional("replicas", TEXTS, List.of(), AddRoute::replicas)
                    .help("URL", "Addresses of all replicas; default: the first address.")
                    .flag("--replica")
                    .optional("set", TEXTS, List.of(), AddRoute::set)
                    .help("NAME=VALUE", "Setting of its connections or its credential, as docs/gateway.md lists them.")
                    .optional(Route.VERBATIM, TRUTH, false, AddRoute::verbatim)
                    .help("", "Serve the card byte for byte.")
                    .as(v -> new AddRoute(
                            v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next(), v.next())),
            VIEW);

    static final ExtensionMethod<ListRoutes, List<RouteView>> LIST = AdminRow.of(
            ListRoutes.class,
            "GET /gateway/routes",
            "List the remote agents",
            ObjectCodec.<ListRoutes>of().as(v -> new ListRoutes()),
            ObjectCodec.list("routes", VIEW));

    static final ExtensionMethod<ShowRoute, RouteDetails> SHOW = AdminRow.of(
            ShowRoute.class,
            "GET " + ROUTE,
            "Show a remote agent",
            named(ShowRoute::route).as(v -> new ShowRoute(v.next())),
            DETAILS);

    static final ExtensionMethod<RemoveRoute, Removed> REMOVE = AdminRow.of(
            RemoveRoute.class,
            "DELETE " + ROUTE,
            "Remove a remote agent, and the owners of its tasks",
            named(RemoveRoute::route).as(v -> new RemoveRoute(v.next())),
            ObjectCodec.<Removed>of()
                    .required("removed", TEXT, Removed::removed)
                    .as(v -> new Removed(v.next())));

    static final ExtensionMethod<PauseRoute, RouteView> PAUSE = AdminRow.of(
            PauseRoute.class,
            "POST " + ROUTE + "/pause",
            "Refuse calls of a remote agent",
            named(PauseRoute::route)
                    .optional("reason", TEXT, "by an operator", PauseRoute::reason)
                    .help("TEXT", "Reason, for operators.")
                    .as(v -> new PauseRoute(v.next(), v.next())),
            VIEW);

    static final ExtensionMethod<DrainReplica, RouteView> DRAIN = AdminRow.of(
            DrainReplica.class,
            "POST " + ROUTE + "/drain",
            "Begin no tasks at a replica of a remote agent any more; its tasks go on",
            named(DrainReplica::route)
                    .required("url", TEXT, DrainReplica::url)
                    .argument("URL", "Address of the replica.")
                    .optional("end", TRUTH, false, DrainReplica::end)
                    .help("", "Begin tasks there again.")
                    .as(v -> new DrainReplica(v.next(), v.next(), v.next())),
            VIEW);

    static final ExtensionMethod<ResumeRoute, RouteView> RESUME = AdminRow.of(
            ResumeRoute.class,
            "POST " + ROUTE + "/resume",
            "Pass calls of a remote agent on again, and confirm its changed card",
            named(ResumeRoute::route).as(v -> new ResumeRoute(v.next())),
            VIEW);

    static final ExtensionMethod<RefreshRoute, RouteView> REFRESH = AdminRow.of(
            RefreshRoute.class,
            "POST " + ROUTE + "/refresh",
            "Read the card of a remote agent now",
            named(RefreshRoute::route).as(v -> new RefreshRoute(v.next())),
            VIEW);

    /** All rows. */
    public static final List<ExtensionMethod<?, ?>> ROWS =
            List.of(ADD, LIST, SHOW, REMOVE, PAUSE, DRAIN, RESUME, REFRESH);

    private static <T> ObjectCodec.Builder<T> named(Function<T, String> route) {
        return ObjectCodec.<T>of().required("name", TEXT, route).argument("NAME", "Name of the route and its agent.");
    }
}
