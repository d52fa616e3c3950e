package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.DialectSettings.Switch;
import dev.parley.dialect.answers.Dialect;
import dev.parley.dialect.answers.FailureFraming;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.answers.ResponseFraming;
import dev.parley.dialect.answers.RpcEnvelope;
import dev.parley.dialect.answers.Version;
import dev.parley.dialect.calls.CardFile;
import dev.parley.dialect.calls.Edge;
import dev.parley.dialect.calls.Kernel;
import dev.parley.dialect.calls.ProvidedEdge;
import dev.parley.dialect.calls.ServedRequest;
import dev.parley.dialect.legacy.BodyShape;
import dev.parley.dialect.legacy.LegacyDialect;
import dev.parley.dialect.operations.ExtensionDialect;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.operations.OperationRow;
import dev.parley.dialect.operations.Rest;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.Providers;
import dev.parley.dialect.served.ServedAgent;
import dev.parley.dialect.spi.DialectProvider;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.vault.FileLinks;
import dev.parley.dialect.vault.Vault;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.support.Hmac;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests in the dialect in which they came. Safe for any thread.
 *
 * <p>Source: A2A specification 1.0, sections 3.6, 9 and 11.
 */
public final class Dialects {
    /** Names of the dialects in settings; 0.3 includes 0.2. */
    public static final Set<String> NAMES = Providers.NAMES;

    private static final int UNSUPPORTED_MEDIA_TYPE = 415;
    private static final String CARD_BEFORE_V03 = "/agent/authenticatedExtendedCard";

    private final DialectSettings settings;
    private final RpcDialects rpc;
    private final List<Edge> edges = new ArrayList<>();

    /** Dialects that sign the addresses of files with a key of their own, which the next start does not know. */
    public Dialects(DialectSettings settings) {
        this(settings, newKey(), (group, caller) -> true);
    }

    /**
     * @param fileKey signs the addresses of files, for dialects that carry no bytes; at least 16 secret bytes
     * @param welcome whether a caller of a group may still call, for addresses that were made for it
     */
    public Dialects(DialectSettings settings, byte[] fileKey, BiPredicate<String, String> welcome) {
        this.settings = settings;
        var kernel = new Kernel();
        this.rpc = new RpcDialects(settings, kernel);
        edges.add(kernel);
        edges.add(new Vault(new FileLinks(Hmac.key(fileKey), welcome, InstantSource.system())));
        Providers.INSTALLED.forEach(provider -> edges.add(new ProvidedEdge(provider)));
    }

    /** Dialects of modules of others on the class path, which servers and clients of this program speak, too. */
    public static List<DialectProvider> providers() {
        return Providers.INSTALLED;
    }

    private static byte[] newKey() {
        byte[] key = new byte[32];
        new SecureRandom().nextBytes(key);
        return key;
    }

    /**
     * Answers a request to an agent. Never throws: what goes wrong becomes an error answer, and is logged once if it is
     * this side's fault.
     *
     * @param caller the caller; dialect, extensions and trace are filled in from the request
     */
    public WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller) {
        var framing = new FailureFraming();
        try {
            var served = new ServedRequest(request, agent, caller, framing);
            Edge edge = edge(request.path());
            if (edge != null && agent.speaks(edge.dialect())) {
                return edge.answer(served.below(edge.suffix()));
            }
            if (isRpc(request.path())) {
                return rpc.answer(served);
            }
            return edge != null && request.method().equals("POST") ? notServed(request, agent) : answerRest(served);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            return framing.failure(failure);
        }
    }

    /** Answers a request to a face of an agent as {@link #answer(WireRequest, ServedAgent, CallContext)} does. */
    public static WireAnswer answer(WireFace face, WireRequest request, ServedAgent agent, CallContext caller) {
        var framing = new FailureFraming();
        try {
            return ProvidedEdge.answer(face, new ServedRequest(request, agent, caller, framing), caller);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            return framing.failure(failure);
        }
    }

    /** The dialect at an address of its own that a path leads to, or null. */
    private @Nullable Edge edge(String path) {
        for (Edge edge : edges) {
            if (isBelow(path, edge.suffix())) {
                return edge;
            }
        }
        return null;
    }

    /** Returns whether a path below the address of an agent is in the dialect of a provider. */
    public boolean isOfProvider(String path) {
        return edge(path) instanceof ProvidedEdge;
    }

    /** The answer to a JSON-RPC call at the address of a dialect that the agent is not served in. */
    private static WireAnswer notServed(WireRequest request, ServedAgent agent) {
        ResponseFraming form = ResponseFraming.rpc(Dialect.V1, RpcEnvelope.idOf(request.body()));
        A2AException problem = A2AException.of(
                A2AError.METHOD_NOT_FOUND,
                "This agent is not served at this address (its dialects: "
                        + String.join(", ", NAMES.stream().filter(agent::speaks).toList()) + ")");
        return form.error(problem, A2AError.METHOD_NOT_FOUND.httpStatus());
    }

    private static boolean isBelow(String path, String prefix) {
        return path.startsWith(prefix) && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/');
    }

    /**
     * True for requests that need no credentials: for cards, and for files at signed addresses. The result does not depend on
     * the agent, nor on whether it exists.
     *
     * @param protectCards whether cards are shown only to callers of the agent
     */
    public boolean isPublic(WireRequest request, boolean protectCards) {
        if (isFile(request)) {
            return true;
        }
        if (protectCards || !request.method().equals("GET")) {
            return false;
        }
        Edge edge = edge(request.path());
        return edge == null ? CardFile.isAt(request.path()) : edge.isCard(request.below(edge.suffix()));
    }

    /** True for the well-known addresses of the card, below the address of an agent. */
    public static boolean isCardFile(String path) {
        return CardFile.isAt(path);
    }

    /** True for files at signed addresses. */
    public static boolean isFile(WireRequest request) {
        return request.method().equals("GET")
                && isBelow(request.path(), Vault.SUFFIX)
                && Vault.isFile(request.below(Vault.SUFFIX));
    }

    /** Returns the error for the address of a file that is not signed. */
    public static A2AException unsignedFile() {
        return FileLinks.unsigned();
    }

    /** Returns whether the answer to this request repeats an id of its body. */
    public static boolean hasId(WireRequest request) {
        return request.method().equals("POST")
                && (isBelow(request.path(), Kernel.SUFFIX)
                        || isBelow(request.path(), Vault.SUFFIX)
                        || !Rest.endsLikeAnOperation(request.path()));
    }

    /**
     * Returns the error answer to a request to an agent that was refused: in the dialect of its address, whatever the
     * agent speaks. Of the body, which may be missing, only the id is read.
     */
    public WireAnswer.Whole refusal(WireRequest request, A2AException problem) {
        ResponseFraming form;
        Edge edge = edge(request.path());
        if (edge != null) {
            return edge.refusal(request.below(edge.suffix()), problem);
        }
        if (!isOlder(request)) {
            return problem(request, problem);
        } else if (isRpc(request.path())) {
            form = ResponseFraming.rpc(LegacyDialect.KIND, RpcEnvelope.idOf(request.body()));
        } else {
            form = restForm(LegacyDialect.PROTO, request);
        }
        return form.error(problem);
    }

    private static boolean isOlder(WireRequest request) {
        try {
            Version version = Version.of(request, NAMES);
            return version.isOlder()
                    || version == Version.UNSAID && !isRpc(request.path()) && Rest.hasOldPrefix(request.path());
        } catch (A2AException unknown) {
            return false;
        }
    }

    /** Returns the error answer to a request that reaches no agent. Only the id of its body is read, if there is one. */
    public WireAnswer.Whole problem(WireRequest request, A2AException problem) {
        return formOfUnread(request).error(Problem.of(problem), problem.error().httpStatus());
    }

    /** Returns the error of a request whose body is compressed: its size after decompression has no bound. */
    public static A2AException compression() {
        return A2AException.of(A2AError.CONTENT_TYPE_NOT_SUPPORTED, "Content-Encoding (expected: a body as it is)");
    }

    /** Returns the error answer to a request whose body is compressed. */
    public WireAnswer.Whole compressed(WireRequest request) {
        return formOfUnread(request).error(compression(), UNSUPPORTED_MEDIA_TYPE);
    }

    private ResponseFraming formOfUnread(WireRequest request) {
        boolean rpc = request.method().equals("POST") && !Rest.endsLikeAnOperation(request.path());
        return rpc ? ResponseFraming.rpc(Dialect.V1, RpcEnvelope.idOf(request.body())) : restForm(Dialect.V1, request);
    }

    /**
     * Returns the error that a peer gets for a failure, in the last frame of a stream. Logs the failure once if it is this
     * side's fault.
     */
    public static A2AException explained(Throwable failure) {
        return Problem.of(failure);
    }

    private static boolean isRpc(String path) {
        return path.isEmpty() || path.equals("/");
    }

    private WireAnswer answerRest(ServedRequest served) {
        WireRequest request = served.http();
        ServedAgent agent = served.agent();
        FailureFraming framing = served.framing();
        framing.use(restForm(Dialect.V1, request));
        if (CardFile.isAt(request.path())) {
            return CardFile.answer(request, agent);
        }
        List<ExtensionRow> routed = agent.extensions().routedFor(request);
        if (Rest.isExactlyAt(routed, request.path())
                || Rest.isAt(routed, request.path()) && !Rest.isAt(V1Operations.TABLE.all(), request.path())) {
            Rest<ExtensionRow> route = Rest.of(routed, request.method(), request.path());
            return answerRest(served.dialect(route.operation(), Dialect.V1), route, served);
        }
        if (request.path().equals(CARD_BEFORE_V03) && agent.speaks("0.3")) {
            framing.use(restForm(LegacyDialect.KIND, request));
            return extendedCard(served);
        }
        Dialect dialect = restDialect(request, agent, served.caller());
        framing.use(restForm(dialect, request));
        return answerRest(dialect, Rest.of(rpc.of(dialect).all(), request.method(), request.path()), served);
    }

    private WireAnswer answerRest(Dialect dialect, Rest<? extends OperationRow> route, ServedRequest served) {
        served.framing().use(restForm(dialect, served.http()));
        if (!served.http().hasNoBody()) {
            served.framing().requireJson(served.http());
        }
        return served.rest(dialect, route);
    }

    /**
     * The extended card at its address before 0.3 made it a method. An agent without one answers 404.
     *
     * <p>Source: A2A specification 0.2.6, section 7.10.
     */
    private static WireAnswer extendedCard(ServedRequest served) {
        if (!served.http().method().equals("GET")) {
            throw A2AException.notAllowed(served.http().method(), "GET, HEAD");
        }
        var get = new Operation.GetExtendedAgentCard(null);
        WireOperation asked = requireNonNull(LegacyDialect.KIND.operations().of(get));
        try {
            return served.answer(LegacyDialect.KIND, asked, get);
        } catch (A2AException none) {
            return served.framing().form().error(none);
        }
    }

    /** Source: A2A specification 0.3.0, section 3.5.3; where 1.0 and 0.3 have the same path, the version decides. */
    private Dialect restDialect(WireRequest request, ServedAgent agent, CallContext caller) {
        Version version = Version.of(request, agent.dialects());
        if (version == Version.V1) {
            rpc.requireV1(version, agent.dialects());
            return Dialect.V1; // its body need not be looked at
        }
        boolean oldPath = Rest.hasOldPrefix(request.path());
        LegacyDialect body = agent.speaks("0.3") ? BodyShape.of(request, caller) : null;
        boolean legacy = version == Version.V03 || version == Version.UNSAID && (oldPath || body != null);
        if (legacy && agent.speaks("0.3")) {
            return body == null ? LegacyDialect.PROTO : body;
        }
        if (version.isOlder() || version == Version.UNSAID && oldPath) {
            throw Version.notSupported("0.3", agent.dialects());
        }
        rpc.requireV1(version, agent.dialects());
        return Dialect.V1;
    }

    ResponseFraming restForm(Dialect dialect, WireRequest request) {
        String type = dialect.equals(Dialect.V1) || dialect instanceof ExtensionDialect
                ? restType(request.header("Accept"), request.header("Content-Type"))
                : Headers.JSON;
        return ResponseFraming.rest(dialect, type, settings.has(Switch.STATUSES_OF_100));
    }

    /** Answers as the caller wants it, or else as it speaks itself: many clients know nothing but plain JSON. */
    private String restType(@Nullable String accept, @Nullable String contentType) {
        if (accept != null && accept.contains(Headers.A2A_JSON)) {
            return Headers.A2A_JSON;
        }
        if (accept != null && accept.contains(Headers.JSON)) {
            return Headers.JSON;
        }
        // The SDK for Go subscribes without a body, accepts only streams, and reads errors of this type only.
        boolean onlyStreams = contentType == null && accept != null && accept.contains(Headers.EVENT_STREAM);
        // Release 1.0.0 knew only application/json, and its peers insist on it.
        return settings.has(Switch.STATUSES_OF_100)
                        || onlyStreams
                        || contentType != null && contentType.startsWith(Headers.JSON)
                ? Headers.JSON
                : Headers.A2A_JSON;
    }
}
