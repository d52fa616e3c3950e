package dev.parley.dialect.v1;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.parley.dialect.spi.RequestMarks;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.nio.ByteBuffer;
import java.util.Map;

/**
 * The number of an event as the member {@code generation} of its JSON: a preview of A2A 1.1. It is the number that the event has in the log
 * of its task, as text, which is how ProtoJSON writes 64 bits.
 *
 * <p>Source: A2A, branch dev-1.1 of 12 August 2026, section 3.2.7.
 */
public final class Generations {
    static final String MEMBER = "generation";

    private static final byte[] NAME = ("\"" + MEMBER + "\"").getBytes(US_ASCII);

    private Generations() {}

    /** Returns the event with its number in its bytes; the same if it is in no log. */
    public static LoggedEvent numbered(LoggedEvent event) {
        if (event.sequence() == 0 || event.event() instanceof Message) {
            return event;
        }
        LoggedEvent.Bytes json = event.bytes(V1Model::write);
        int kept = json.length() - 2; // without the ends of the event and of its wrapper
        byte[] number = (",\"" + MEMBER + "\":\"" + event.sequence() + "\"}}").getBytes(US_ASCII);
        byte[] numbered = ByteBuffer.allocate(kept + number.length)
                .put(json.array(), json.from(), kept)
                .put(number)
                .array();
        var shown = new LoggedEvent(event.sequence(), event.event());
        shown.encodedIn(numbered, 0, numbered.length);
        return shown;
    }

    /**
     * Returns the number in the JSON of an event that a peer has sent; 0 if there is none.
     *
     * @param json an event, in a JSON-RPC answer or by itself
     */
    public static long of(byte[] json) {
        if (!contains(json)) {
            return 0;
        }
        Map<?, ?> event = JsonText.read(json, Codecs.STRUCT);
        Object result = event.get("result");
        Map<?, ?> wrapped = result instanceof Map<?, ?> inner ? inner : event;
        for (Object value : wrapped.values()) {
            Object number = value instanceof Map<?, ?> members ? members.get(MEMBER) : null;
            Long sequence = number == null ? null : RequestMarks.sequence(number.toString());
            if (sequence != null) {
                return sequence;
            }
        }
        return 0;
    }

    private static boolean contains(byte[] json) {
        for (int at = 0; at <= json.length - NAME.length; at++) {
            int same = 0;
            while (same < NAME.length && json[at + same] == NAME[same]) {
                same++;
            }
            if (same == NAME.length) {
                return true;
            }
        }
        return false;
    }
}
