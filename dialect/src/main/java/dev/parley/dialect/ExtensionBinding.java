package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.answers.Problem;
import dev.parley.dialect.operations.ExtensionRow;
import dev.parley.dialect.operations.PathTemplate;
import dev.parley.dialect.spi.Binding;
import dev.parley.dialect.spi.Binding.Outgoing;
import dev.parley.dialect.spi.Headers;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.WireDocument;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.Documents;
import dev.parley.protocol.json.JsonText;
import dev.parley.protocol.support.Excerpt;
import dev.parley.protocol.support.Sha256;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The client's side of an extension over HTTP for one request and its answers: as {@link Binding} is for the operations of A2A. Safe for
 * any thread.
 */
public final class ExtensionBinding {
    private static final byte[] NOTHING = {};

    private final Interface agent;
    private final Extension entry;
    private final ExtensionProtocol protocol;
    private final List<ExtensionRow> rows;
    private final boolean rpc;
    /** Id of the request. */
    private final String id = WireBinding.nextId();

    /**
     * @param agent an interface over HTTP
     * @param entry the extension on its card
     */
    public ExtensionBinding(Interface agent, Extension entry, ExtensionProtocol protocol) {
        this.agent = agent;
        this.entry = entry;
        this.protocol = protocol;
        this.rows = protocol.methods().stream()
                .map(method -> ExtensionRow.of(protocol, method))
                .toList();
        this.rpc = !agent.protocolBinding().equals(Interface.HTTP_JSON);
    }

    /**
     * Returns the request for {@code operation}.
     *
     * @throws A2AException UNSUPPORTED_OPERATION if it is not an operation of this extension, or has no place in this binding
     */
    public Outgoing request(Operation.Extension operation, CallContext context) {
        ExtensionRow row = row(operation);
        Map<String, String> headers = headers(row.method().streams(), context);
        if (!rpc || row.method().mediaType() != null) {
            return rest(row, operation, headers);
        }
        return WireBinding.rpc(agent.url(), id, row.method().name(), row.request(), operation, headers);
    }

    private Outgoing rest(ExtensionRow row, Operation.Extension operation, Map<String, String> headers) {
        PathTemplate path = row.path();
        if (path == null) {
            throw A2AException.of(
                    A2AError.UNSUPPORTED_OPERATION,
                    operation.name() + " has no REST binding (expected: an interface with JSON-RPC)");
        }
        String verb = row.verbs().getFirst();
        if (ExtensionMethod.hasBody(verb) && path.variables().isEmpty()) {
            headers.put("Content-Type", Headers.JSON);
            String url = protocol.style().restUrl(entry, agent.url(), path.fill(name -> name));
            return new Outgoing(verb, url, headers, JsonText.write(row.request(), operation));
        }
        Object tree = row.request().toJson(operation);
        var members = new LinkedHashMap<String, @Nullable Object>();
        if (tree instanceof Map<?, ?> object) {
            object.forEach((name, value) -> members.put(String.valueOf(name), value));
        }
        String filled = path.fill(name -> String.valueOf(requireNonNull(members.get(name), name)));
        members.keySet().removeAll(path.variables());
        String url = protocol.style().restUrl(entry, agent.url(), filled);
        if (ExtensionMethod.hasBody(verb)) {
            headers.put("Content-Type", Headers.JSON);
            return new Outgoing(verb, url, headers, JsonText.write(Codecs.FREE, members));
        }
        var query = new LinkedHashMap<String, String>();
        members.forEach((name, value) -> {
            if (value != null) {
                query.put(name, value.toString());
            }
        });
        return new Outgoing(verb, url + PathTemplate.query(query), headers, NOTHING);
    }

    private Map<String, String> headers(boolean stream, CallContext context) {
        var headers = new LinkedHashMap<String, String>();
        var extensions = new TreeSet<>(context.extensions());
        if (isAddress(entry.uri())) {
            extensions.add(entry.uri());
        }
        boolean older = !agent.protocolVersion().startsWith("1.");
        WireBinding.describe(context, stream, older, false, extensions, headers);
        return headers;
    }

    /** Cards with only the flags of a published extension have no URI that could be activated. */
    private static boolean isAddress(String uri) {
        return uri.contains("://");
    }

    private ExtensionRow row(Operation.Extension operation) {
        for (ExtensionRow row : rows) {
            ExtensionMethod<?, ?> method = row.method();
            if (method.type().isInstance(operation) && method.name().equals(operation.name())) {
                return row;
            }
        }
        throw A2AException.of(
                A2AError.UNSUPPORTED_OPERATION,
                operation.name() + " (expected: one of "
                        + String.join(
                                ", ",
                                rows.stream()
                                        .map(row -> row.method().name())
                                        .distinct()
                                        .toList())
                        + ")");
    }

    /**
     * Reads the answer to {@code operation}. A document over REST comes without its media type.
     *
     * @throws A2AException if it is an error, or cannot be read
     */
    @SuppressWarnings("unchecked") // an operation's answer has the type that the operation names
    public <R> R result(Operation.ExtensionCall<R> operation, int status, byte[] body) {
        ExtensionRow row = row(operation);
        if (row.method().mediaType() != null) {
            if (status != 200) {
                throw refusal(status, body);
            }
            return (R) new String(body, UTF_8);
        }
        if (status == 200 && !rpc && row.method().answer().equals(Documents.JSON)) {
            return (R) new WireDocument(
                    body, "application/octet-stream", HexFormat.of().formatHex(Sha256.of(body)));
        }
        return (R) result(row.answer(), status, body);
    }

    /**
     * Reads one server-sent event of the stream that answers {@code operation}.
     *
     * @throws A2AException if it is an error, or cannot be read
     */
    @SuppressWarnings("unchecked") // an operation's stream has elements of the type that the operation names
    public <E> E element(Operation.ExtensionWatch<E> operation, String data) {
        return (E) result(row(operation).answer(), 200, data.getBytes(UTF_8));
    }

    private <T> T result(Codec<T> codec, int status, byte[] body) {
        if (status < 200 || status > 299) {
            throw refusal(status, body);
        }
        try {
            return WireBinding.read(
                    body, rpc ? new WireBinding.ResultOf<>(codec, id) : codec, status, protocol.errors());
        } catch (A2AException problem) {
            throw completed(problem, body);
        }
    }

    /** Returns the error that an answer is. */
    public A2AException refusal(int status, byte[] body) {
        WireBinding.requireId(body, rpc ? id : null);
        A2AException told = Problem.read(status, body, protocol.errors());
        return told == null ? Problem.of(status, Excerpt.of(null, body)) : completed(told, body);
    }

    /** Some extensions have the details of an error beside each other, where A2A has a list of them. */
    private static A2AException completed(A2AException problem, byte[] body) {
        if (!problem.metadata().isEmpty() || !problem.violations().isEmpty()) {
            return problem;
        }
        var metadata = new LinkedHashMap<String, String>();
        if (JsonText.read(body, Codecs.STRUCT).get("error") instanceof Map<?, ?> error
                && error.get("data") instanceof Map<?, ?> data) {
            data.forEach((name, value) -> metadata.put(
                    String.valueOf(name),
                    value instanceof String text ? text : new String(JsonText.write(Codecs.FREE, value), UTF_8)));
        }
        return metadata.isEmpty()
                ? problem
                : A2AException.of(
                        problem.error(),
                        String.valueOf(problem.getMessage()),
                        metadata,
                        problem.violations(),
                        problem.retryAfter());
    }
}
