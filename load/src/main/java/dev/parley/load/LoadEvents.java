package dev.parley.load;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * An answer that is a stream of server-sent events: counts them and looks at the beginning of the last one, which is
 * where a stream that broke says so.
 */
final class LoadEvents implements LoadConnection.Reader {
    /** Told of events as they come in. */
    @FunctionalInterface
    interface Listener {
        void received(int events);
    }

    private final LoadAnswer refusal;
    private final boolean rpc;
    private final Listener listener;
    private final byte[] data = new byte[LoadAnswer.PEEK];
    private int dataLength;
    private boolean streaming;
    private long events;
    private long firstAt;

    // Of the line that is being read
    private int column;
    private boolean isData;
    // Of the event that is being read
    private boolean hasData;

    LoadEvents(boolean rpc, Listener listener) {
        this.rpc = rpc;
        this.refusal = new LoadAnswer(rpc, LoadAnswer.PEEK);
        this.listener = listener;
    }

    @Override
    public void head(int status, boolean events) {
        refusal.head(status, events);
        streaming = events && status == 200;
        this.events = 0;
        firstAt = 0;
        column = 0;
        hasData = false;
        dataLength = 0;
    }

    @Override
    public void body(ByteBuffer piece) {
        if (!streaming) {
            refusal.body(piece);
            return;
        }
        long before = events;
        while (piece.hasRemaining()) {
            take(piece.get());
        }
        int more = (int) (events - before);
        if (more > 0) {
            if (before == 0) {
                firstAt = System.nanoTime();
            }
            listener.received(more);
        }
    }

    private void take(byte next) {
        if (next == '\n') {
            endLine();
        } else if (next != '\r') {
            if (column == 0) {
                isData = next == 'd';
                if (isData && !hasData) {
                    dataLength = 0;
                }
            }
            if (isData && dataLength < data.length) {
                data[dataLength++] = next;
            }
            column++;
        }
    }

    private void endLine() {
        if (column > 0) {
            hasData |= isData;
        } else if (hasData) { // an empty line ends an event; comments are no event
            events++;
            hasData = false;
        }
        column = 0;
    }

    /** Events of this stream so far. */
    long events() {
        return events;
    }

    /** When the first event came, by {@link System#nanoTime}; meaningless before. */
    long firstAt() {
        return firstAt;
    }

    /** Returns the kind of error at the end of the stream; null for none. */
    @Nullable
    String problem() {
        if (!streaming) {
            String problem = refusal.problem();
            return problem == null ? "no event stream" : problem;
        }
        if (events == 0) {
            return "empty stream";
        }
        return rpc ? LoadAnswer.rpcError(data, dataLength) : restError();
    }

    private @Nullable String restError() {
        String start = new String(data, 0, dataLength, StandardCharsets.UTF_8);
        return start.matches("data: ?\\s*\\{\\s*\"error\".*") ? "error event" : null;
    }
}
