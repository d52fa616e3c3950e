package dev.parley.server;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import io.helidon.webserver.CloseConnectionException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/**
 * The messages that a client of gRPC sends in one call, each behind a flag and its length.
 *
 * <p>Source: gRPC over HTTP/2, "Requests", and compression.md.
 */
final class GrpcMessages {
    /** What may be in {@code grpc-encoding}. */
    static final String ENCODINGS = "identity,gzip";

    private final Exchange exchange;
    private final InputStream in;
    private final long largest;
    private final boolean zipped;

    GrpcMessages(Exchange exchange, @Nullable String encoding) {
        this.exchange = exchange;
        this.in = exchange.request().content().inputStream();
        this.largest = exchange.connection().all().bodies().largest();
        this.zipped = "gzip".equals(encoding);
    }

    /** True if messages in this encoding can be read. */
    static boolean knows(@Nullable String encoding) {
        return encoding == null || encoding.equals("identity") || encoding.equals("gzip");
    }

    /**
     * Waits for a message.
     *
     * @return null if there is none any more
     * @throws A2AException if it is too large; the rest of it is unread
     */
    byte @Nullable [] next() {
        exchange.bodyBegins(largest);
        try {
            int flag = in.read();
            return flag < 0 ? null : read(flag);
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
        // Also before it is there: who announces much and sends nothing holds no more than this.
        exchange.pulled((int) length);
        byte[] message = in.readNBytes((int) length);
        if (header.length < 4 || message.length < length) {
            throw new CloseConnectionException("the message ended early");
        }
        return flag == 0 ? message : unzip(message);
    }

    private byte[] unzip(byte[] message) throws IOException {
        if (!zipped) {
            throw A2AException.of(A2AError.PARSE_ERROR, "Compressed message (expected: none without grpc-encoding)");
        }
        try (var unzipped = new GZIPInputStream(new ByteArrayInputStream(message))) {
            byte[] bytes = unzipped.readNBytes((int) Math.min(largest + 1, Integer.MAX_VALUE - 8));
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
