package dev.parley.server;

import dev.parley.dialect.Dialects;
import dev.parley.dialect.Json;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.RequestHead;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.AuthenticationResult;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.server.wire.Cors;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Finds the handler or agent of a request. Safe for any thread. */
final class RequestRouter {
    private static final System.Logger LOG = System.getLogger("dev.parley.server");
    private static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE");
    private static final String ALL_METHODS =
            String.join(", ", METHODS.stream().sorted().toList());
    private static final String READING = "GET, HEAD";
    private static final byte[] NO_BODY = new byte[0];

    /** Paths at which the server itself answers. */
    static final List<String> OWN_PATHS = List.of("/health", "/ready", AgentDirectory.PATH);

    private static final String BELOW_AGENTS = AgentDirectory.PATH + "/";

    /** Begin of the paths of protocols below the address of each agent. */
    static final String OF_AGENTS = BELOW_AGENTS + "{agent}";

    private static final Duration RETRY_ELSEWHERE = Duration.ofSeconds(5);
    private static final Duration RETRY_SOON = Duration.ofSeconds(1);

    /**
     * Request head, read before the request is routed; the body may not have arrived.
     *
     * @param foreign whether a page of another origin that is not allowed sent it
     * @param admitted called when the request is admitted
     */
    record Head(
            String method,
            String path,
            Map<String, List<String>> query,
            RequestHead arrival,
            boolean foreign,
            Consumer<AuthenticationResult> admitted) {
        Head(String method, String path, Map<String, List<String>> query, RequestHead arrival) {
            this(method, path, query, arrival, false, admission -> {});
        }

        WireRequest request(String relativePath, byte[] body) {
            // A HEAD request gets the headers of the answer to GET; Answers leaves out the body.
            return new WireRequest(method.equals("HEAD") ? "GET" : method, relativePath, query, body, arrival);
        }
    }

    /**
     * An agent that answers at a path.
     *
     * @param face protocol of the requests; null for those of agents
     */
    record Front(String agent, @Nullable WireFace face) {}

    /**
     * Something at a path and below, or below the address of each agent.
     *
     * @param own its path, or what it adds to the address of an agent
     */
    private record Prefixed<T>(String path, boolean isOfAgents, String own, T target) {
        Prefixed(String path, T target) {
            this(
                    path,
                    path.startsWith(OF_AGENTS),
                    path.startsWith(OF_AGENTS) ? path.substring(OF_AGENTS.length()) : path,
                    target);
        }

        boolean has(String other) {
            return end(other) >= 0;
        }

        /** End of this path in another one; -1 if that is not below it. */
        int end(String other) {
            var from = isOfAgents ? other.indexOf('/', BELOW_AGENTS.length()) : 0;
            if (from < 0 || isOfAgents && !other.startsWith(BELOW_AGENTS)) {
                return -1;
            }
            var end = from + own.length();
            return other.startsWith(own, from) && (other.length() == end || other.charAt(end) == '/') ? end : -1;
        }
    }

    /**
     * Targets by their paths, found by the first segment of a path, so that the number of the others costs a request nothing.
     *
     * @param agents those of paths below {@link #BELOW_AGENTS}
     */
    private record Paths<T>(Map<String, List<Prefixed<T>>> bySegment, List<Prefixed<T>> agents) {
        static <T> Paths<T> of(Map<String, T> targets) {
            var bySegment = new HashMap<String, List<Prefixed<T>>>();
            targets.entrySet().stream()
                    .map(each -> new Prefixed<>(each.getKey(), each.getValue()))
                    .sorted((one, other) -> other.path().length() - one.path().length())
                    .forEach(each -> bySegment
                            .computeIfAbsent(segment(each.path()), any -> new ArrayList<>())
                            .add(each));
            return new Paths<>(bySegment, bySegment.getOrDefault(AgentDirectory.PATH, List.of()));
        }

        private static String segment(String path) {
            var end = path.indexOf('/', 1);
            return end < 0 ? path : path.substring(0, end);
        }

        /** Targets that may have a path, the longest first. */
        List<Prefixed<T>> near(String path) {
            return path.startsWith(BELOW_AGENTS) ? agents : bySegment.getOrDefault(segment(path), List.of());
        }
    }

    private final Dialects dialects;
    private final AgentDirectory agents;
    private final Authenticator authenticator;
    private final boolean protectCards;
    private final Paths<RequestHandler> handlers;
    private final Paths<Front> fronts;
    private final @Nullable RequestHandler home;
    private final Function<String, Optional<A2AException>> absent;
    private final Condition condition;
    private final IntConsumer refusals;

    /** Authentication of callers, and whether cards are protected by it. */
    record Access(Authenticator authenticator, boolean protectCards) {}

    /** Targets beside the agents, by their paths. */
    record Targets(
            Map<String, RequestHandler> handlers,
            Map<String, Front> fronts,
            @Nullable RequestHandler home) {}

    /** Condition of the server, as its builder describes it. */
    record Condition(
            Supplier<Optional<String>> ended,
            Supplier<Optional<String>> obstacle,
            Supplier<Optional<String>> readinessTest,
            Supplier<Map<String, String>> partsDown,
            BooleanSupplier draining) {}

    RequestRouter(
            Dialects dialects,
            AgentDirectory agents,
            Access access,
            Targets targets,
            Condition condition,
            Function<String, Optional<A2AException>> absent,
            IntConsumer refusals) {
        this.dialects = dialects;
        this.agents = agents;
        this.authenticator = access.authenticator();
        this.protectCards = access.protectCards();
        this.handlers = Paths.of(targets.handlers());
        this.fronts = Paths.of(targets.fronts());
        this.home = targets.home();
        this.condition = condition;
        this.absent = absent;
        this.refusals = refusals;
    }

    /** Returns the refusal of a method that no resource of this server has; null for other methods. */
    @Nullable
    WireAnswer refusedMethod(Head head) {
        return METHODS.contains(head.method())
                ? null
                : problem(head, A2AException.notAllowed(head.method(), ALL_METHODS));
    }

    /** Whether the service has ended. */
    boolean isEnded() {
        return condition.ended().get().isPresent();
    }

    /** Returns the refusal of a request after the end of the service; null before it, and for the condition of the server. */
    @Nullable
    WireAnswer refusedAtEnd(Head head) {
        return isEnded() && !isOfCondition(head.path())
                ? problem(head, A2AException.unavailable("The server is not ready", RETRY_ELSEWHERE))
                : null;
    }

    private static boolean isOfCondition(String path) {
        return path.equals("/health") || path.equals("/ready");
    }

    /**
     * Answers a request with an admitted method.
     *
     * @param body called only if the body is needed
     */
    WireAnswer answer(Head head, RefusableBody body) {
        var path = head.path();
        if (isOfCondition(path)) {
            if (!isRead(head)) {
                return problem(head, A2AException.notAllowed(head.method(), READING));
            }
            return path.equals("/health") ? status(true, Map.of("status", "up")) : readiness();
        }
        // Quick ones, such as metrics, which are of interest just then.
        for (var each : handlers.near(path)) {
            if (each.has(path)) {
                var relative = path.substring(each.path().length());
                return counted(each.target().answer(head.request(relative, NO_BODY), body));
            }
        }
        if (condition.draining().getAsBoolean()) {
            return problem(head, A2AException.unavailable("Shutting down", RETRY_ELSEWHERE));
        }
        if (path.equals(AgentDirectory.PATH)) {
            return listing(head);
        }
        var front = front(head.arrival());
        if (path.startsWith(BELOW_AGENTS) && (front == null || !front.isOfAgents())) {
            var slash = path.indexOf('/', BELOW_AGENTS.length());
            var end = slash < 0 ? path.length() : slash;
            var agent = agents.get(path.substring(BELOW_AGENTS.length(), end));
            var below = agentPath(below(end, head), head);
            return agent == null ? toNone(below, head, body) : toAgent(agent, below, head, body);
        }
        if (front != null) {
            var agent = agents.get(front.target().agent());
            // Operations whose paths begin like that of the agent, because A2A has the rest, such as /activity/tasks.
            var isWhole = front.target().face() == null
                    && agent != null
                    && agent.extensions().isAt(path);
            var end = isWhole ? 0 : front.end(path);
            return front.target().face() != null
                    ? toFace(agent, admitting(front, path), front.target().face(), end, head, body)
                    : agent == null
                            ? toNone(below(end, head), head, body)
                            : toAgent(agent, below(end, head), head, body);
        }
        if (home != null && isRead(head) && isRoot(path) && !acceptsJson(head)) {
            return counted(home.answer(head.request("", NO_BODY), body));
        }
        var named = Dialects.isCardFile(path) ? agents.ofHost(head.arrival().header("Host")) : null;
        var agent = named == null ? agents.defaultAgent() : named;
        return agent == null
                ? problem(head, noAgentHere())
                : toAgent(agent, agentPath(below(0, head), head), head, body);
    }

    WireAnswer.Whole problem(Head head, A2AException problem) {
        return counted(problem(head, NO_BODY, problem));
    }

    /** Returns the error answer to a request that reaches no agent: in the protocol, or the dialect of a provider, at its address. */
    private WireAnswer.Whole problem(Head head, byte[] body, A2AException problem) {
        var front = front(head.arrival());
        if (front != null && front.target().face() != null) {
            var request = head.request(below(front.end(head.path()), head), body);
            return shown(front.target().face(), front.target().face().error(request, problem));
        }
        var slash = head.path().startsWith(BELOW_AGENTS) ? head.path().indexOf('/', BELOW_AGENTS.length()) : -1;
        var below = slash < 0 ? "" : below(slash, head);
        return dialects.isOfProvider(below)
                ? dialects.refusal(head.request(below, body), problem)
                : dialects.problem(head.request(head.path(), body), problem);
    }

    /** Refuses a request with a compressed body, because its size is unknown. */
    WireAnswer compressed(Head head) {
        var front = front(head.arrival());
        if (front != null && front.target().face() != null) {
            return problem(head, Dialects.compression());
        }
        return counted(dialects.compressed(head.request(head.path(), NO_BODY)));
    }

    /** Counts a refusal that came from no agent. */
    private <A extends WireAnswer> A counted(A answer) {
        if (answer instanceof WireAnswer.Whole whole && whole.status() >= 400) {
            refusals.accept(whole.status());
        }
        return answer;
    }

    private @Nullable Prefixed<Front> front(RequestHead arrival) {
        for (var each : fronts.near(arrival.path())) {
            if (each.has(arrival.path())
                    && (each.target().face() == null || each.target().face().answers(arrival))) {
                return each;
            }
        }
        return null;
    }

    /** True if pages of any origin may call at a path. */
    boolean isForAllOrigins(RequestHead arrival) {
        var front = front(arrival);
        return front != null
                && front.target().face() != null
                && front.target().face().isForAllOrigins();
    }

    /** Adds the fields that let pages of any origin read an answer, if they may. */
    @SuppressWarnings("unchecked") // of the same type
    private static <A extends WireAnswer> A shown(WireFace face, A answer) {
        if (!face.isForAllOrigins()) {
            return answer;
        }
        var headers = new LinkedHashMap<>(Cors.FOR_ALL_ORIGINS);
        headers.putAll(answer.headers());
        return (A)
                switch ((WireAnswer) answer) {
                    case WireAnswer.Whole whole -> new WireAnswer.Whole(whole.status(), headers, whole.body());
                    case WireAnswer.Events events -> new WireAnswer.Events(headers, events.frames(), events.failure());
                };
    }

    /** Name of the agent that admits callers of a protocol: the one at whose address it is, or else the one behind it. */
    private String admitting(Prefixed<Front> front, String path) {
        if (!front.isOfAgents()) {
            return front.target().agent();
        }
        var name = path.substring(BELOW_AGENTS.length(), path.indexOf('/', BELOW_AGENTS.length()));
        return agents.get(name) == null ? Authenticator.NO_AGENT : name;
    }

    private WireAnswer toFace(
            @Nullable ServedAgent agent, String admitting, WireFace face, int pathFrom, Head head, RefusableBody body) {
        if (agent == null) {
            return problem(head, noAgentHere());
        }
        var path = below(pathFrom, head);
        AuthenticationResult admission;
        try {
            admission = admission(admitting, face.isPublic(head.request(path, NO_BODY)), head);
            if (admitting.equals(Authenticator.NO_AGENT)) {
                admission.leave().run();
                throw noAgentHere();
            }
        } catch (A2AException refusal) {
            return problem(head, refusal);
        }
        head.admitted().accept(admission);
        return shown(face, Dialects.answer(face, head.request(path, body.read()), agent, admission.caller()));
    }

    /** Admits a call of a protocol. Pages of other origins are callers without credentials, unless they have added some. */
    private AuthenticationResult admission(String agent, boolean isPublic, Head head) {
        if (!isPublic && !head.foreign()) {
            return authenticator.admit(agent, head.arrival());
        }
        if (!isPublic) {
            var admission = authenticator.admit(agent, head.arrival().withoutCredentialsOfBrowser());
            if (!admission.caller().caller().equals(CallContext.anonymous().caller())) {
                return admission;
            }
            admission.leave().run();
        }
        return authenticator.admitUnauthenticated(agent, head.arrival());
    }

    private WireAnswer toAgent(ServedAgent agent, String path, Head head, RefusableBody body) {
        var unread = head.request(path, NO_BODY);
        var caller = CallContext.anonymous();
        try {
            if (!dialects.isPublic(unread, protectCards)) {
                var admission = authenticator.admit(agent.name(), head.arrival());
                head.admitted().accept(admission);
                caller = admission.caller();
            }
            if (dialects.isPublic(unread, false)
                    && !Dialects.isFile(unread)
                    && !authenticator.shown(head.arrival(), protectCards).test(agent.name())) {
                throw nothingHere();
            }
        } catch (A2AException refusal) {
            return refused(head, unread, body, refusal);
        }
        return forCaller(agent, dialects.answer(head.request(path, body.read()), agent, caller));
    }

    /** Keeps answers for all callers, such as cards, out of shared caches if the agent is hidden from some callers. */
    private WireAnswer forCaller(ServedAgent agent, WireAnswer answer) {
        if (!(answer instanceof WireAnswer.Whole whole)
                || !AnswerWriter.isCached("public", whole.headers())
                || (!protectCards && authenticator.isShownToAll(agent.name()))) {
            return answer;
        }
        var headers = new LinkedHashMap<>(whole.headers());
        headers.put("Cache-Control", "private, no-cache");
        return new WireAnswer.Whole(whole.status(), headers, whole.body());
    }

    /** Answers for a missing agent and for one that is hidden from the caller, in the same way. */
    private WireAnswer toNone(String path, Head head, RefusableBody body) {
        var unread = head.request(path, NO_BODY);
        try {
            if (Dialects.isFile(unread)) {
                throw Dialects.unsignedFile();
            }
            if (!dialects.isPublic(unread, protectCards)) {
                authenticator
                        .admit(Authenticator.NO_AGENT, head.arrival())
                        .leave()
                        .run();
            }
            return refused(head, unread, body, noAgentHere(head.path()));
        } catch (A2AException refusal) {
            return refused(head, unread, body, refusal);
        }
    }

    /** Refuses a call before its agent sees it; the body is read, if it is small and comes soon, for the id that the answer repeats. */
    private WireAnswer refused(Head head, WireRequest unread, RefusableBody body, A2AException refusal) {
        var bytes = Dialects.hasId(unread) && !expectsContinue(head) ? body.ofRefused() : NO_BODY;
        return counted(
                refusal.error() == A2AError.METHOD_NOT_FOUND
                        ? problem(head, bytes, refusal)
                        : dialects.refusal(head.request(unread.path(), bytes), refusal));
    }

    /** Such a client sends its body only if the call is admitted. */
    private static boolean expectsContinue(Head head) {
        return head.arrival().header("Expect") != null;
    }

    private static String below(int pathFrom, Head head) {
        var relative = head.path().substring(pathFrom);
        return relative.equals("/") ? "" : relative;
    }

    /** Returns the error for an agent that does not exist or that the caller may not see. */
    static A2AException nothingHere() {
        return A2AException.of(A2AError.METHOD_NOT_FOUND, "There is nothing at this address");
    }

    /** Refuses a request to an agent that is not hosted: it may be yet, while the server is not ready. */
    private A2AException noAgentHere() {
        return reason(condition.obstacle()).isEmpty()
                ? nothingHere()
                : A2AException.unavailable("The server is not ready", RETRY_SOON);
    }

    /** The same for the agent of a path, which may be awaited. */
    private A2AException noAgentHere(String path) {
        if (!path.startsWith(BELOW_AGENTS)) {
            return noAgentHere();
        }
        String below = path.substring(BELOW_AGENTS.length());
        int end = below.indexOf('/');
        return absent.apply(end < 0 ? below : below.substring(0, end)).orElseGet(this::noAgentHere);
    }

    private WireAnswer listing(Head head) {
        if (!isRead(head)) {
            return problem(head, A2AException.notAllowed(head.method(), READING));
        }
        return new WireAnswer.Whole(
                200, jsonHeaders(), Json.write(agents.listing(authenticator.shown(head.arrival(), protectCards))));
    }

    private WireAnswer readiness() {
        if (condition.draining().getAsBoolean()) {
            return status(false, Map.of("status", "draining"));
        }
        var members = new TreeMap<String, Object>();
        Optional<String> reason = unready();
        members.put("status", reason.isEmpty() ? "ready" : "not ready");
        reason.ifPresent(why -> members.put("reason", why));
        Map<String, String> down = isEnded() ? Map.of() : down();
        if (!down.isEmpty()) {
            members.put("down", down);
        }
        return status(reason.isEmpty(), members);
    }

    private Map<String, String> down() {
        try {
            return condition.partsDown().get();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "The check of the parts failed", e);
            return Map.of();
        }
    }

    private static WireAnswer status(boolean good, Map<String, ?> members) {
        var headers = new TreeMap<String, String>(jsonHeaders());
        if (!good) {
            headers.put("Retry-After", Long.toString(RETRY_ELSEWHERE.toSeconds()));
        }
        return new WireAnswer.Whole(good ? 200 : 503, headers, Json.write(members));
    }

    /** Returns whether {@code /ready} answers 200. */
    boolean isReady() {
        return !condition.draining().getAsBoolean() && unready().isEmpty();
    }

    private Optional<String> unready() {
        return condition
                .ended()
                .get()
                .or(() -> reason(condition.obstacle()))
                .or(() -> reason(condition.readinessTest()));
    }

    private static Optional<String> reason(Supplier<Optional<String>> check) {
        try {
            return check.get();
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "The readiness check failed", e);
            return Optional.of("the readiness check failed");
        }
    }

    /** The path of a request below the address of an agent. A read of the address itself, which some clients begin with, gets the card. */
    private static String agentPath(String below, Head head) {
        return below.isEmpty() && isRead(head) && !accepts(head, "text/event-stream") ? AgentDirectory.CARD : below;
    }

    private static boolean isRoot(String path) {
        return path.isEmpty() || path.equals("/");
    }

    /** True for clients of agents; people read the page at the root, whose browsers and tools do not accept JSON by its name. */
    private static boolean acceptsJson(Head head) {
        return accepts(head, "json") && !accepts(head, "text/html");
    }

    private static boolean accepts(Head head, String type) {
        var accepted = head.arrival().header("Accept");
        return accepted != null && accepted.toLowerCase(Locale.ROOT).contains(type);
    }

    private static boolean isRead(Head head) {
        return head.method().equals("GET") || head.method().equals("HEAD");
    }

    private static Map<String, String> jsonHeaders() {
        return Map.of("Content-Type", AnswerWriter.JSON, "Cache-Control", "no-store");
    }
}
