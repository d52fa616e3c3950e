package dev.parley.dialect.answers;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.parley.dialect.answers.Dialect.Trait;
import dev.parley.dialect.spi.Headers;
import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.json.Codec;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Form of the answers to one request: the members around a result, an event and an error.
 *
 * <p>Source: A2A specification 1.0, sections 9.4, 9.5, 11.6 and 11.7.
 */
public final class ResponseFraming {
    /** JSON of an id that is not known. */
    static final byte[] NO_ID = {'n', 'u', 'l', 'l'};

    private static final byte[] NOTHING = {};
    private static final byte[] START_OF_OBJECT = {'{'};
    private static final byte[] END_OF_OBJECT = {'}'};
    private static final byte[] COMMA = {','};
    private static final byte[] RPC_OPENING = ascii("{\"jsonrpc\":\"2.0\",\"id\":");
    private static final byte[] RESULT = ascii("\"result\":");
    private static final byte[] ERROR = ascii("\"error\":");
    private static final byte[] END_OF_EVENT = {'\n', '\n'};
    private static final byte[] DATA = ascii("data: ");

    /** For JSON-RPC requests whose id is not known. */
    public static final ResponseFraming RPC_WITHOUT_ID = rpcWithoutId(Dialect.V1);

    private final boolean rpc;
    private final Dialect dialect;
    private final Dialect.Telling telling;
    private final boolean statusesOf100;
    private final String contentType;
    private final byte[] opening;
    private final byte[] beforeResult;
    private final byte[] afterResult;

    private ResponseFraming(
            boolean rpc,
            Dialect dialect,
            boolean statusesOf100,
            String contentType,
            byte[] opening,
            byte[] beforeResult,
            byte[] afterResult) {
        this.rpc = rpc;
        this.dialect = dialect;
        this.telling = dialect.telling();
        this.statusesOf100 = statusesOf100;
        this.contentType = contentType;
        this.opening = opening;
        this.beforeResult = beforeResult;
        this.afterResult = afterResult;
    }

    /** Answers to a JSON-RPC request whose id is not known. */
    public static ResponseFraming rpcWithoutId(Dialect dialect) {
        return rpc(dialect, NO_ID);
    }

    /** @param id the JSON of the request's id */
    public static ResponseFraming rpc(Dialect dialect, byte[] id) {
        byte[] opening = join(RPC_OPENING, id, COMMA);
        return new ResponseFraming(true, dialect, false, Headers.JSON, opening, join(opening, RESULT), END_OF_OBJECT);
    }

    public static ResponseFraming rest(Dialect dialect, String contentType, boolean statusesOf100) {
        return new ResponseFraming(false, dialect, statusesOf100, contentType, START_OF_OBJECT, NOTHING, NOTHING);
    }

    public boolean isRpc() {
        return rpc;
    }

    /** Clients of 0.3 and before take an answer of another type for a broken server, and never look for its error. */
    public static boolean readsOnlyStreams(WireRequest request) {
        String accept = request.header("Accept");
        return accept != null && accept.contains(Headers.EVENT_STREAM) && !accept.contains(Headers.JSON);
    }

    public <T> WireAnswer.Whole result(Codec<T> codec, T value, Map<String, String> headers) {
        return new WireAnswer.Whole(
                200, with(headers, contentType), JsonText.write(beforeResult, codec, value, afterResult));
    }

    /** The answer to a request that was refused or failed. */
    public WireAnswer.Whole error(A2AException problem) {
        A2AException shown = dialect.shown(problem);
        return error(shown, status(shown));
    }

    public WireAnswer.Whole error(A2AException problem, int status) {
        return new WireAnswer.Whole(status, with(problem.headers(), contentType), errorBody(problem, status));
    }

    /** The same as a stream that holds nothing else, unless its status tells it. */
    public WireAnswer.Whole errorInStream(A2AException problem) {
        WireAnswer.Whole error = error(problem);
        return error.status() == 200
                ? new WireAnswer.Whole(200, Map.of("Content-Type", "text/event-stream"), failure(problem))
                : error;
    }

    private int status(A2AException problem) {
        return rpc ? dialect.rpcStatus(problem) : dialect.restStatus(problem, statusesOf100);
    }

    private byte[] errorBody(A2AException problem, int status) {
        if (!rpc) {
            return JsonText.write(Codecs.FREE, dialect.restError(problem, status));
        }
        var error = new LinkedHashMap<String, Object>();
        error.put("code", dialect.code(problem.error()));
        error.put("message", String.valueOf(problem.getMessage()));
        error.put("data", dialect.rpcErrorData(problem));
        return JsonText.write(join(opening, ERROR), Codecs.FREE, error, END_OF_OBJECT);
    }

    /** One frame of a stream, under an id if there is one. */
    public byte[] frame(@Nullable String id, byte[] json) {
        byte[] line = id == null ? NOTHING : ascii("id: " + id + "\n");
        return join(line, DATA, beforeResult, json, afterResult, END_OF_EVENT);
    }

    /** The frames of an event of a task; no bytes for one that is not shown. */
    public byte[] frame(LoggedEvent event) {
        var frames = new Frames();
        telling.tell(event, frames);
        return frames.bytes(dialect.has(Trait.NUMBERS_FRAMES) ? event.sequence() : 0);
    }

    /** The frames of one event: one as a rule. Only the last one carries its number, or a reader would miss the rest. */
    private final class Frames implements Dialect.Sink {
        private byte[] earlier = NOTHING;
        private byte @Nullable [] opening;
        private LoggedEvent.Bytes last = new LoggedEvent.Bytes(NOTHING, 0, 0);

        @Override
        public void frame(@Nullable String name, LoggedEvent.Bytes json) {
            earlier = bytes(0);
            opening = name == null ? NOTHING : ascii("event: " + name + "\n");
            last = json;
        }

        private byte[] bytes(long number) {
            byte[] first = opening;
            if (first == null) {
                return NOTHING;
            }
            byte[] id = number == 0 ? NOTHING : ascii("id: " + number + "\n");
            boolean wraps = dialect.has(Trait.WRAPS_FRAMES);
            byte[] before = wraps ? beforeResult : NOTHING;
            byte[] after = wraps ? afterResult : NOTHING;
            int around = earlier.length + first.length + id.length + DATA.length + before.length + after.length;
            return ByteBuffer.allocate(around + last.length() + END_OF_EVENT.length)
                    .put(earlier)
                    .put(first)
                    .put(id)
                    .put(DATA)
                    .put(before)
                    .put(last.array(), last.from(), last.length())
                    .put(after)
                    .put(END_OF_EVENT)
                    .array();
        }
    }

    /** The last frame of a stream that broke. */
    public byte[] failure(A2AException problem) {
        var frames = new Frames();
        if (!dialect.tellFailure(problem, frames)) {
            A2AException shown = dialect.shown(problem);
            return join(DATA, errorBody(shown, shown.error().httpStatus()), END_OF_EVENT);
        }
        return frames.bytes(0);
    }

    private static Map<String, String> with(Map<String, String> headers, String contentType) {
        if (headers.isEmpty()) {
            return Map.of("Content-Type", contentType);
        }
        var all = new LinkedHashMap<>(headers);
        all.put("Content-Type", contentType);
        return all;
    }

    private static byte[] join(byte[]... pieces) {
        int length = 0;
        for (byte[] piece : pieces) {
            length += piece.length;
        }
        byte[] joined = new byte[length];
        int at = 0;
        for (byte[] piece : pieces) {
            System.arraycopy(piece, 0, joined, at, piece.length);
            at += piece.length;
        }
        return joined;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(US_ASCII);
    }
}
