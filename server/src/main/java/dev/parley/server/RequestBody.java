package dev.parley.server;

import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.server.helidon.Exchange;
import dev.parley.server.helidon.LateBodyException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;

/** The body of a request, which is read into memory within all limits. */
final class RequestBody implements RefusableBody {
    /** Bytes of a refused request that are read at most, so that strangers take little memory. */
    private static final long MAX_REFUSED = 16 * 1024;

    private static final byte[] NONE = new byte[0];
    private static final int FIRST = 1024;
    // More than that is not set aside for a body that has only been announced.
    private static final int MOST_AT_ONCE = 64 * 1024;

    private final Exchange exchange;

    RequestBody(Exchange exchange) {
        this.exchange = exchange;
    }

    /** Waits for all of it, and for a share of the processors. */
    @Override
    public byte[] read(long most) {
        var body = whole(most);
        exchange.awaitShare();
        return body;
    }

    @Override
    public byte[] ofRefused() {
        try {
            return exchange.awaitRefused(Exchange.SOON) ? whole(MAX_REFUSED) : NONE;
        } catch (A2AException tooLarge) {
            return NONE;
        } catch (LateBodyException late) {
            return NONE;
        } finally {
            exchange.endRefused();
        }
    }

    private byte[] whole(long most) {
        if (!exchange.hasBody()) {
            exchange.received();
            return NONE;
        }
        var largest = Math.min(most, exchange.largestBody());
        var announced = exchange.announced();
        if (announced > largest) {
            throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
        }
        exchange.bodyBegins(largest);
        try {
            var body = readAll(exchange, exchange.body(), announced, largest);
            // Helidon takes an interrupt for the end of the body.
            exchange.requirePresent();
            exchange.received();
            return body;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (RuntimeException e) {
            throw exchange.ofBody(e);
        } finally {
            exchange.bodyEnds();
        }
    }

    private static byte[] readAll(Exchange exchange, InputStream in, long announced, long largest) throws IOException {
        var buffer = new byte[announced < 0 ? FIRST : (int) Math.min(announced, MOST_AT_ONCE)];
        var size = 0;
        while (size != announced) {
            if (size == buffer.length) {
                buffer = Arrays.copyOf(buffer, 2 * size);
            }
            var read = in.read(buffer, size, buffer.length - size);
            if (read < 0) {
                if (announced >= 0) {
                    throw exchange.broken("the body ended early");
                }
                break;
            }
            size += read;
            exchange.read(read);
            if (size > largest) {
                throw A2AException.of(A2AError.PAYLOAD_TOO_LARGE);
            }
        }
        // Helidon notices the end of the body only when asked for more.
        if (size == announced && in.read() >= 0) {
            throw exchange.broken("the body is longer than announced");
        }
        return size == buffer.length ? buffer : Arrays.copyOf(buffer, size);
    }
}
