package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.answers.ExtensionErrors;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.answers.Version;
import dev.parley.dialect.legacy.KernelCard;
import dev.parley.dialect.legacy.LegacyModel;
import dev.parley.dialect.legacy.LegacyOperations;
import dev.parley.dialect.operations.OperationTable;
import dev.parley.dialect.operations.PathTemplate;
import dev.parley.dialect.operations.V1Operations;
import dev.parley.dialect.operations.WireOperation;
import dev.parley.dialect.served.Providers;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.RequestMarks;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.v1.Generations;
import dev.parley.dialect.v1.V1Model;
import dev.parley.dialect.vault.VaultDialect;
import dev.parley.dialect.vault.VaultModel;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.ErrorKind;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.DocumentMender;
import dev.parley.protocol.json.FieldPath;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.json.ObjectCodec;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.LruMap;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * A dialect over HTTP, as a client speaks it.
 *
 * <p>Generous in what it takes for an answer: peers leave out the empty result of a deletion, answer with any status
 * that means success, and tell errors in each other's form.
 *
 * <p>Source: A2A specification 1.0, sections 3.6.1, 9 and 11; 0.3.0, section 3.
 */
public final class WireBinding implements Binding {
    private static final String TENANT = "tenant";
    private static final int MAX_ID_LENGTH = 64;
    private static final byte[] NOTHING = {};
    private static final byte[] END_OF_OBJECT = {'}'};

    private static final Pattern NO_ZONE = Pattern.compile("\"timestamp\"\\s*:\\s*\"\\d{4}-\\d\\d-\\d\\dT[\\d:.]+\"");

    private static final Spoken V1 = new Spoken("1.0", V1Operations.TABLE, V1Model.EVENT, "", true);

    /** By the version that an interface of a card says. */
    private static final Map<String, Spoken> RPC = Map.of(
            "1.0",
            V1,
            "0.3",
            new Spoken("0.3", LegacyOperations.KIND, LegacyModel.KIND.event, "", true),
            "0.2",
            new Spoken("0.3", LegacyOperations.KIND, LegacyModel.KIND.event, "", true),
            "0.1",
            new Spoken("0.1", LegacyOperations.TYPE, LegacyModel.TYPE.event, "", true),
            VaultDialect.NAME,
            new Spoken(VaultDialect.NAME, VaultDialect.OPERATIONS, VaultModel.EVENT, "", false),
            KernelCard.VERSION,
            new Spoken(KernelCard.VERSION, LegacyOperations.KERNEL, LegacyModel.KERNEL.event, "", false));

    private static final Map<String, Spoken> REST = Map.of(
            "1.0", V1,
            "0.3", new Spoken("0.3", LegacyOperations.PROTO, LegacyModel.PROTO.event, "/v1", true),
            "0.2", new Spoken("0.3", LegacyOperations.PROTO, LegacyModel.PROTO.event, "/v1", true));

    /**
     * Properties of a dialect that a client needs.
     *
     * @param version as the header says it
     * @param prefix of the paths of the REST binding
     * @param wrapsFrames whether the frames of a stream over JSON-RPC are JSON-RPC answers
     */
    private record Spoken(
            String version, OperationTable operations, Codec<TaskEvent> event, String prefix, boolean wrapsFrames) {
        WireOperation of(Operation operation) {
            WireOperation row = operations.of(operation);
            if (row == null) {
                throw A2AException.of(
                        A2AError.UNSUPPORTED_OPERATION,
                        "The agent speaks version " + version + " of the protocol, which has no " + operation.name());
            }
            return row;
        }
    }

    private static final System.Logger LOG = System.getLogger("dev.parley.client");
    private static final int MOST_NOTED = 256;
    /** Kinds of blemishes that are in the log. */
    private static final Map<String, Boolean> NOTED = new LruMap<>(MOST_NOTED);

    /** One for all clients, as they may share connections: two requests on a connection never have the same id. */
    private static final AtomicLong IDS = new AtomicLong();

    private final boolean rpc;
    private final Spoken spoken;
    /** Id of the request whose answers are read; null for any. */
    private final @Nullable String id;

    private final @Nullable String mediaType;

    private final @Nullable Consumer<String> deviations;

    private WireBinding(
            boolean rpc,
            Spoken spoken,
            @Nullable String id,
            @Nullable String mediaType,
            @Nullable Consumer<String> deviations) {
        this.rpc = rpc;
        this.spoken = spoken;
        this.id = id;
        this.mediaType = mediaType;
        this.deviations = deviations;
    }

    @Override
    public Binding answering(@Nullable String request, @Nullable String type) {
        return new WireBinding(rpc, spoken, request, type, deviations);
    }

    /** Returns the id of a new request. */
    static String nextId() {
        return Long.toString(IDS.incrementAndGet());
    }

    /** Returns the binding for an interface of a card, or empty if this library does not speak it. */
    public static Optional<Binding> of(AgentCard.Interface agent) {
        return of(agent, null);
    }

    /**
     * Returns the binding for an interface of a card, or empty if this library does not speak it.
     *
     * @param deviations gets a sentence for each answer that was read although it differs from the specification
     */
    public static Optional<Binding> of(AgentCard.Interface agent, @Nullable Consumer<String> deviations) {
        boolean rpc = agent.protocolBinding().equals(Interface.JSONRPC);
        if (!rpc && !agent.protocolBinding().equals(Interface.HTTP_JSON)) {
            return Providers.binding(agent);
        }
        String version = agent.protocolVersion().replaceFirst("^(\\d+\\.\\d+)\\..*", "$1");
        Spoken spoken = (rpc ? RPC : REST).get(version);
        return spoken == null
                ? Providers.binding(agent)
                : Optional.of(new WireBinding(rpc, spoken, null, null, deviations));
    }

    @Override
    public boolean tellsIdsOnly() {
        return spoken.version().equals(VaultDialect.NAME);
    }

    @Override
    public Outgoing request(Operation operation, CallContext context, AgentCard.Interface agent) {
        WireOperation asked = spoken.of(operation);
        String tenant = agent.tenant();
        ObjectCodec<Operation> shape = tenant == null
                ? asked.request()
                : asked.request().orElse(TENANT, tenant); // versions before 1.0 have no tenant
        Map<String, String> headers = headers(operation, context, asked.result() == null);
        if (!rpc) {
            return rest(operation, asked, shape, agent.url(), headers);
        }
        String url = tellsIdsOnly() ? VaultDialect.address(agent.url()) : agent.url();
        return rpc(url, nextId(), asked.method(), shape, operation, headers);
    }

    private Outgoing rest(
            Operation operation,
            WireOperation asked,
            ObjectCodec<Operation> shape,
            String base,
            Map<String, String> headers) {
        PathTemplate path = requireNonNull(asked.path());
        String tenant = shape.text(TENANT, operation);
        var inPath = new HashSet<>(path.variables());
        inPath.add(TENANT);
        ObjectCodec<Operation> rest = shape.without(inPath);
        var url = new StringBuilder(base);
        if (base.endsWith("/")) {
            url.setLength(base.length() - 1);
        }
        if (tenant != null) {
            url.append('/').append(PathTemplate.encode(tenant));
        }
        url.append(spoken.prefix()).append(path.fill(name -> requireNonNull(shape.text(name, operation), name)));
        String verb = asked.verbs().getFirst();
        if (verb.equals("POST")) {
            // Every peer takes plain JSON; some take nothing else.
            headers.put("Content-Type", Headers.JSON);
            return new Outgoing(verb, url.toString(), headers, JsonText.write(rest, operation));
        }
        url.append(PathTemplate.query(rest.parameters(operation)));
        return new Outgoing(verb, url.toString(), headers, NOTHING);
    }

    private Map<String, String> headers(Operation operation, CallContext context, boolean stream) {
        var headers = new LinkedHashMap<String, String>();
        boolean older = !spoken.equals(V1);
        if (Version.known(spoken.version()) != null) { // the Agentic Kernel and AgentVault are not versions of A2A
            headers.put(Headers.VERSION, spoken.version());
        }
        describe(context, stream, older, !older, context.extensions(), headers);
        String lastEventId = RequestMarks.lastEventId(operation);
        if (lastEventId != null) {
            headers.put(Headers.LAST_EVENT_ID, lastEventId);
        }
        return headers;
    }

    /** Adds the headers that every call has. */
    static void describe(
            CallContext context,
            boolean stream,
            boolean older,
            boolean a2aJson,
            Collection<String> extensions,
            Map<String, String> headers) {
        headers.put(
                "Accept",
                (stream ? Headers.EVENT_STREAM + ", " : "") + (a2aJson ? Headers.A2A_JSON + ", " : "") + Headers.JSON);
        if (!extensions.isEmpty()) {
            headers.put((older ? "X-" : "") + Headers.EXTENSIONS, String.join(", ", new TreeSet<>(extensions)));
        }
        if (context.traceparent() != null) {
            headers.put(Headers.TRACE, context.traceparent());
        }
        String chain = context.chain().baggage();
        if (chain != null) {
            headers.put(CallChain.HEADER, chain);
        }
    }

    /** A request of JSON-RPC. */
    static <T> Outgoing rpc(
            String url, String id, String method, Codec<T> params, T value, Map<String, String> headers) {
        headers.put("Content-Type", Headers.JSON);
        String before = "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"method\":\"" + method + "\",\"params\":";
        return new Outgoing(
                "POST", url, headers, JsonText.write(before.getBytes(UTF_8), params, value, END_OF_OBJECT), id);
    }

    @Override
    @SuppressWarnings("unchecked") // by the table, an operation's codec makes its result
    public <R> R result(Operation.Call<R> operation, int status, byte[] bytes) {
        if (status < 200 || status > 299) {
            throw refusal(status, bytes);
        }
        byte[] body = DocumentMender.legal(bytes, this::blemish);
        if (operation instanceof Operation.DeletePushConfig) {
            requireSuccess(status, body);
            return (R) new Operation.Empty();
        }
        Codec<Object> codec = requireNonNull(spoken.of(operation).result());
        if (spoken.equals(V1)) {
            noteTimes(body);
        }
        if (operation instanceof Operation.SendMessage && spoken.equals(V1)) {
            TaskEvent result = readEvent(body, (Codec<TaskEvent>) (Codec<?>) codec, rpc, status);
            if (!(result instanceof SendResult)) {
                throw A2AException.of(
                        A2AError.INVALID_AGENT_RESPONSE, "The agent's answer is neither a task nor a message");
            }
            return (R) result;
        }
        Codec<Object> answer = rpc ? new ResultOf<>(codec, id) : codec;
        try {
            return (R) read(body, answer, status);
        } catch (A2AException unreadable) {
            return (R) mended(body, answer, unreadable);
        }
    }

    /** Reads what 1.0 wraps into an object that names its kind, and some servers of 1.0 leave as it was before. */
    private @Nullable TaskEvent readEvent(byte[] json, Codec<TaskEvent> codec, boolean wrapped, int status) {
        Codec<TaskEvent> answer = wrapped ? new ResultOf<>(codec, id) : codec;
        try {
            return read(json, answer, status);
        } catch (A2AException unreadable) {
            if (!(unreadable.getCause() instanceof A2AException)) {
                throw unreadable;
            }
            if (!spoken.equals(V1)) {
                return mendedEvent(json, answer, unreadable);
            }
            for (Codec<TaskEvent> bare : List.of(V1Model.BARE_EVENT, LegacyModel.KIND.event)) {
                try {
                    TaskEvent event = JsonText.read(json, wrapped ? new ResultOf<>(bare, id) : bare);
                    note("an event without the member that names its kind (section 3.2.3 of the specification)");
                    return event;
                } catch (A2AException other) {
                    unreadable.addSuppressed(other);
                }
            }
            return mendedEvent(json, answer, unreadable);
        }
    }

    /** An event without what does not fit; null for an update that is nothing without it. */
    private @Nullable TaskEvent mendedEvent(byte[] json, Codec<TaskEvent> answer, A2AException unreadable) {
        try {
            return mended(json, answer, unreadable);
        } catch (A2AException hopeless) {
            if (!isUpdate(json)) {
                throw hopeless;
            }
            blemish("an update that is left out: " + hopeless.getMessage());
            return null;
        }
    }

    private boolean isUpdate(byte[] json) {
        Map<?, ?> answer;
        try {
            answer = JsonText.read(json, Codecs.STRUCT);
        } catch (A2AException noObject) {
            return false;
        }
        Object result = answer.get("result");
        Map<?, ?> event = result instanceof Map<?, ?> inside ? inside : answer;
        return event.get("artifactUpdate") instanceof Map<?, ?>
                || event.get("statusUpdate") instanceof Map<?, ?>
                || event.get("taskId") instanceof String
                        && event.get("kind") instanceof String kind
                        && kind.endsWith("-update");
    }

    /** Reads an answer without what does not fit. The error, if nothing does, has the id of the task. */
    private <T> T mended(byte[] json, Codec<T> answer, A2AException unreadable) {
        if (!(unreadable.getCause() instanceof A2AException fault)) {
            throw unreadable;
        }
        try {
            return DocumentMender.read(
                    json,
                    bytes -> JsonText.read(bytes, answer),
                    fault,
                    blemish -> blemish("a value that does not fit and is left out: " + blemish));
        } catch (A2AException hopeless) {
            String quoted = unreadable.getMessage() + "; it is "
                    + (mediaType == null ? Excerpt.of(json) : Excerpt.of(mediaType, json));
            String task = taskId(json);
            throw A2AException.of(
                            unreadable.error(),
                            task == null ? quoted : quoted + " (task " + task + ")",
                            task == null ? Map.of() : Map.of("taskId", task))
                    .causedBy(fault);
        }
    }

    /** The id of the task in an answer that cannot be read otherwise; null for none. */
    private static @Nullable String taskId(byte[] json) {
        Object event;
        try {
            event = JsonText.read(json, Codecs.STRUCT);
        } catch (A2AException noObject) {
            return null;
        }
        for (String wrapper : List.of("result", "task", "statusUpdate", "artifactUpdate", "message")) {
            event = event instanceof Map<?, ?> members && members.get(wrapper) instanceof Map<?, ?> inside
                    ? inside
                    : event;
        }
        if (!(event instanceof Map<?, ?> members)) {
            return null;
        }
        Object id = members.get("taskId") == null && members.get("status") != null
                ? members.get("id")
                : members.get("taskId");
        return id instanceof String text && !text.isEmpty() ? Excerpt.line(text) : null;
    }

    private void blemish(String what) {
        note(what);
        synchronized (NOTED) {
            if (NOTED.put(what.replaceAll("\\[\\d+]", "[]"), true) != null) {
                return; // once for each kind, as all answers of an agent may have it
            }
        }
        LOG.log(System.Logger.Level.WARNING, "the agent sent " + what);
    }

    private void noteTimes(byte[] json) {
        if (deviations != null && NO_ZONE.matcher(new String(json, UTF_8)).find()) {
            note("a timestamp without a zone, taken for UTC (section 5.6.1 of the specification)");
        }
    }

    private void note(String deviation) {
        if (deviations != null) {
            deviations.accept("the agent sent " + deviation);
        }
    }

    /** Where nothing is left to say, some say an empty object, some null, and some nothing. */
    private void requireSuccess(int status, byte[] body) {
        requireId(body, rpc ? id : null);
        A2AException told = Problem.read(status, body);
        if (told != null) {
            throw told;
        }
        if (!WireRequest.isNothing(body)) {
            var unused = read(body, Codecs.STRUCT, status);
        }
    }

    @Override
    public Set<String> eventTypes() {
        return tellsIdsOnly() ? VaultDialect.EVENTS : Set.of();
    }

    @Override
    public @Nullable LoggedEvent event(@Nullable String number, String data) {
        Long sequence = number == null ? null : RequestMarks.sequence(number);
        byte[] json = DocumentMender.legal(data.getBytes(UTF_8), this::blemish);
        if (spoken.equals(V1)) {
            noteTimes(json);
        }
        TaskEvent event = readEvent(json, spoken.event(), rpc && spoken.wrapsFrames(), 200);
        long known = sequence == null && spoken.equals(V1) ? Generations.of(json) : sequence == null ? 0 : sequence;
        return event == null ? null : new LoggedEvent(known, event);
    }

    @Override
    public A2AException refusal(int status, byte[] body) {
        requireId(body, rpc ? id : null);
        A2AException told = Problem.read(status, DocumentMender.legal(body, this::blemish));
        return told == null ? Problem.of(status, Excerpt.of(mediaType, body)) : told;
    }

    /** Reads what ought to be an answer. What cannot be read may still be an error that the peer tells. */
    static <T> T read(byte[] json, Codec<T> codec, int status) {
        return read(json, codec, status, ExtensionErrors.INSTALLED);
    }

    /** @param own errors of the extension that the operation belongs to */
    static <T> T read(byte[] json, Codec<T> codec, int status, List<ErrorKind> own) {
        try {
            return JsonText.read(json, codec);
        } catch (A2AException unreadable) {
            if (unreadable.error() != A2AError.PARSE_ERROR && unreadable.error() != A2AError.INVALID_PARAMS) {
                throw unreadable; // a refusal that was told in a result
            }
            A2AException told = Problem.read(status, json, own);
            throw told != null
                    ? told
                    : A2AException.of(
                                    A2AError.INVALID_AGENT_RESPONSE,
                                    "The agent's answer cannot be read: " + unreadable.getMessage())
                            .causedBy(unreadable);
        }
    }

    /** Refuses an error that answers another request. The id is null if the peer could not read that of the request. */
    static void requireId(byte[] body, @Nullable String expected) {
        if (expected == null || WireRequest.isNothing(body)) {
            return;
        }
        Map<?, ?> answer;
        try {
            answer = JsonText.read(body, Codecs.STRUCT);
        } catch (A2AException noObject) {
            return;
        }
        Object other = answer.get("id");
        if (answer.get("jsonrpc") != null && other != null && !isSame(expected, other.toString())) {
            throw shifted(other.toString(), expected);
        }
    }

    /** Some peers make a text of a number, or a fraction of an integer. */
    private static boolean isSame(String expected, String id) {
        return id.equals(expected) || id.equals(expected + ".0");
    }

    private static A2AException shifted(String id, String expected) {
        return Binding.ofAnotherRequest("The agent's answer has the id \"" + Excerpt.of(id, MAX_ID_LENGTH)
                + "\" of another request (expected: " + expected + ")");
    }

    /**
     * The {@code result} of a JSON-RPC answer.
     *
     * @param id of the request; null for any
     */
    record ResultOf<T>(Codec<T> codec, @Nullable String id) implements Codec<T> {
        @Override
        public String expected() {
            return "an object with a result";
        }

        @Override
        public @Nullable T read(JsonParser in) {
            FieldPath.require(in, JsonToken.START_OBJECT, expected());
            T result = null;
            boolean named = true;
            for (String name = in.nextName(); name != null; name = in.nextName()) {
                JsonToken token = in.nextToken();
                if (name.equals("id") && id != null) {
                    named = token.isScalarValue() && token != JsonToken.VALUE_NULL;
                    if (named && !isSame(id, in.getString())) {
                        throw shifted(in.getString(), id);
                    }
                    in.skipChildren();
                } else if (!name.equals("result")) {
                    in.skipChildren();
                } else if (result != null) {
                    throw FieldPath.fault(in, "", "duplicate key");
                } else if (token != JsonToken.VALUE_NULL || codec.readsNull()) {
                    result = codec.read(in);
                }
            }
            if (result == null) {
                throw FieldPath.fault(in, "result", "missing");
            }
            if (!named && id != null) {
                throw shifted("null", id); // only an error may have none
            }
            return result;
        }

        @Override
        public void write(JsonGenerator out, T value) {
            throw new UnsupportedOperationException("answers are written by the server");
        }
    }
}
