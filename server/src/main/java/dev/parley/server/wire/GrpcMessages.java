package dev.parley.server.wire;

import dev.parley.dialect.wire.LargeBodies;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.helidon.Exchange;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a client of gRPC sends in one call, each after a flag and its length.
 *
 * <p>Source: gRPC over HTTP/2, "Requests", and compression.md.
 */
public final class GrpcMessages {
    /** Supported values of {@code grpc-encoding}. */
    public static final String ENCODINGS = "identity,gzip";

    private static final int FIRST = 16 * 1024;

    private final Exchange exchange;
    private final InputStream in;
    private final long largest;
    private final boolean zipped;

    public GrpcMessages(Exchange exchange, @Nullable String encoding) {
        this.exchange = exchange;
        this.in = exchange.body();
        this.largest = exchange.largestBody();
        this.zipped = "gzip".equals(encoding);
    }

    /** True if messages in this encoding can be read. */
    public static boolean knows(@Nullable String encoding) {
        return encoding == null || encoding.equals("identity") || encoding.equals("gzip");
    }

    /**
     * Waits for a message.
     *
     * @return null if there is none any more
     * @throws A2AException if it is too large; the rest of it is unread
     */
    public byte @Nullable [] next() {
        exchange.bodyBegins(largest);
        try {
            int flag = in.read();
            if (flag < 0) {
                // Helidon takes an interrupt for the end of the body.
                exchange.requirePresent();
                exchange.received();
                return null;
            }
            return read(flag);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            exchange.bodyEnds();
        }
    }

    private byte[] read(int flag) throws IOException {
        byte[] header = in.readNBytes(4);
        long length = 0;
        for (byte octet : header) {
            length = length << 8 | (octet & 0xff);
        }
        if (length > largest) {
            throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
        }
        byte[] message = read(in, (int) length);
        if (header.length < 4 || message.length < length) {
            throw exchange.broken("the message ended early");
        }
        return flag == 0 ? message : unzip(message);
    }

    /** Reads as many bytes, or those there are before the end. Counted as they come: announced bytes cost nothing. */
    private byte[] read(InputStream in, int length) throws IOException {
        var bytes = new byte[Math.min(length, FIRST)];
        int size = 0;
        while (size < length) {
            if (size == bytes.length) {
                bytes = Arrays.copyOf(bytes, (int) Math.min(length, 2L * size));
            }
            int count = in.read(bytes, size, bytes.length - size);
            if (count < 0) {
                return Arrays.copyOf(bytes, size);
            }
            exchange.pulled(count);
            size += count;
        }
        return bytes;
    }

    /** Unzips as many bytes as a message may have and one more; a small one may become large. */
    private byte[] all(InputStream unzipped) throws IOException {
        byte[] begin = unzipped.readNBytes(LargeBodies.LARGE);
        int more = (int) Math.min(largest + 1, Integer.MAX_VALUE - 8) - begin.length;
        try {
            return LargeBodies.compute(begin.length, exchange.clientAddress(), () -> {
                try {
                    byte[] rest = unzipped.readNBytes(Math.max(0, more));
                    byte[] bytes = Arrays.copyOf(begin, begin.length + rest.length);
                    System.arraycopy(rest, 0, bytes, begin.length, rest.length);
                    return bytes;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private byte[] unzip(byte[] message) throws IOException {
        if (!zipped) {
            throw A2AException.of(A2AError.PARSE_ERROR, "Compressed message (expected: none without grpc-encoding)");
        }
        try (var unzipped = new GZIPInputStream(new ByteArrayInputStream(message))) {
            byte[] bytes = all(unzipped);
            if (bytes.length > largest) {
                throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
            }
            exchange.pulled(bytes.length);
            return bytes;
        } catch (IOException e) {
            throw A2AException.of(A2AError.PARSE_ERROR, "Damaged message (expected: gzip)")
                    .causedBy(e);
        }
    }
}
