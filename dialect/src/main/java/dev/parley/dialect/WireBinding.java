package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.answers.ExtensionErrors;
import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.answers.Version;
import dev.parley.dialect.json.Codec;
import dev.parley.dialect.json.Codecs;
import dev.parley.dialect.json.JsonText;
import dev.parley.dialect.json.Place;
import dev.parley.dialect.json.Shape;
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
import dev.parley.dialect.spi.WireRequest;
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
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

    private final AtomicLong ids = new AtomicLong();
    private final boolean rpc;
    private final Spoken spoken;

    private final @Nullable Consumer<String> deviations;

    private WireBinding(boolean rpc, Spoken spoken, @Nullable Consumer<String> deviations) {
        this.rpc = rpc;
        this.spoken = spoken;
        this.deviations = deviations;
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
        return spoken == null ? Providers.binding(agent) : Optional.of(new WireBinding(rpc, spoken, deviations));
    }

    @Override
    public boolean tellsIdsOnly() {
        return spoken.version().equals(VaultDialect.NAME);
    }

    @Override
    public Outgoing request(Operation operation, CallContext context, AgentCard.Interface agent) {
        WireOperation asked = spoken.of(operation);
        String tenant = agent.tenant();
        Shape<Operation> shape =
                tenant == null ? asked.request() : asked.request().orElse(TENANT, tenant); // before 1.0 there is none
        Map<String, String> headers = headers(operation, context, asked.result() == null);
        if (!rpc) {
            return rest(operation, asked, shape, agent.url(), headers);
        }
        String url = tellsIdsOnly() ? VaultDialect.address(agent.url()) : agent.url();
        return rpc(url, Long.toString(ids.incrementAndGet()), asked.method(), shape, operation, headers);
    }

    private Outgoing rest(
            Operation operation,
            WireOperation asked,
            Shape<Operation> shape,
            String base,
            Map<String, String> headers) {
        PathTemplate path = requireNonNull(asked.path());
        String tenant = shape.text(TENANT, operation);
        var inPath = new HashSet<>(path.variables());
        inPath.add(TENANT);
        Shape<Operation> rest = shape.without(inPath);
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
        if (Version.known(spoken.version()) != null) { // the Agentic Kernel and AgentVault are none of A2A
            headers.put(Headers.VERSION, spoken.version());
        }
        describe(context, stream, older, !older, context.extensions(), headers);
        String lastEventId = WireOperation.lastEventId(operation);
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
        return new Outgoing("POST", url, headers, JsonText.write(before.getBytes(UTF_8), params, value, END_OF_OBJECT));
    }

    @Override
    @SuppressWarnings("unchecked") // by the table, an operation's codec makes its result
    public <R> R result(Operation.Call<R> operation, int status, byte[] body) {
        if (status < 200 || status > 299) {
            throw refusal(status, body);
        }
        if (operation instanceof Operation.DeletePushConfig) {
            requireSuccess(status, body);
            return (R) new Operation.Empty();
        }
        Codec<Object> codec = requireNonNull(spoken.of(operation).result());
        if (spoken.equals(V1)) {
            noteTimes(body);
        }
        if (operation instanceof Operation.SendMessage && spoken.equals(V1)) {
            Object result = readEvent(body, (Codec<TaskEvent>) (Codec<?>) codec, rpc, status);
            if (!(result instanceof SendResult)) {
                throw A2AException.of(
                        A2AError.INVALID_AGENT_RESPONSE, "The agent's answer is neither a task nor a message");
            }
            return (R) result;
        }
        return (R) read(body, rpc ? new ResultOf<>(codec) : codec, status);
    }

    /** Reads what 1.0 wraps into an object that names its kind, and some servers of 1.0 leave as it was before. */
    private TaskEvent readEvent(byte[] json, Codec<TaskEvent> codec, boolean wrapped, int status) {
        try {
            return read(json, wrapped ? new ResultOf<>(codec) : codec, status);
        } catch (A2AException unreadable) {
            if (!spoken.equals(V1) || !(unreadable.getCause() instanceof A2AException)) {
                throw unreadable;
            }
            for (Codec<TaskEvent> bare : List.of(V1Model.BARE_EVENT, LegacyModel.KIND.event)) {
                try {
                    TaskEvent event = JsonText.read(json, wrapped ? new ResultOf<>(bare) : bare);
                    note("an event without the member that names its kind (section 3.2.3 of the specification)");
                    return event;
                } catch (A2AException other) {
                    unreadable.addSuppressed(other);
                }
            }
            throw unreadable;
        }
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
    private static void requireSuccess(int status, byte[] body) {
        A2AException told = Problem.read(status, body);
        if (told != null) {
            throw told;
        }
        if (!WireRequest.isNothing(body)) {
            var unused = read(body, Codecs.STRUCT, status);
        }
    }

    @Override
    public LoggedEvent event(@Nullable String id, String data) {
        Long sequence = id == null ? null : WireOperation.sequence(id);
        byte[] json = data.getBytes(UTF_8);
        if (spoken.equals(V1)) {
            noteTimes(json);
        }
        TaskEvent event = readEvent(json, spoken.event(), rpc && spoken.wrapsFrames(), 200);
        return new LoggedEvent(sequence == null ? 0 : sequence, event);
    }

    @Override
    public A2AException refusal(int status, byte[] body) {
        A2AException told = Problem.read(status, body);
        return told == null ? Problem.of(status) : told;
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

    /** The {@code result} of a JSON-RPC answer; its other members say nothing that is not known. */
    record ResultOf<T>(Codec<T> codec) implements Codec<T> {
        @Override
        public String expected() {
            return "an object with a result";
        }

        @Override
        public @Nullable T read(JsonParser in) {
            Place.require(in, JsonToken.START_OBJECT, expected());
            T result = null;
            for (String name = in.nextName(); name != null; name = in.nextName()) {
                JsonToken token = in.nextToken();
                if (!name.equals("result")) {
                    in.skipChildren();
                } else if (result != null) {
                    throw Place.fault(in, "", "duplicate key");
                } else if (token != JsonToken.VALUE_NULL || codec.readsNull()) {
                    result = codec.read(in);
                }
            }
            if (result == null) {
                throw Place.fault(in, "result", "missing");
            }
            return result;
        }

        @Override
        public void write(JsonGenerator out, T value) {
            throw new UnsupportedOperationException("answers are written by the server");
        }
    }
}
