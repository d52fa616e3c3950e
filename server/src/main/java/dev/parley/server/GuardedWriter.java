package dev.parley.server;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;

/**
 * Notes when a write begins and ends, so that a client that has stopped reading is noticed, and holds back interrupts of
 * streams meanwhile.
 */
final class GuardedWriter implements DataWriter {
    private final DataWriter socket;
    private final Connection connection;

    GuardedWriter(DataWriter socket, Connection connection) {
        this.socket = socket;
        this.connection = connection;
    }

    @Override
    public void write(BufferData... buffers) {
        connection.writing();
        guarded(() -> socket.write(buffers));
    }

    @Override
    public void write(BufferData buffer) {
        connection.writing(buffer);
        guarded(() -> socket.write(buffer));
    }

    @Override
    public void writeNow(BufferData... buffers) {
        connection.writing();
        guarded(() -> socket.writeNow(buffers));
    }

    @Override
    public void writeNow(BufferData buffer) {
        connection.writing(buffer);
        guarded(() -> socket.writeNow(buffer));
    }

    private void guarded(Runnable write) {
        var stream = connection.streamThread();
        if (stream == null) {
            write.run();
            connection.written();
            return;
        }
        stream.beginWriting();
        try {
            write.run();
            connection.written();
        } finally {
            stream.endWriting();
        }
    }

    @Override
    public void flush() {
        socket.flush();
    }

    @Override
    public void close() {
        socket.close();
    }
}
