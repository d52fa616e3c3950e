package dev.parley.load;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * A keep-alive HTTP/1.1 connection that spends as little as it can on each answer: no header map, no copies, no objects.
 * A general client costs more per request than the servers it would measure.
 *
 * <p>For one thread at a time; {@link #close} may be called by any, and fails the running exchange.
 */
sealed class LoadConnection implements AutoCloseable permits LoadGrpc {
    private static final byte[] CONTENT_LENGTH = ascii("content-length:");
    private static final byte[] CONTENT_TYPE = ascii("content-type:");
    private static final byte[] CONNECTION = ascii("connection:");
    private static final byte[] TRANSFER_ENCODING = ascii("transfer-encoding:");
    private static final byte[] EVENT_STREAM = ascii("text/event-stream");
    private static final byte[] CHUNKED = ascii("chunked");
    private static final byte[] CLOSE = ascii("close");
    private static final int MOST_DIGITS = 15;

    /** Is given an answer as it comes. */
    interface Reader {
        /** The answer has begun; {@code events} says that its body is a stream of server-sent events. */
        void head(int status, boolean events);

        /** The next bytes of the body; they may be consumed or left, and are gone afterwards. */
        void body(ByteBuffer piece);
    }

    private final Closeable socket;
    private final ReadableByteChannel in;
    private final WritableByteChannel out;
    /** Between reads always: the unread bytes are those from position to limit. */
    private final ByteBuffer buffer;

    private long received;
    private long length;
    private boolean chunked;
    private boolean reusable = true;

    LoadConnection(Closeable socket, ReadableByteChannel in, WritableByteChannel out, int bufferBytes) {
        this.socket = socket;
        this.in = in;
        this.out = out;
        this.buffer = ByteBuffer.allocateDirect(bufferBytes).limit(0);
    }

    /**
     * Connects.
     *
     * @param tls checks the server's certificate; null for a connection without TLS
     * @param bufferBytes how much is read at once; an answer's head must fit
     */
    static LoadConnection open(String host, int port, @Nullable SSLSocketFactory tls, int bufferBytes)
            throws IOException {
        SocketChannel channel = connect(host, port);
        try {
            if (tls == null) {
                return new LoadConnection(channel, channel, channel, bufferBytes);
            }
            SSLSocket secured = (SSLSocket) tls.createSocket(channel.socket(), host, port, true);
            var checked = secured.getSSLParameters();
            checked.setEndpointIdentificationAlgorithm("HTTPS");
            secured.setSSLParameters(checked);
            secured.startHandshake();
            return new LoadConnection(
                    secured,
                    Channels.newChannel(secured.getInputStream()),
                    Channels.newChannel(secured.getOutputStream()),
                    bufferBytes);
        } catch (IOException | RuntimeException problem) {
            channel.close();
            throw problem;
        }
    }

    static SocketChannel connect(String host, int port) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.connect(new InetSocketAddress(host, port));
            return channel;
        } catch (IOException | RuntimeException problem) {
            channel.close();
            throw problem;
        }
    }

    /** Sends a whole request. */
    void send(ByteBuffer request) throws IOException {
        while (request.hasRemaining()) {
            out.write(request);
        }
    }

    /** Reads the answer to the request that was sent last. */
    void receive(Reader reader) throws IOException {
        int status;
        do {
            status = head(reader);
        } while (status < 200); // "100 Continue" and its like announce the answer
        if (chunked) {
            readChunks(reader);
        } else if (length >= 0) {
            readFixed(reader, length);
        } else {
            reusable = false;
            readToEnd(reader);
        }
    }

    /** Bytes received so far, heads included. */
    long received() {
        return received;
    }

    /** The next request takes another connection. */
    void retire() {
        reusable = false;
    }

    /** False if the next request needs another connection. */
    boolean isReusable() {
        return reusable;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    // ---- The head

    private int head(Reader reader) throws IOException {
        int end = findEndOfHead();
        int start = buffer.position();
        int line = nextLine(start, end);
        int status = status(start, line);
        boolean events = false;
        chunked = false;
        length = status < 200 || status == 204 || status == 304 ? 0 : -1;
        for (int at = line; at < end - 2; at = line) {
            line = nextLine(at, end);
            int value;
            if ((value = valueOf(CONTENT_LENGTH, at)) > 0) {
                length = number(value, line);
            } else if ((value = valueOf(CONTENT_TYPE, at)) > 0) {
                events = matches(EVENT_STREAM, value);
            } else if ((value = valueOf(TRANSFER_ENCODING, at)) > 0) {
                chunked = matches(CHUNKED, value);
            } else if ((value = valueOf(CONNECTION, at)) > 0) {
                reusable &= !matches(CLOSE, value);
            }
        }
        buffer.position(end);
        if (status >= 200) {
            reader.head(status, events);
        }
        return status;
    }

    /** Returns the index after the empty line that ends the head, reading on until it is there. */
    private int findEndOfHead() throws IOException {
        int looked = 0;
        while (true) {
            int start = buffer.position();
            for (int i = start + Math.max(0, looked - 3); i + 3 < buffer.limit(); i++) {
                if (buffer.get(i) == '\r'
                        && buffer.get(i + 1) == '\n'
                        && buffer.get(i + 2) == '\r'
                        && buffer.get(i + 3) == '\n') {
                    return i + 4;
                }
            }
            looked = buffer.remaining();
            if (looked == buffer.capacity()) {
                throw new IOException("an answer with a head of more than " + looked + " bytes");
            }
            fill();
        }
    }

    private int nextLine(int from, int end) {
        int at = from;
        while (at < end && buffer.get(at) != '\n') {
            at++;
        }
        return at + 1;
    }

    private int status(int start, int line) throws IOException {
        if (line - start < 14 || buffer.get(start) != 'H' || buffer.get(start + 8) != ' ') {
            throw new IOException("an answer that is not HTTP/1.1");
        }
        if (buffer.get(start + 7) == '0') {
            reusable = false;
        }
        return (int) number(start + 9, start + 12);
    }

    /** Returns where the value of the header at {@code at} begins, or 0 if it is not named {@code name}. */
    private int valueOf(byte[] name, int at) {
        if (!matches(name, at)) {
            return 0;
        }
        int value = at + name.length;
        while (buffer.get(value) == ' ') {
            value++;
        }
        return value;
    }

    private boolean matches(byte[] lowerCase, int at) {
        if (at + lowerCase.length > buffer.limit()) {
            return false;
        }
        for (int i = 0; i < lowerCase.length; i++) {
            byte is = buffer.get(at + i);
            if (is != lowerCase[i] && !(is >= 'A' && is <= 'Z' && is + 32 == lowerCase[i])) {
                return false;
            }
        }
        return true;
    }

    private long number(int from, int end) throws IOException {
        long number = 0;
        int at = from;
        while (at < end && buffer.get(at) >= '0' && buffer.get(at) <= '9') {
            number = number * 10 + buffer.get(at++) - '0';
        }
        if (at == from || at - from > MOST_DIGITS) {
            throw new IOException("an answer with a number of " + (at - from) + " digits");
        }
        return number;
    }

    // ---- The body

    void readFixed(Reader reader, long bytes) throws IOException {
        long left = bytes;
        while (left > 0) {
            if (!buffer.hasRemaining()) {
                fill();
            }
            left -= give(reader, left);
        }
    }

    private void readChunks(Reader reader) throws IOException {
        for (long size = chunkSize(); size > 0; size = chunkSize()) {
            readFixed(reader, size);
            skipLine();
        }
        while (skipLine() > 0) {
            // a trailer, which says nothing that is measured
        }
    }

    private void readToEnd(Reader reader) throws IOException {
        do {
            give(reader, Long.MAX_VALUE);
        } while (read());
    }

    /** Passes the available part of the next {@code most} bytes to the reader, and returns its length. */
    private int give(Reader reader, long most) {
        int end = buffer.limit();
        int stop = buffer.position() + (int) Math.min(most, buffer.remaining());
        int given = stop - buffer.position();
        if (given > 0) {
            buffer.limit(stop);
            reader.body(buffer);
            buffer.limit(end).position(stop);
        }
        return given;
    }

    private long chunkSize() throws IOException {
        long size = 0;
        int digits = 0;
        byte next = next();
        for (int digit = Character.digit(next, 16); digit >= 0; digit = Character.digit(next, 16)) {
            size = size << 4 | digit;
            digits++;
            next = next();
        }
        if (digits == 0 || digits > MOST_DIGITS) {
            throw new IOException("a chunk with a size of " + digits + " digits");
        }
        while (next != '\n') {
            next = next();
        }
        return size;
    }

    /** Reads to the end of the line and returns how many characters it had. */
    private int skipLine() throws IOException {
        int characters = 0;
        for (byte next = next(); next != '\n'; next = next()) {
            if (next != '\r') {
                characters++;
            }
        }
        return characters;
    }

    byte next() throws IOException {
        if (!buffer.hasRemaining()) {
            fill();
        }
        return buffer.get();
    }

    private void fill() throws IOException {
        if (!read()) {
            throw new EOFException("the server closed the connection");
        }
    }

    private boolean read() throws IOException {
        buffer.compact();
        try {
            int count = in.read(buffer);
            received += Math.max(0, count);
            return count >= 0;
        } finally {
            buffer.flip();
        }
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
