package dev.parley.load;

import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.spi.Transport;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Operation;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * A connection for calls of gRPC that have one answer, one call at a time, without TLS: as much of HTTP/2 as that takes,
 * and no more, for the reason that {@link LoadConnection} is no general client.
 *
 * <p>Headers are neither compressed nor read: a call that fails has no message in its answer.
 */
final class LoadGrpc extends LoadConnection {
    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int HEAD = 9;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RESET = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GO_AWAY = 7;
    private static final int WINDOW = 8;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int MOST_IN_A_FRAME = 1 << 14;
    /** Initial flow-control window of a connection, large enough that it is never extended. */
    private static final int ROOM = Integer.MAX_VALUE;

    private static final int FIRST_ROOM = 65_535;

    private static final Reader NOBODY = new Reader() {
        @Override
        public void head(int status, boolean events) {}

        @Override
        public void body(ByteBuffer piece) {
            piece.position(piece.limit());
        }
    };

    private int stream = -1;

    private LoadGrpc(SocketChannel channel, int bufferBytes) {
        super(channel, channel, channel, bufferBytes);
    }

    static LoadGrpc open(String host, int port, int bufferBytes) throws IOException {
        SocketChannel channel = connect(host, port);
        var connection = new LoadGrpc(channel, bufferBytes);
        try {
            ByteBuffer settings = ByteBuffer.allocate(12);
            settings.putShort((short) 1).putInt(0); // no dynamic header table
            settings.putShort((short) 4).putInt(ROOM);
            var opening = new ByteArrayOutputStream();
            opening.writeBytes(PREFACE);
            opening.writeBytes(frame(SETTINGS, 0, settings.array()));
            opening.writeBytes(frame(
                    WINDOW, 0, ByteBuffer.allocate(4).putInt(ROOM - FIRST_ROOM).array()));
            connection.write(opening.toByteArray());
            return connection;
        } catch (IOException | RuntimeException problem) {
            channel.close();
            throw problem;
        }
    }

    /** Returns an operation as the frames of a call, in which only the stream's number is missing. */
    static LoadRequest request(AgentCard.Interface agent, Operation operation, Map<String, String> headers) {
        Transport.Encoded call = ServiceLoader.load(Transport.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(transport -> transport.speaks(agent))
                .findFirst()
                .orElseThrow(() -> new LoadProblem(Kind.USAGE, "no way to speak version " + agent.protocolVersion()))
                .encoded(agent, operation);
        byte[] message = call.message();
        if (message.length > MOST_IN_A_FRAME - 5) {
            throw new LoadProblem(
                    Kind.USAGE, "a message of " + message.length + " bytes (expected: less than 16 kB over gRPC)");
        }
        URI at = URI.create(agent.url());
        var all = new LinkedHashMap<String, String>();
        all.put(":method", "POST");
        all.put(":scheme", "http");
        all.put(":path", call.path());
        all.put(":authority", at.getRawAuthority());
        all.put("content-type", "application/grpc");
        all.put("te", "trailers");
        all.putAll(call.headers());
        headers.forEach((name, value) -> all.put(name.toLowerCase(Locale.ROOT), value));
        var block = new ByteArrayOutputStream();
        all.forEach((name, value) -> {
            block.write(0); // as it is, and not to be remembered
            text(block, name);
            text(block, value);
        });
        ByteBuffer body = ByteBuffer.allocate(message.length + 5);
        body.put((byte) 0).putInt(message.length).put(message);
        return LoadRequest.of(frame(HEADERS, END_HEADERS, block.toByteArray()), frame(DATA, END_STREAM, body.array()));
    }

    private static void text(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length < 127) {
            block.write(bytes.length);
        } else {
            block.write(127);
            int left = bytes.length - 127;
            for (; left > 127; left >>= 7) {
                block.write(left & 127 | 128);
            }
            block.write(left);
        }
        block.writeBytes(bytes);
    }

    private static byte[] frame(int type, int flags, byte[] payload) {
        ByteBuffer frame = ByteBuffer.allocate(HEAD + payload.length);
        return frame.putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(0)
                .put(payload)
                .array();
    }

    @Override
    void send(ByteBuffer request) throws IOException {
        stream += 2;
        int headers = request.getInt(0) >>> 8;
        request.putInt(HEAD - 4, stream);
        request.putInt(HEAD + headers + HEAD - 4, stream);
        super.send(request);
    }

    @Override
    void receive(Reader reader) throws IOException {
        boolean answered = false;
        while (true) {
            int head = number();
            int type = head & 255;
            int length = head >>> 8;
            int flags = next();
            boolean ours = number() == stream;
            if (type == DATA && ours && length > 0 && !answered) {
                answered = true;
                reader.head(200, false);
            }
            if (type == PING && (flags & ACK) == 0) {
                write(frame(PING, ACK, payload(length)));
            } else {
                readFixed(type == DATA && answered ? reader : NOBODY, length);
            }
            switch (type) {
                case SETTINGS -> {
                    if ((flags & ACK) == 0) {
                        write(frame(SETTINGS, ACK, new byte[0]));
                    }
                }
                case GO_AWAY -> retire();
                case RESET -> throw new IOException("the call was reset");
                case DATA, HEADERS -> {
                    if (ours && (flags & END_STREAM) != 0) {
                        if (!answered) {
                            throw new IOException("grpc error");
                        }
                        if (received() > ROOM / 2) {
                            retire();
                        }
                        return;
                    }
                }
                default -> {
                    // of no concern for a caller that sends little
                }
            }
        }
    }

    private int number() throws IOException {
        return ByteBuffer.wrap(payload(4)).getInt();
    }

    private byte[] payload(int length) throws IOException {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = next();
        }
        return bytes;
    }

    private void write(byte[] frames) throws IOException {
        super.send(ByteBuffer.wrap(frames));
    }
}
