package dev.parley.server;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;

/** Notes when a write begins and ends, so that a client that has stopped reading is noticed. */
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
        socket.write(buffers);
        connection.written();
    }

    @Override
    public void write(BufferData buffer) {
        connection.writing(buffer);
        socket.write(buffer);
        connection.written();
    }

    @Override
    public void writeNow(BufferData... buffers) {
        connection.writing();
        socket.writeNow(buffers);
        connection.written();
    }

    @Override
    public void writeNow(BufferData buffer) {
        connection.writing(buffer);
        socket.writeNow(buffer);
        connection.written();
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
