package dev.parley.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ServerSocketFactory;
import org.jspecify.annotations.Nullable;

/** A server on loopback that says exactly what a test tells it to, byte for byte. */
public final class RawServer implements AutoCloseable {
    /** Speaks on one connection; when it returns, the connection is closed. */
    public interface Talk {
        void on(Connection connection) throws IOException, InterruptedException;
    }

    /** A request as it came. */
    public record Request(String head, byte[] body) {
        public String line() {
            return head.lines().findFirst().orElse("");
        }

        /** The value of a header, or null. */
        public @Nullable String header(String name) {
            String start = name.toLowerCase(Locale.ROOT) + ":";
            return head.lines()
                    .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(start))
                    .map(line -> line.substring(start.length()).strip())
                    .findFirst()
                    .orElse(null);
        }

        public String text() {
            return new String(body, UTF_8);
        }
    }

    /** One connection; {@code number} counts from 1. */
    public final class Connection {
        public final int number;
        private final InputStream in;
        private final OutputStream out;
        private final Socket socket;
        private volatile String last = "";

        Connection(int number, Socket socket) throws IOException {
            this.number = number;
            this.socket = socket;
            socket.setTcpNoDelay(true); // else a second write waits for the acknowledgement of the first
            this.in = new BufferedInputStream(socket.getInputStream());
            this.out = socket.getOutputStream();
        }

        /** Reads a request, or returns null if there comes none. */
        public @Nullable Request request() throws IOException {
            var head = new ByteArrayOutputStream();
            int matched = 0;
            while (matched < 4) {
                int next = in.read();
                if (next < 0) {
                    return null;
                }
                head.write(next);
                matched = next == "\r\n\r\n".charAt(matched) ? matched + 1 : next == '\r' ? 1 : 0;
            }
            var bare = new Request(head.toString(ISO_8859_1), new byte[0]);
            String length = bare.header("Content-Length");
            var request = new Request(bare.head(), in.readNBytes(length == null ? 0 : Integer.parseInt(length)));
            requests.add(request);
            last = request.text();
            return request;
        }

        /** Replaces {@link #ID} by the id of the last request. */
        public String answering(String text) {
            Matcher id = REQUEST_ID.matcher(last);
            return text.replace(ID, id.find() ? id.group(1) : "null");
        }

        /** Writes text with every line end as HTTP wants it. */
        public void write(String text) throws IOException {
            out.write(answering(text).replace("\n", "\r\n").getBytes(UTF_8));
            out.flush();
        }

        /** Writes text as it is. */
        public void writeExactly(byte[] bytes) throws IOException {
            out.write(bytes);
            out.flush();
        }

        /** Answers with a status, headers (lines without line end) and a body, and keeps the connection. */
        public void answer(int status, String text, String... headers) throws IOException {
            String body = answering(text);
            StringBuilder head = new StringBuilder("HTTP/1.1 " + status + " X\n");
            List.of(headers).forEach(header -> head.append(header).append('\n'));
            head.append("Content-Length: ").append(body.getBytes(UTF_8).length).append("\n\n");
            write(head.toString());
            writeExactly(body.getBytes(UTF_8));
        }

        /** Waits until the other side has closed, or cut, the connection. */
        public void awaitClose() {
            try {
                in.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // cut
            }
        }

        /** Closes the connection, in the middle of an answer if there is one; what was written arrives. */
        void cut() throws IOException {
            socket.close();
        }

        /** Cuts the connection as a crash would; what was written may not arrive. */
        public void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    /** Stands for the id of the last request of a connection, in text that is written there. */
    public static final String ID = "$ID";

    private static final Pattern REQUEST_ID = Pattern.compile("\"jsonrpc\":\"2.0\",\"id\":([^,]+),");

    public final List<Request> requests = new CopyOnWriteArrayList<>();
    private final ServerSocket server;
    private final Talk talk;
    private final Thread accepting;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();

    public RawServer(Talk talk) throws IOException {
        this(talk, 0);
    }

    public RawServer(Talk talk, int port) throws IOException {
        this(talk, port, ServerSocketFactory.getDefault());
    }

    public RawServer(Talk talk, int port, ServerSocketFactory factory) throws IOException {
        this.talk = talk;
        this.server = factory.createServerSocket(port, 50, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}));
        this.accepting = Thread.ofVirtual().start(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    public String url(String path) {
        return "http://127.0.0.1:" + port() + path;
    }

    private void accept() {
        for (int number = 1; ; number++) {
            try {
                Socket socket = server.accept();
                sockets.add(socket);
                int count = number;
                Thread.ofVirtual().start(() -> speak(count, socket));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void speak(int number, Socket socket) {
        try (socket) {
            talk.on(new Connection(number, socket));
        } catch (IOException e) {
            // The other side has gone, which many tests are about.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            accepting.join(); // until then, the port may still take a connection
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
