package dev.parley.dialect.grpc;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Server of HTTP/2 on loopback that answers each request with exactly the frames that a test has for it. */
final class RawPeer implements AutoCloseable {
    /** Answers a request whose stream the client has ended. */
    interface Script {
        void answer(Call call) throws IOException;
    }

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RESET = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GO_AWAY = 7;
    private static final int END_STREAM = 1;
    private static final int ACK = 1;
    private static final int END_HEADERS = 4;
    private static final int PREFACE = 24;

    private final ServerSocket server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    volatile Script script;

    RawPeer(Script script) throws IOException {
        this.script = script;
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    String authority() {
        return "127.0.0.1:" + server.getLocalPort();
    }

    /** A request, to be answered on its stream. */
    record Call(int stream, byte[] message, Socket socket, DataOutputStream out) {
        void frame(int type, int flags, int on, byte[] payload) throws IOException {
            synchronized (out) {
                out.writeInt(payload.length << 8 | type);
                out.writeByte(flags);
                out.writeInt(on);
                out.write(payload);
                out.flush();
            }
        }

        void headers(boolean isLast, Map<String, String> fields) throws IOException {
            var block = new ByteArrayOutputStream();
            // A status before other fields, without the table, and without Huffman's code.
            fields.entrySet().stream()
                    .sorted((one, other) -> Boolean.compare(
                            !one.getKey().startsWith(":"), !other.getKey().startsWith(":")))
                    .forEach(field -> {
                        block.write(0);
                        text(block, field.getKey());
                        text(block, field.getValue());
                    });
            frame(HEADERS, END_HEADERS | (isLast ? END_STREAM : 0), stream, block.toByteArray());
        }

        private static void text(ByteArrayOutputStream block, String text) {
            byte[] bytes = text.getBytes(ISO_8859_1);
            int rest = bytes.length;
            if (rest < 127) {
                block.write(rest);
            } else {
                block.write(127);
                for (rest -= 127; rest >= 128; rest >>= 7) {
                    block.write(rest & 127 | 128);
                }
                block.write(rest);
            }
            block.writeBytes(bytes);
        }

        /** Begins an answer of gRPC. */
        void begin() throws IOException {
            headers(false, Map.of(":status", "200", "content-type", "application/grpc"));
        }

        void data(boolean isLast, byte[] bytes) throws IOException {
            frame(DATA, isLast ? END_STREAM : 0, stream, bytes);
        }

        void data(boolean isLast, String text) throws IOException {
            data(isLast, text.getBytes(UTF_8));
        }

        void end(String status, String message) throws IOException {
            headers(true, Map.of("grpc-status", status, "grpc-message", message));
        }

        void reset(int code) throws IOException {
            frame(RESET, 0, stream, ByteBuffer.allocate(4).putInt(code).array());
        }

        void goAway(int last, int code) throws IOException {
            frame(
                    GO_AWAY,
                    0,
                    0,
                    ByteBuffer.allocate(8).putInt(last).putInt(code).array());
        }

        void cut() throws IOException {
            socket.close();
        }
    }

    /** Prefixes a message as gRPC does. */
    static byte[] framed(byte[] message) {
        return ByteBuffer.allocate(5 + message.length)
                .put((byte) 0)
                .putInt(message.length)
                .put(message)
                .array();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                sockets.add(socket);
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException closed) {
            return;
        }
    }

    private void serve(Socket socket) {
        var bodies = new HashMap<Integer, ByteArrayOutputStream>();
        try (socket) {
            socket.setTcpNoDelay(true);
            var in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            var out = new DataOutputStream(socket.getOutputStream());
            in.skipNBytes(PREFACE);
            var connection = new Call(0, new byte[0], socket, out);
            connection.frame(SETTINGS, 0, 0, new byte[0]);
            while (true) {
                int head = in.readInt();
                int flags = in.readUnsignedByte();
                int stream = in.readInt();
                byte[] payload = in.readNBytes(head >>> 8);
                int type = head & 0xff;
                if (type == SETTINGS && flags != ACK || type == PING && flags != ACK) {
                    connection.frame(type, ACK, 0, type == PING ? payload : new byte[0]);
                } else if (type == HEADERS || type == DATA) {
                    ByteArrayOutputStream body = bodies.computeIfAbsent(stream, number -> new ByteArrayOutputStream());
                    if (type == DATA) {
                        body.writeBytes(payload);
                    }
                    if ((flags & END_STREAM) != 0) {
                        script.answer(new Call(stream, body.toByteArray(), socket, out));
                    }
                }
            }
        } catch (IOException closed) {
            return; // by the client, the script or the test
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
