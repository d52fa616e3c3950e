package dev.parley.outbound.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a stream of bytes into server-sent events. For one thread.
 *
 * <p>The name of an event is its type: only events without a name, and those named {@code message}, are messages of a protocol. Others,
 * such as the {@code ping} of some frameworks, are dropped, except types that the protocol of the stream has.
 *
 * <p>An event's id is the one that it carries itself: the events of a task are numbered, so what an earlier event was
 * called says nothing about one without a number. {@link #lastId} is the id for a reconnection, which events without an id keep.
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

    /** Longest pause before a reconnection that a server can ask for. */
    private static final long LONGEST_RETRY_MILLIS = 60_000;

    private static final int LONGEST_NUMBER = 18;

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};

    private final int maxEventBytes;
    private final Set<String> types;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private final ByteArrayOutputStream data = new ByteArrayOutputStream();
    private @Nullable String id;
    private @Nullable String lastId;
    private @Nullable Duration retry;
    private boolean isOther;
    private boolean hasData;
    private boolean afterReturn;
    private boolean begun;

    public SseParser(int maxEventBytes) {
        this(maxEventBytes, Set.of());
    }

    /** @param types of events that are handed out beside messages */
    public SseParser(int maxEventBytes, Set<String> types) {
        this.maxEventBytes = maxEventBytes;
        this.types = types;
    }

    /** Id of the last event that had one, also of one without data; null for none. */
    public @Nullable String lastId() {
        return lastId;
    }

    /** Pause before a reconnection, as the server wants it, at most a minute; null if it did not say. */
    public @Nullable Duration retry() {
        return retry;
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
            case "event" -> {
                String name = new String(text, value, text.length - value, UTF_8);
                isOther = !name.isEmpty() && !name.equals("message") && !types.contains(name);
            }
            case "retry" -> retry = retry(new String(text, value, text.length - value, UTF_8));
            default -> {} // a comment, or an unknown field
        }
    }

    /** Digits only, as the standard has it; other values change nothing. */
    private @Nullable Duration retry(String value) {
        return value.isEmpty()
                        || value.length() > LONGEST_NUMBER
                        || !value.chars().allMatch(c -> c >= '0' && c <= '9')
                ? retry
                : Duration.ofMillis(Math.min(Long.parseLong(value), LONGEST_RETRY_MILLIS));
    }

    private void endEvent(Consumer<Frame> out) {
        Frame event = data.size() > 0 && !isOther ? new Frame(id, data.toString(UTF_8)) : null;
        lastId = id == null ? lastId : id;
        data.reset();
        hasData = false;
        isOther = false;
        id = null;
        if (event != null) {
            out.accept(event);
        }
    }

    private static boolean startsWith(byte[] text, byte[] start) {
        return text.length >= start.length && Arrays.equals(text, 0, start.length, start, 0, start.length);
    }
}
