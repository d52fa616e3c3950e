package dev.parley.dialect;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Binding.Outgoing;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.CallChain;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.KnowledgeOperation;
import dev.parley.protocol.KnowledgeOperation.Change;
import dev.parley.protocol.KnowledgeOperation.Query;
import dev.parley.protocol.KnowledgeOperation.Subscribe;
import dev.parley.protocol.KnowledgeOperation.Update;
import dev.parley.protocol.Operation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/**
 * The client's side of the knowledge graph extension over HTTP: as {@link Binding} is for the operations of A2A. Safe for
 * any thread.
 */
public final class KnowledgeBinding {
    private static final byte[] NOTHING = {};
    private static final byte[] END_OF_OBJECT = {'}'};

    private final Interface agent;
    private final Extension entry;
    private final boolean rpc;

    /**
     * @param agent an interface over HTTP
     * @param entry what its card says of the extension
     */
    public KnowledgeBinding(Interface agent, Extension entry) {
        this.agent = agent;
        this.entry = entry;
        this.rpc = !agent.protocolBinding().equals(Interface.HTTP_JSON);
    }

    /**
     * Returns the request that asks for {@code operation}.
     *
     * @throws A2AException UNSUPPORTED_OPERATION if it is not an operation of this extension
     */
    public Outgoing request(Operation.Extension operation, CallContext context) {
        return switch (operation) {
            case Query query -> request(query.name(), KnowledgeModel.QUERY, query, context, false);
            case Update update -> request(update.name(), KnowledgeModel.UPDATE, update, context, false);
            case Subscribe subscribe -> request(subscribe.name(), KnowledgeModel.SUBSCRIBE, subscribe, context, true);
            default -> throw unknown(operation);
        };
    }

    private static A2AException unknown(Operation operation) {
        return A2AException.of(
                A2AError.UNSUPPORTED_OPERATION,
                operation.name() + " (expected: one of " + String.join(", ", KnowledgeOperation.NAMES) + ")");
    }

    private <O extends KnowledgeOperation> Outgoing request(
            String method, Codec<O> codec, O operation, CallContext context, boolean stream) {
        var headers = new LinkedHashMap<String, String>();
        headers.put("Content-Type", Form.JSON);
        headers.put("Accept", stream ? Dialects.EVENT_STREAM + ", " + Form.JSON : Form.JSON);
        var extensions = new TreeSet<>(context.extensions());
        if (isAddress(entry.uri())) {
            extensions.add(entry.uri());
        }
        if (!extensions.isEmpty()) {
            boolean older = !agent.protocolVersion().startsWith("1.");
            headers.put((older ? "X-" : "") + Dialects.EXTENSIONS, String.join(", ", extensions));
        }
        if (context.traceparent() != null) {
            headers.put(Dialects.TRACE, context.traceparent());
        }
        String chain = context.chain().baggage();
        if (chain != null) {
            headers.put(CallChain.HEADER, chain);
        }
        if (!rpc) {
            String url =
                    KnowledgeExtension.restBase(entry, agent.url()) + ":" + method.substring(method.indexOf('/') + 1);
            return new Outgoing("POST", url, headers, Json.write(NOTHING, codec, operation, NOTHING));
        }
        String before = "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"" + method + "\",\"params\":";
        return new Outgoing(
                "POST", agent.url(), headers, Json.write(before.getBytes(UTF_8), codec, operation, END_OF_OBJECT));
    }

    /** Cards with only the flags have no URI that could be activated. */
    private static boolean isAddress(String uri) {
        return uri.contains("://");
    }

    /**
     * Reads the answer to {@code operation}.
     *
     * @throws A2AException if it is an error, or cannot be read
     */
    @SuppressWarnings("unchecked") // an operation's answer has the type that the operation names
    public <R> R result(Operation.ExtensionCall<R> operation, int status, byte[] body) {
        return switch (operation) {
            case Query query -> (R) result(KnowledgeModel.QUERY_RESULT, status, body);
            case Update update -> (R) result(KnowledgeModel.UPDATE_RESULT, status, body);
            default -> throw unknown(operation);
        };
    }

    /**
     * Reads one server-sent event of a subscription.
     *
     * @throws A2AException if it is an error, or cannot be read
     */
    public Change change(String data) {
        return result(KnowledgeModel.CHANGE, 200, data.getBytes(UTF_8));
    }

    private <T> T result(Codec<T> codec, int status, byte[] body) {
        if (status < 200 || status > 299) {
            throw refusal(status, body);
        }
        try {
            return WireBinding.read(body, rpc ? new WireBinding.ResultOf<>(codec) : codec, status);
        } catch (A2AException problem) {
            throw completed(problem, body);
        }
    }

    /** Returns the error that an answer is. */
    public A2AException refusal(int status, byte[] body) {
        A2AException told = Problem.read(status, body);
        return told == null ? Problem.of(status) : completed(told, body);
    }

    /** The published extension has the details of an error beside each other, where A2A has a list of them. */
    private static A2AException completed(A2AException problem, byte[] body) {
        if (!problem.metadata().isEmpty() || !problem.violations().isEmpty()) {
            return problem;
        }
        var metadata = new LinkedHashMap<String, String>();
        if (Json.read(body, Map.class).get("error") instanceof Map<?, ?> error
                && error.get("data") instanceof Map<?, ?> data) {
            data.forEach((name, value) -> metadata.put(
                    String.valueOf(name), value instanceof String text ? text : new String(Json.write(value), UTF_8)));
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
