package dev.parley.server;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;

/**
 * A reader that refuses chunks without a line break after them. Helidon skips the two bytes there unseen; proxies differ
 * in what they make of such a request, and that is how requests are smuggled.
 */
final class StrictReader extends DataReader {
    private static final int LINE_BREAK = 2;

    private final Connection connection;

    // The factory that replaces this constructor cannot make a subclass.
    @SuppressWarnings("removal")
    StrictReader(Inbound inbound, Connection connection) {
        super(inbound);
        this.connection = connection;
    }

    /** Skips line breaks; whoever skips two bytes of HTTP/1.1 means one. */
    @Override
    public void skip(int length) {
        if (length == LINE_BREAK && !connection.isHttp2() && !startsWithNewLine()) {
            throw RequestException.builder()
                    .type(EventType.BAD_REQUEST)
                    .message("Line break missing")
                    .build();
        }
        super.skip(length);
    }

    @Override
    public BufferData readBuffer(int length) {
        var data = getBuffer(length);
        super.skip(length);
        return data;
    }
}
