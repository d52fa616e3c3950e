package dev.parley.server.helidon;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler.EventType;
import io.helidon.http.RequestException;
import java.nio.charset.StandardCharsets;

/**
 * Reader that refuses malformed requests which Helidon accepts: chunks without a line break after them (Helidon skips two bytes
 * unread; proxies interpret such a request differently, which allows request smuggling), lengths of chunks with a sign, headers
 * without a name, and invalid methods, which Helidon reports as an internal error.
 */
final class StrictReader extends DataReader {
    private static final int LINE_BREAK = 2;
    private static final byte[] GET = "GET ".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] POST = "POST ".getBytes(StandardCharsets.US_ASCII);

    /** Besides letters and digits. Source: RFC 9110, section 5.6.2. */
    private static final String MARKS = "!#$%&'*+-.^_`|~";

    private final ClientConnection connection;

    // The factory that replaces this constructor cannot make a subclass.
    @SuppressWarnings("removal")
    StrictReader(Inbound inbound, ClientConnection connection) {
        super(inbound);
        this.connection = connection;
    }

    /** Skips line breaks; two bytes skipped in HTTP/1.1 are one line break. */
    @Override
    public void skip(int length) {
        if (length == LINE_BREAK && !connection.isHttp2() && !startsWithNewLine()) {
            throw refused("Line break missing");
        }
        super.skip(length);
    }

    /** Finds the end of a line; the first of a request begins with its method. */
    @Override
    public int findNewLine(int max) {
        int length = super.findNewLine(max);
        if (connection.takeRequestLine() && !startsWith(GET) && !startsWith(POST)) {
            requireMethod(getBuffer(length));
        }
        return length;
    }

    /** Finds the end of a header's name. */
    @Override
    public int findOrNewLine(byte end, int max) {
        int length = super.findOrNewLine(end, max);
        if (length == 0 && !connection.isHttp2()) {
            throw refused("Header without a name");
        }
        return length;
    }

    /** Reads the line with the length of a chunk, in which Helidon takes signs. */
    @Override
    public String readLine() {
        var line = super.readLine();
        if (!connection.isHttp2() && !line.isEmpty() && Character.digit(line.charAt(0), 16) < 0) {
            throw refused("Not the length of a chunk");
        }
        return line;
    }

    private static void requireMethod(BufferData line) {
        int octet = line.available() == 0 ? ' ' : line.read();
        do {
            if (!isOfToken(octet)) {
                throw refused("Not a method");
            }
            octet = line.available() == 0 ? ' ' : line.read();
        } while (octet != ' ');
    }

    private static boolean isOfToken(int octet) {
        return octet >= '0' && octet <= '9'
                || octet >= 'A' && octet <= 'Z'
                || octet >= 'a' && octet <= 'z'
                || MARKS.indexOf(octet) >= 0;
    }

    private static RequestException refused(String message) {
        return RequestException.builder()
                .type(EventType.BAD_REQUEST)
                .message(message)
                .build();
    }

    @Override
    public BufferData readBuffer(int length) {
        var data = getBuffer(length);
        super.skip(length);
        return data;
    }
}
