package dev.parley.server.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import java.io.UncheckedIOException;
import java.util.Arrays;

/**
 * Notes when a write begins and ends, so that a client that has stopped reading is noticed, and holds back interrupts of
 * streams meanwhile.
 *
 * <p>Helidon writes each frame of HTTP/2 by itself, three for an answer of gRPC, and the kernel's part of a write costs more
 * than all else of the answer. So the frames of an answer that is there as a whole are written together, with the last of them.
 */
final class GuardedWriter implements DataWriter {
    private static final byte[] NOTHING = {};

    private final DataWriter socket;
    private final Connection connection;

    // Frames that wait for the next one, of any thread. Guarded by Helidon's lock, under which it writes all
    // frames.
    private byte[] waiting = NOTHING;

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
            // The thread that reads notices it only behind all requests that came before.
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
