package dev.parley.client.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into server-sent events. For one thread.
 *
 * <p>An event's id is the one that it carries itself: the events of a task are numbered, so what an earlier event was
 * called says nothing about one without a number. Comments, event names and retry times are read and dropped.
 *
 * <p>Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream".
 */
public final class SseParser {
    /** One event; {@code id} is null if it has none. */
    public record Frame(@Nullable String id, String data) {}

    /** One event is longer than the limit. */
    public static final class TooLarge extends IOException {
        private static final long serialVersionUID = 1L;

        TooLarge(int limit) {
            super("an event is longer than " + limit + " bytes");
        }
    }

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private final int maxEventBytes;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private @Nullable String id;
    private boolean hasData;
    private boolean afterReturn;
    private boolean begun;

    public SseParser(int maxEventBytes) {
        this.maxEventBytes = maxEventBytes;
    }

    /**
     * Reads on, and hands out the events that are complete.
     *
     * @throws TooLarge if an event is longer than the limit; there is no going on
     */
    public void read(ByteBuffer bytes, Consumer<Frame> out) throws TooLarge {
        byte[] chunk = new byte[bytes.remaining()];
        bytes.get(chunk);
        int start = 0;
        for (int i = 0; i < chunk.length; i++) {
            byte next = chunk[i];
            if (next != '\n' && next != '\r') {
                afterReturn = false;
                continue;
            }
            boolean restOfLineEnd = next == '\n' && afterReturn && i == start;
            afterReturn = next == '\r';
            if (!restOfLineEnd) {
                add(chunk, start, i);
                endLine(out);
            }
            start = i + 1;
        }
        add(chunk, start, chunk.length);
    }

    private void add(byte[] chunk, int from, int to) throws TooLarge {
        if (data.size() + line.size() + (to - from) > maxEventBytes) {
            throw new TooLarge(maxEventBytes);
        }
        line.write(chunk, from, to - from);
    }

    private void endLine(Consumer<Frame> out) {
        byte[] text = line.toByteArray();
        line.reset();
        int from = begun || !startsWith(text, BYTE_ORDER_MARK) ? 0 : BYTE_ORDER_MARK.length;
        begun = true;
        if (from == text.length) {
            endEvent(out);
            return;
        }
        int colon = from;
        while (colon < text.length && text[colon] != ':') {
            colon++;
        }
        int value = Math.min(colon + 1, text.length);
        if (value < text.length && text[value] == ' ') {
            value++;
        }
        switch (new String(text, from, colon - from, UTF_8)) {
            case "data" -> {
                if (hasData) {
                    data.write('\n');
                }
                data.write(text, value, text.length - value);
                hasData = true;
            }
            case "id" -> {
                String given = new String(text, value, text.length - value, UTF_8);
                id = given.indexOf('\0') >= 0 ? id : given;
            }
            default -> {} // a comment, or a field that says nothing to us
        }
    }

    private void endEvent(Consumer<Frame> out) {
        if (data.size() > 0) {
            out.accept(new Frame(id, data.toString(UTF_8)));
        }
        data.reset();
        hasData = false;
        id = null;
    }

    private static boolean startsWith(byte[] text, byte[] start) {
        return text.length >= start.length && Arrays.equals(text, 0, start.length, start, 0, start.length);
    }
}
