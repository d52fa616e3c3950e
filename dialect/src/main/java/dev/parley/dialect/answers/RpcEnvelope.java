package dev.parley.dialect.answers;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.spi.WireRequest;
import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.JsonText;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * A JSON-RPC request with unread parameters: their shape depends on the method, which may follow them.
 *
 * <p>A2A knows neither batches nor notifications, so both are invalid requests here, and so is an id that is null.
 *
 * <p>Source: JSON-RPC 2.0, section 4; A2A specification 1.0, section 9.3.
 *
 * @param body the whole request
 * @param id as JSON; {@code null} if there is none that could be repeated
 * @param from where in {@code body} the parameters begin; equal to {@code to} if there are none
 * @param problem why this is not a request; null if it is one
 * @param anonymous whether the only problem is that it has no id, which some dialects take for a notification
 */
public record RpcEnvelope(
        byte[] body,
        byte[] id,
        String method,
        int from,
        int to,
        @Nullable A2AException problem,
        boolean anonymous) {
    private static final int MAX_ID_LENGTH = 256;
    private static final byte[] NO_PARAMS = {'{', '}'};

    /**
     * Reads a request to an agent. Failures are answered under its id from then on.
     *
     * @throws A2AException if it is not a POST of JSON, or no request otherwise than for want of an id
     */
    public static RpcEnvelope read(WireRequest request, Dialect dialect, CallContext caller, FailureFraming framing) {
        framing.use(ResponseFraming.rpcWithoutId(dialect));
        if (!request.method().equals("POST")) {
            throw A2AException.notAllowed(request.method(), "POST");
        }
        framing.requireJson(request);
        RpcEnvelope envelope = LargeBodies.compute(request, caller, () -> read(request.body()));
        framing.use(ResponseFraming.rpc(dialect, envelope.id));
        if (envelope.problem != null && !envelope.anonymous) {
            throw envelope.problem;
        }
        return envelope;
    }

    /** @throws A2AException PARSE_ERROR if {@code body} is no JSON */
    public static RpcEnvelope read(byte[] body) {
        return JsonText.request(body, in -> read(body, in));
    }

    /** Returns the id of a request as JSON; {@code null} if the body is not a request, or has none that could be repeated. */
    public static byte[] idOf(byte[] body) {
        if (body.length == 0) {
            return ResponseFraming.NO_ID;
        }
        try {
            return read(body).id();
        } catch (A2AException unreadable) {
            return ResponseFraming.NO_ID;
        }
    }

    private static RpcEnvelope read(byte[] body, JsonParser in) {
        if (in.currentToken() != JsonToken.START_OBJECT) {
            boolean batch = in.currentToken() == JsonToken.START_ARRAY;
            in.skipChildren();
            return refused(body, ResponseFraming.NO_ID, batch ? "batches are not part of A2A" : "not an object");
        }
        String version = null;
        byte[] id = null;
        boolean unusable = false;
        String method = null;
        int from = 0;
        int to = 0;
        for (String name = in.nextName(); name != null; name = in.nextName()) {
            JsonToken token = in.nextToken();
            switch (name) {
                case "jsonrpc" -> version = string(in);
                case "id" -> {
                    id = id(body, in);
                    unusable = id == null && token != JsonToken.VALUE_NULL;
                }
                case "method" -> method = string(in);
                case "params" -> {
                    int start = offsetOfToken(in);
                    in.skipChildren();
                    in.finishToken();
                    from = token == JsonToken.VALUE_NULL ? 0 : start;
                    to = token == JsonToken.VALUE_NULL ? 0 : offsetBehindToken(in);
                }
                default -> in.skipChildren();
            }
        }
        byte[] repeated = id == null ? ResponseFraming.NO_ID : id;
        if (!"2.0".equals(version)) {
            return refused(body, repeated, "jsonrpc: missing or unknown (expected: \"2.0\")");
        }
        if (method == null) {
            return refused(body, repeated, "method: missing or no string");
        }
        A2AException problem = id != null
                ? null
                : invalid("id: missing or unusable (expected: a string or number of at most " + MAX_ID_LENGTH
                        + " bytes)");
        return new RpcEnvelope(body, repeated, method, from, to, problem, id == null && !unusable);
    }

    /**
     * Reads the parameters.
     *
     * @throws A2AException INVALID_PARAMS naming the field
     */
    public <T> T params(Codec<T> codec) {
        return from == to
                ? JsonText.read(NO_PARAMS, codec)
                : JsonText.slice(body, from, to, in -> {
                    if (in.currentToken() != JsonToken.START_OBJECT) {
                        throw A2AException.invalidParams("params", "no object (expected: an object)");
                    }
                    return requireNonNull(codec.read(in));
                });
    }

    /** {@link #params(Codec)} of a request that may be large. */
    public <T> T params(Codec<T> codec, WireRequest request, CallContext caller) {
        return LargeBodies.compute(request, caller, () -> params(codec));
    }

    private static RpcEnvelope refused(byte[] body, byte[] id, String problem) {
        return new RpcEnvelope(body, id, "", 0, 0, invalid(problem), false);
    }

    private static A2AException invalid(String problem) {
        return A2AException.of(A2AError.INVALID_REQUEST, A2AError.INVALID_REQUEST.defaultMessage() + ": " + problem);
    }

    private static @Nullable String string(JsonParser in) {
        if (in.currentToken() == JsonToken.VALUE_STRING) {
            return in.getString();
        }
        in.skipChildren();
        return null;
    }

    /** The JSON of a string or number, exactly as the peer wrote it. */
    private static byte @Nullable [] id(byte[] body, JsonParser in) {
        if (in.currentToken().isNumeric()) {
            String number = in.getString();
            // Peers could not read 1e999 back; they would drop the answer.
            return number.length() > MAX_ID_LENGTH || Double.isInfinite(in.getDoubleValue())
                    ? null
                    : number.getBytes(US_ASCII);
        }
        if (in.currentToken() != JsonToken.VALUE_STRING) {
            in.skipChildren();
            return null;
        }
        int start = offsetOfToken(in);
        in.finishToken();
        int end = offsetBehindToken(in);
        return end - start > MAX_ID_LENGTH ? null : Arrays.copyOfRange(body, start, end);
    }

    private static int offsetOfToken(JsonParser in) {
        return (int) in.currentTokenLocation().getByteOffset();
    }

    private static int offsetBehindToken(JsonParser in) {
        return (int) in.currentLocation().getByteOffset();
    }
}
