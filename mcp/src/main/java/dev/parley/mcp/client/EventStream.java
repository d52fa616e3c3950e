package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Server-sent events of a stream of bytes. For one thread. Source: WHATWG HTML, 9.2.6. */
final class EventStream {
    private static final long LONGEST_RETRY_MILLIS = 60_000;

    private final InputStream in;
    private final int maxEvent;
    private int behind = -2; // a byte that was read ahead, to see a line feed behind a carriage return
    private @Nullable String lastId;
    private @Nullable Duration retry;

    /** @param maxEvent bytes of an event */
    EventStream(InputStream in, int maxEvent) {
        this.in = in;
        this.maxEvent = maxEvent;
    }

    /** Id of the last event that had one; null for none. */
    @Nullable
    String lastId() {
        return lastId;
    }

    /** Pause before a reconnection, as the server wants it; null if it did not say. */
    @Nullable
    Duration retry() {
        return retry;
    }

    /**
     * Returns the data of the next event, empty for an event without data; null at the end of the stream.
     *
     * @throws IOException if the stream breaks, or an event is longer than the limit
     */
    @Nullable
    String next() throws IOException {
        var data = new StringBuilder();
        boolean hasFields = false;
        int size = 0;
        for (String line = line(); line != null; line = line()) {
            if (line.isEmpty()) {
                if (hasFields) {
                    return data.toString();
                }
                continue;
            }
            size += line.length();
            if (size > maxEvent) {
                throw new IOException("an event is longer than " + maxEvent + " bytes");
            }
            int colon = line.indexOf(':');
            String value = colon < 0 ? "" : line.substring(colon + 1);
            value = value.startsWith(" ") ? value.substring(1) : value;
            switch (colon < 0 ? line : line.substring(0, colon)) {
                case "data" -> {
                    data.append(data.isEmpty() ? "" : "\n").append(value);
                    hasFields = true;
                }
                case "id" -> {
                    lastId = value;
                    hasFields = true;
                }
                case "retry" -> retry = retry(value);
                default -> {} // comments, and names of events
            }
        }
        return null;
    }

    private @Nullable Duration retry(String value) {
        try {
            return Duration.ofMillis(Math.clamp(Long.parseLong(value), 0, LONGEST_RETRY_MILLIS));
        } catch (NumberFormatException none) {
            return retry;
        }
    }

    private @Nullable String line() throws IOException {
        var line = new ByteArrayOutputStream();
        while (true) {
            int next = behind == -2 ? in.read() : behind;
            behind = -2;
            switch (next) {
                case -1 -> {
                    return null; // what is not followed by an empty line is no event
                }
                case '\r' -> {
                    behind = in.read();
                    behind = behind == '\n' ? -2 : behind;
                    return line.toString(UTF_8);
                }
                case '\n' -> {
                    return line.toString(UTF_8);
                }
                default -> {
                    if (line.size() == maxEvent) {
                        throw new IOException("an event is longer than " + maxEvent + " bytes");
                    }
                    line.write(next);
                }
            }
        }
    }
}
