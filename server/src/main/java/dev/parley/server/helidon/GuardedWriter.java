package dev.parley.server.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * Records the beginning and end of each write, so that the clock detects a client that has stopped reading, and defers interrupts of
 * streams during a write.
 *
 * <p>Helidon writes each HTTP/2 frame separately, three for a gRPC answer, and the system call costs more than the rest of the
 * answer. So the frames of an answer of known length are written together, with the last one.
 */
final class GuardedWriter implements DataWriter {
    private static final byte[] NOTHING = {};

    private final DataWriter socket;
    private final ClientConnection connection;

    // Frames that wait for the next one, of any thread. Guarded by Helidon's lock, under which it writes all frames.
    private byte[] waiting = NOTHING;

    GuardedWriter(DataWriter socket, ClientConnection connection) {
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
        var stream = connection.streamThread();
        if (stream != null
                && stream.waitsForNext(
                        buffer.get(Frames.TYPE), buffer.get(Frames.FLAGS), buffer.available() - Frames.HEADER)) {
            connection.written();
            hold(buffer);
            return;
        }
        var frames = waiting.length == 0 ? buffer : BufferData.create(BufferData.create(waiting), buffer);
        waiting = NOTHING;
        guarded(() -> socket.writeNow(frames));
    }

    private void hold(BufferData frame) {
        byte[] bytes = frame.readBytes();
        int held = waiting.length;
        waiting = Arrays.copyOf(waiting, held + bytes.length);
        System.arraycopy(bytes, 0, waiting, held, bytes.length);
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
        } catch (UncheckedIOException departed) {
            // The thread that reads notices it only after all requests that came before.
            connection.disconnected();
            throw departed;
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
