package dev.parley.outbound.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLSocket;
import org.apache.hc.client5.http.io.ManagedHttpClientConnection;
import org.apache.hc.core5.http.ClassicHttpRequest;
import org.apache.hc.core5.http.ClassicHttpResponse;
import org.apache.hc.core5.http.HttpException;
import org.apache.hc.core5.http.ProtocolException;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.http.impl.io.DefaultBHttpClientConnection;
import org.apache.hc.core5.http.impl.io.DefaultHttpResponseParserFactory;
import org.apache.hc.core5.http.impl.io.SocketHolder;
import org.apache.hc.core5.http.io.HttpMessageParser;
import org.apache.hc.core5.http.io.HttpMessageParserFactory;
import org.apache.hc.core5.http.io.SessionInputBuffer;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * Connection that carries a request only while the server has sent nothing that is unread. HTTP/1.1 has no other way to tell the answer to a
 * request from one too many to the request before. Its state is looked at without a wait.
 */
final class KeptConnection extends DefaultBHttpClientConnection implements ManagedHttpClientConnection {
    /** Most answers with a status below 200 before the answer itself. */
    private static final int INTERIM_ANSWERS = 16;

    /** Sees the buffer of the connection, which is not a member that can be read. */
    private static final class Buffered implements HttpMessageParserFactory<ClassicHttpResponse> {
        private @Nullable SessionInputBuffer buffer;

        @Override
        @SuppressWarnings("deprecation") // the only method that has to be implemented
        public HttpMessageParser<ClassicHttpResponse> create(@Nullable Http1Config limits) {
            HttpMessageParser<ClassicHttpResponse> parser = new DefaultHttpResponseParserFactory(limits).create();
            return (from, in) -> {
                buffer = from;
                return parser.parse(from, in);
            };
        }

        boolean isEmpty() {
            return buffer == null || buffer.length() == 0;
        }
    }

    private final Buffered buffered;
    private volatile boolean shut;
    /** Beneath TLS; null without. */
    private @Nullable Socket raw;

    private Timeout timeout = Timeout.DISABLED;
    private int interim;

    private KeptConnection(Http1Config limits, Buffered buffered) {
        super(limits, null, null, null, null, null, null, buffered);
        this.buffered = buffered;
    }

    static KeptConnection of(Http1Config limits, @Nullable Socket socket) throws IOException {
        var made = new KeptConnection(limits, new Buffered());
        if (socket != null) {
            made.bind(socket);
        }
        return made;
    }

    @Override
    public void bind(Socket socket) throws IOException {
        if (shut) {
            socket.close(); // while it was connecting
            throw new InterruptedIOException("the connection is closed");
        }
        super.bind(socket);
        timeout = Timeout.ofMilliseconds(socket.getSoTimeout());
    }

    @Override
    public void bind(SSLSocket tls, Socket socket) throws IOException {
        super.bind(tls, socket);
        raw = socket;
        timeout = Timeout.ofMilliseconds(tls.getSoTimeout());
    }

    /** Whether it cannot carry another request. */
    @Override
    public boolean isStale() throws IOException {
        return !isOpen() || hasUnread() || hasEnded();
    }

    private boolean hasUnread() throws IOException {
        return !buffered.isEmpty() || has(getSocket());
    }

    private static boolean has(@Nullable Socket socket) throws IOException {
        if (socket == null) {
            return false;
        }
        InputStream in = socket.getInputStream();
        return in.available() > 0;
    }

    /** Whether the server has closed it, or sent a byte meanwhile, which is lost then. */
    private boolean hasEnded() throws IOException {
        Socket socket = raw == null ? getSocket() : raw;
        SocketChannel channel = socket == null ? null : socket.getChannel();
        if (channel == null) {
            return super.isStale(); // waits for a millisecond
        }
        channel.configureBlocking(false);
        try {
            return channel.read(ByteBuffer.allocate(1)) != 0;
        } finally {
            channel.configureBlocking(true);
        }
    }

    @Override
    public void sendRequestHeader(ClassicHttpRequest request) throws HttpException, IOException {
        if (hasUnread()) { // before the first request, too: bytes without a request are not an answer
            close(CloseMode.IMMEDIATE);
            throw new UnreadBytes();
        }
        interim = 0;
        super.sendRequestHeader(request);
    }

    @Override
    public ClassicHttpResponse receiveResponseHeader() throws HttpException, IOException {
        ClassicHttpResponse head = super.receiveResponseHeader();
        if (head.getCode() < 200 && ++interim > INTERIM_ANSWERS) {
            throw new ProtocolException("more than " + INTERIM_ANSWERS + " interim answers");
        }
        return head;
    }

    @Override
    public @Nullable Socket getSocket() {
        SocketHolder holder = getSocketHolder();
        return holder == null ? null : holder.getSocket();
    }

    @Override
    public void setSocketTimeout(Timeout given) {
        timeout = given;
        super.setSocketTimeout(given);
    }

    @Override
    public void passivate() {
        super.setSocketTimeout(Timeout.DISABLED);
    }

    @Override
    public void activate() {
        super.setSocketTimeout(timeout);
    }

    @Override
    public void close(CloseMode mode) {
        shut = true;
        super.close(mode);
    }

    @Override
    public void close() throws IOException {
        shut = true;
        super.close();
    }
}
