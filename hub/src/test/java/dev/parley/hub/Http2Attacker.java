package dev.parley.hub;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** A client of HTTP/2 that writes frames just as it is told to, and any number of them. */
final class Http2Attacker implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int PRIORITY = 2;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 0x1;
    static final int END_HEADERS = 0x4;

    private static final int GO_AWAY = 7;
    private static final int PATIENCE_MS = 30_000;
    private static final int AT_ONCE = 100;

    /** By its first byte it is told from other pings. */
    private static final byte[] LAST_PING = frame(PING, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0);

    private final Socket socket;

    Http2Attacker(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MS);
        socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        socket.getOutputStream().write(frame(SETTINGS, 0, 0));
    }

    static byte[] frame(int type, int flags, int stream, int... payload) {
        var frame = new ByteArrayOutputStream();
        for (int part : new int[] {
            payload.length >> 16,
            payload.length >> 8,
            payload.length,
            type,
            flags,
            stream >> 24,
            stream >> 16,
            stream >> 8,
            stream
        }) {
            frame.write(part);
        }
        for (int octet : payload) {
            frame.write(octet);
        }
        return frame.toByteArray();
    }

    /** The fields of a request, as a header block. */
    static int[] fields(String method, String authority, String path) {
        var block = new ByteArrayOutputStream();
        block.write(method.equals("GET") ? 0x82 : 0x83);
        block.write(0x86); // http
        block.write(0x01);
        block.write(authority.length());
        block.writeBytes(authority.getBytes(US_ASCII));
        block.write(0x04);
        block.write(path.length());
        block.writeBytes(path.getBytes(US_ASCII));
        byte[] bytes = block.toByteArray();
        var octets = new int[bytes.length];
        for (int i = 0; i < bytes.length; i++) {
            octets[i] = bytes[i];
        }
        return octets;
    }

    /** The same, with a field of four thousand octets, ten thousand times; but for the first time, that takes one octet. */
    static int[] fieldsOfTheTable(int... fields) {
        var field = IntStream.concat(
                IntStream.of(0x40, 1, 'x', 0x7f, 0xa1, 0x1e),
                IntStream.generate(() -> 'y').limit(4_000));
        return IntStream.concat(
                        IntStream.of(fields),
                        IntStream.concat(field, IntStream.generate(() -> 0xbe).limit(10_000)))
                .toArray();
    }

    /**
     * Sends frames, {@code times} over, and then {@code last}. Returns whether the server has ended the connection before it
     * had taken them all.
     */
    boolean isCutOff(int times, IntFunction<byte[]> frames, byte... last) throws IOException, InterruptedException {
        var end = new CompletableFuture<Boolean>();
        Thread.ofVirtual().start(() -> {
            try {
                end.complete(endsBeforeTheLastPing());
            } catch (IOException e) {
                end.completeExceptionally(e);
            }
        });
        try {
            var out = new ByteArrayOutputStream();
            for (int i = 0; i < times && !end.isDone(); i++) {
                out.writeBytes(frames.apply(i));
                if (i % AT_ONCE == 0) {
                    socket.getOutputStream().write(out.toByteArray());
                    out.reset();
                }
            }
            out.writeBytes(last);
            out.writeBytes(LAST_PING);
            socket.getOutputStream().write(out.toByteArray());
        } catch (SocketException cut) {
            return true;
        }
        try {
            return end.get();
        } catch (ExecutionException e) {
            throw new UncheckedIOException((IOException) e.getCause());
        }
    }

    private boolean endsBeforeTheLastPing() throws IOException {
        try {
            var in = new DataInputStream(socket.getInputStream());
            while (true) {
                int first = in.readInt();
                in.readByte();
                in.readInt();
                byte[] payload = in.readNBytes(first >>> 8);
                int type = first & 0xff;
                if (type == GO_AWAY) {
                    return true;
                }
                if (type == PING && payload[0] == (byte) 0xff) {
                    return false;
                }
            }
        } catch (EOFException | SocketException cut) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
