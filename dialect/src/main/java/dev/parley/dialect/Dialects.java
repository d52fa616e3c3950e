package dev.parley.dialect;

import static java.util.Objects.requireNonNull;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.EventStream;
import dev.parley.protocol.Operation;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests in the dialect in which they came. Safe for any thread.
 *
 * <p>Source: A2A specification 1.0, sections 3.6, 9 and 11.
 */
public final class Dialects {
    static final String EXTENSIONS = "A2A-Extensions";
    static final String LAST_EVENT_ID = "Last-Event-ID";
    static final String TRACE = "traceparent";

    private final DialectSettings settings;

    public Dialects(DialectSettings settings) {
        this.settings = settings;
    }

    /**
     * Answers a request to an agent. Never throws: what goes wrong becomes an error answer, and is logged once if it is
     * this side's fault.
     *
     * @param caller who calls; extensions and trace are filled in from the request
     */
    public WireAnswer answer(WireRequest request, ServedAgent agent, CallContext caller) {
        return isRpc(request.path()) ? answerRpc(request, agent, caller) : answerRest(request, agent, caller);
    }

    /** Returns the error answer to a request that reaches no agent, or whose body was refused unread. */
    public WireAnswer.Whole problem(WireRequest request, A2AException problem) {
        boolean rpc = request.method().equals("POST") && !Rest.endsLikeAnOperation(request.path());
        Form form = rpc ? Form.RPC_WITHOUT_ID : restForm(request);
        return form.error(Problem.of(problem), problem.error().httpStatus());
    }

    /**
     * Returns what a peer may be told of a failure, for {@link WireAnswer.Frames#failure}. Logs it once if it is this
     * side's fault.
     */
    public static A2AException explained(Throwable failure) {
        return Problem.of(failure);
    }

    private static boolean isRpc(String path) {
        return path.isEmpty() || path.equals("/");
    }

    private WireAnswer answerRpc(WireRequest request, ServedAgent agent, CallContext caller) {
        Form form = Form.RPC_WITHOUT_ID;
        try {
            if (!request.method().equals("POST")) {
                throw Rest.notAllowed(request.method(), "POST");
            }
            if (!isJson(request.header("Content-Type"))) {
                return wrongContentType(form, request);
            }
            Envelope envelope = Envelope.read(request.body());
            form = Form.rpc(envelope.id());
            if (envelope.problem() != null) {
                throw envelope.problem();
            }
            V1Operation asked = method(envelope.method(), Version.of(request));
            return exchange(asked, envelope.params(asked.request()), form, request, agent, caller);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            return form.error(Problem.of(failure));
        }
    }

    private WireAnswer answerRest(WireRequest request, ServedAgent agent, CallContext caller) {
        Form form = restForm(request);
        try {
            if (CardFile.isAt(request.path())) {
                return CardFile.answer(request, agent.card());
            }
            requireV1(Version.of(request), Rest.hasOldPrefix(request.path()));
            Rest route = Rest.of(request.method(), request.path());
            if (!isJson(request.header("Content-Type")) && !Rest.isNothing(request.body())) {
                return wrongContentType(form, request);
            }
            return exchange(route.operation(), route.read(request), form, request, agent, caller);
        } catch (Throwable failure) { // the edge: whatever it is, the peer gets an answer
            return form.error(Problem.of(failure));
        }
    }

    /** A method of 1.0 may come without a version unless the settings say otherwise: no older client knows its name. */
    private V1Operation method(String method, Version version) {
        V1Operation operation = V1Operation.named(method);
        if (operation == null) {
            boolean older = version != Version.V1 && (method.startsWith("message/") || method.startsWith("tasks/"));
            throw older ? Version.notSupported("0.3") : methodNotFound(method, version);
        }
        if (version == Version.OLDER) {
            throw methodNotFound(method, version);
        }
        requireV1(version, false);
        return operation;
    }

    private static A2AException methodNotFound(String method, Version version) {
        String shown = method.length() > 60 ? method.substring(0, 60) + "…" : method;
        String where = version == Version.OLDER ? " in the version that was asked for" : "";
        return A2AException.of(
                A2AError.METHOD_NOT_FOUND, A2AError.METHOD_NOT_FOUND.defaultMessage() + where + ": " + shown);
    }

    private void requireV1(Version version, boolean oldPath) {
        boolean unsaid = version == Version.UNSAID;
        if (version == Version.OLDER || unsaid && (oldPath || settings.strictVersionHeader())) {
            throw Version.notSupported("0.3");
        }
    }

    private WireAnswer exchange(
            V1Operation asked, Operation read, Form form, WireRequest request, ServedAgent agent, CallContext caller) {
        Operation operation = V1Operation.resuming(read, request.header(LAST_EVENT_ID));
        Set<String> extensions = extensions(request.header(EXTENSIONS));
        CallContext context = context(caller, extensions, request.header(TRACE));
        var headers = new LinkedHashMap<String, String>();
        String activated = activated(extensions, agent.card());
        if (!activated.isEmpty()) {
            headers.put(EXTENSIONS, activated);
        }
        return switch (operation) {
            case Operation.Call<?> call -> {
                Object result = requireNonNull(agent.endpoint().call(call, context));
                if (result instanceof AgentCard) {
                    headers.put("Cache-Control", "private, max-age=60");
                    headers.put("Vary", "Authorization, A2A-Version, Accept");
                }
                yield form.result(requireNonNull(asked.result()), result, headers);
            }
            case Operation.Watch watch -> {
                headers.put("Content-Type", "text/event-stream");
                headers.put("Cache-Control", "no-store");
                headers.put("X-Accel-Buffering", "no"); // nginx would collect events
                EventStream events = agent.endpoint().watch(watch, context);
                yield new WireAnswer.Events(
                        headers, settings.closeOnInputRequired() ? new UntilInputRequired(events) : events, form);
            }
        };
    }

    private static CallContext context(CallContext caller, Set<String> extensions, @Nullable String traceparent) {
        CallContext context = extensions.isEmpty() ? caller : caller.withExtensions(extensions);
        return traceparent == null ? context : context.withTraceparent(traceparent);
    }

    private static Set<String> extensions(@Nullable String header) {
        if (header == null) {
            return Set.of();
        }
        var uris = new LinkedHashSet<String>();
        for (String uri : header.split(",", -1)) {
            if (!uri.isBlank()) {
                uris.add(uri.trim());
            }
        }
        return uris;
    }

    /** The extensions that the caller asked for and the agent has, as the header that tells the caller so. */
    private static String activated(Set<String> extensions, AgentCard card) {
        if (extensions.isEmpty()) {
            return "";
        }
        return String.join(
                ", ",
                card.capabilities().extensions().stream()
                        .map(AgentCard.Extension::uri)
                        .filter(extensions::contains)
                        .toList());
    }

    /**
     * By the specification this error is 400 over REST and, like any other, 200 over JSON-RPC. It says so about content
     * that the agent does not understand; here it is HTTP itself that was used wrongly, and 415 is what HTTP says.
     */
    private static WireAnswer wrongContentType(Form form, WireRequest request) {
        return form.error(
                A2AException.of(
                        A2AError.CONTENT_TYPE_NOT_SUPPORTED,
                        "Content-Type: " + request.header("Content-Type") + " (expected: " + Form.JSON + " or "
                                + Form.A2A_JSON + ", in UTF-8)"),
                415);
    }

    private static boolean isJson(@Nullable String contentType) {
        if (contentType == null || contentType.equals(Form.JSON)) {
            return true;
        }
        String[] parts = contentType.toLowerCase(Locale.ROOT).split(";", -1);
        for (int i = 1; i < parts.length; i++) {
            String parameter = parts[i].replace("\"", "").trim();
            if (parameter.startsWith("charset=") && !parameter.equals("charset=utf-8")) {
                return false;
            }
        }
        return parts[0].trim().equals(Form.JSON) || parts[0].trim().equals(Form.A2A_JSON);
    }

    private Form restForm(WireRequest request) {
        return Form.rest(restType(request.header("Accept"), request.header("Content-Type")), settings.statusesOf100());
    }

    /** Answers as the caller wants it, or else as it speaks itself: many clients know nothing but plain JSON. */
    private String restType(@Nullable String accept, @Nullable String contentType) {
        if (accept != null && accept.contains(Form.A2A_JSON)) {
            return Form.A2A_JSON;
        }
        if (accept != null && accept.contains(Form.JSON)) {
            return Form.JSON;
        }
        // Release 1.0.0 knew only application/json, and its peers insist on it.
        return settings.statusesOf100() || contentType != null && contentType.startsWith(Form.JSON)
                ? Form.JSON
                : Form.A2A_JSON;
    }
}
