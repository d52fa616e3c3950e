package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Writes and reads frames of HTTP/2, each as it is. */
final class RawHttp2Client implements AutoCloseable {
    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int GO_AWAY = 7;
    private static final int WINDOW_UPDATE = 8;
    private static final int END_STREAM = 0x1;
    private static final int END_HEADERS = 0x4;
    private static final String SETTINGS = "000000 04 00 00000000";

    record Frame(int type, int flags, int stream) {}

    private final Socket socket;
    private final DataInputStream in;
    private int window = 65_535;

    RawHttp2Client(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        in = new DataInputStream(socket.getInputStream());
        socket.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        send(SETTINGS);
    }

    static RawHttp2Client to(Server server) throws IOException {
        return new RawHttp2Client(new Socket(InetAddress.getLoopbackAddress(), server.port()));
    }

    Socket socket() {
        return socket;
    }

    /** Asks for something, in one frame. */
    void get(int stream, String path) throws IOException {
        headers(stream, "GET", path, Map.of(), END_HEADERS | END_STREAM);
    }

    /** Begins to send something. */
    void post(int stream, String path) throws IOException {
        post(stream, path, Map.of());
    }

    void post(int stream, String path, Map<String, String> headers) throws IOException {
        headers(stream, "POST", path, headers, END_HEADERS);
    }

    /** Begins a call of gRPC. */
    void call(int stream, String method) throws IOException {
        post(stream, "/" + method, Map.of("content-type", "application/grpc", "te", "trailers"));
    }

    /** Begins the headers of a request, of which more have to come. */
    void beginHeaders(int stream) throws IOException {
        headers(stream, "POST", "/", Map.of(), 0);
    }

    private void headers(int stream, String method, String path, Map<String, String> headers, int flags)
            throws IOException {
        var block = new ByteArrayOutputStream();
        literal(block, ":method", method);
        literal(block, ":scheme", "http");
        literal(block, ":authority", "x");
        literal(block, ":path", path);
        headers.forEach((name, value) -> literal(block, name, value));
        frame(HEADERS, flags, stream, block.toByteArray());
    }

    private static void literal(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        for (var text : new String[] {name, value}) {
            block.write(text.length());
            block.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** Sends part of a body, in frames of 16 KiB at most and without regard for the window. */
    void data(int stream, byte[] data, boolean end) throws IOException {
        int from = 0;
        do {
            int length = Math.min(16 * 1024, data.length - from);
            var part = new byte[length];
            System.arraycopy(data, from, part, 0, length);
            from += length;
            frame(0, end && from == data.length ? END_STREAM : 0, stream, part);
        } while (from < data.length);
    }

    /** Lets the server send so many bytes of each answer, until there is more room for it. */
    void initialWindow(int bytes) throws IOException {
        send("000006 04 00 00000000 0004 %08x".formatted(bytes));
    }

    /** Makes room for so many more bytes of an answer. */
    void window(int stream, int bytes) throws IOException {
        send("000004 08 00 %08x %08x".formatted(stream, bytes));
    }

    void reset(int stream) throws IOException {
        send("000004 %02x 00 %08x 00000008".formatted(RST_STREAM, stream));
    }

    void goAway() throws IOException {
        send("000008 %02x 00 00000000 00000000 00000000".formatted(GO_AWAY));
    }

    private void frame(int type, int flags, int stream, byte[] payload) throws IOException {
        var frame = new ByteArrayOutputStream();
        frame.writeBytes(HexFormat.of().parseHex("%06x%02x%02x%08x".formatted(payload.length, type, flags, stream)));
        frame.writeBytes(payload);
        socket.getOutputStream().write(frame.toByteArray());
    }

    /** Reads until a stream has ended. */
    void awaitEnd(int stream) throws IOException {
        Frame frame;
        do {
            frame = next();
            assertThat(frame.type()).isNotEqualTo(GO_AWAY);
        } while (frame.stream() != stream || (frame.flags() & END_STREAM) == 0);
    }

    /** Reads the next frame that is about an answer or ends the connection. */
    Frame next() throws IOException {
        while (true) {
            int first = in.readInt();
            var frame = new Frame(first & 0xff, in.readUnsignedByte(), in.readInt());
            read(frame, new byte[first >>> 8]);
            if (frame.stream() != 0 || frame.type() == GO_AWAY) {
                return frame;
            }
        }
    }

    private void read(Frame frame, byte[] payload) throws IOException {
        in.readFully(payload);
        if (frame.stream() == 0 && frame.type() == WINDOW_UPDATE) {
            window += ByteBuffer.wrap(payload).getInt();
        }
    }

    /** Bytes that the client may send on all streams together, since the beginning, as far as it has read frames. */
    int windowOfConnection() {
        return window;
    }

    /** Reads until the client may send so many bytes on all streams together, since the beginning. */
    void awaitWindowOfConnection(int bytes) throws IOException {
        while (window < bytes) {
            int first = in.readInt();
            read(new Frame(first & 0xff, in.readUnsignedByte(), in.readInt()), new byte[first >>> 8]);
        }
    }

    /** Returns the types of the frames about a stream that come in the first read in which there are any. */
    List<Integer> read(int stream) throws IOException {
        var types = new ArrayList<Integer>();
        var bytes = new byte[64 * 1024];
        while (types.isEmpty()) {
            int length = in.read(bytes);
            assertThat(length).isPositive();
            var frames = ByteBuffer.wrap(bytes, 0, length);
            while (frames.hasRemaining()) {
                int first = frames.getInt();
                frames.get();
                if (frames.getInt() == stream) {
                    types.add(first & 0xff);
                }
                frames.position(frames.position() + (first >>> 8));
            }
        }
        return types;
    }

    /** Reads until the server has closed the connection. */
    void awaitClose() throws IOException {
        try {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (SocketException reset) {
            return;
        }
    }

    void send(String frame) throws IOException {
        socket.getOutputStream().write(HexFormat.of().parseHex(frame.replace(" ", "")));
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
