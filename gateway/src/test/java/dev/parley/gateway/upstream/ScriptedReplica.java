package dev.parley.gateway.upstream;

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
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** A server on loopback with the card of an agent of 1.0, whose calls a script answers byte for byte. */
final class ScriptedReplica implements AutoCloseable {
    /** Answers one call on its connection, which is closed after it. */
    interface Script {
        void on(String body, OutputStream out, InputStream in) throws Exception;
    }

    static final String MESSAGE =
            "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_AGENT\",\"parts\":[{\"text\":\"hi\"}]}}";

    private static final String CARD = """
            {"name":"scripted","description":"","version":"1","capabilities":{"streaming":true},"defaultInputModes":[],
            "defaultOutputModes":[],"skills":[],"supportedInterfaces":[{"url":"http://inner.example:1/a2a","protocolBinding":"JSONRPC",
            "protocolVersion":"1.0"}]}""";

    /** Id of the last request of a connection, each of which has a thread of its own. */
    private static final ThreadLocal<String> ID = new ThreadLocal<>();

    final AtomicInteger calls = new AtomicInteger();
    final AtomicInteger cards = new AtomicInteger();
    /** Heads of the requests that were calls. */
    final Queue<String> heads = new ConcurrentLinkedQueue<>();

    private final ServerSocket server;
    private final Thread accepting;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile Script script;
    private volatile Script card = (body, out, in) -> answer(out, "200 OK", "", CARD);
    private volatile boolean showsCard = true;

    ScriptedReplica(Script script) throws IOException {
        this.script = script;
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        accepting = Thread.ofPlatform().daemon().start(this::accept);
    }

    /** A replica that answers each call with a message. */
    static ScriptedReplica answering() throws IOException {
        return new ScriptedReplica((body, out, in) -> result(out, MESSAGE));
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort() + "/agent";
    }

    void script(Script other) {
        script = other;
    }

    /** Answers requests for the card. */
    void card(Script other) {
        card = other;
    }

    void showsCard(boolean shows) {
        showsCard = shows;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                open.add(socket);
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new BufferedInputStream(socket.getInputStream());
            String head = head(in);
            if (head.startsWith("GET")) {
                cards.incrementAndGet();
                boolean here = showsCard && head.startsWith("GET /agent/.well-known/agent-card.json ");
                if (here) {
                    card.on("", socket.getOutputStream(), in);
                } else {
                    answer(socket.getOutputStream(), "503 Unavailable", "", "");
                }
                return;
            }
            script.on(body(head, in), socket.getOutputStream(), in);
        } catch (Exception gone) {
            // the caller has left
        } finally {
            open.remove(socket);
        }
    }

    private String body(String head, InputStream in) throws IOException {
        int length = Integer.parseInt(
                head.toLowerCase(java.util.Locale.ROOT).replaceFirst("(?s).*content-length: *(\\d+).*", "$1"));
        String body = new String(in.readNBytes(length), UTF_8);
        ID.set(body.replaceFirst("(?s)^.*?\"jsonrpc\":\"2.0\",\"id\":([^,]+),.*$", "$1"));
        calls.incrementAndGet();
        heads.add(head);
        return body;
    }

    /** Reads another call on the same connection. */
    String next(InputStream in) throws IOException {
        return body(head(in), in);
    }

    private static String head(InputStream in) throws IOException {
        var head = new ByteArrayOutputStream();
        while (!head.toString(UTF_8).endsWith("\r\n\r\n")) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("no request");
            }
            head.write(next);
        }
        return head.toString(UTF_8);
    }

    static void answer(OutputStream out, String status, String headers, String body) throws IOException {
        byte[] bytes = body.getBytes(UTF_8);
        String head = "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nConnection: close\r\n" + headers
                + "Content-Length: " + bytes.length + "\r\n\r\n";
        out.write(head.getBytes(UTF_8));
        out.write(bytes);
        out.flush();
    }

    static void result(OutputStream out, String result) throws IOException {
        answer(out, "200 OK", "", "{\"jsonrpc\":\"2.0\",\"id\":" + ID.get() + ",\"result\":" + result + "}");
    }

    static void error(OutputStream out, String status, String headers) throws IOException {
        String error = "{\"jsonrpc\":\"2.0\",\"id\":" + ID.get() + ",\"error\":{\"code\":-32603,\"message\":\"busy\"}}";
        answer(out, status, headers, error);
    }

    /** Begins a stream of server-sent events. */
    static void stream(OutputStream out) throws IOException {
        out.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".getBytes(UTF_8));
        out.flush();
    }

    static void event(OutputStream out, String result) throws IOException {
        out.write(
                ("data: {\"jsonrpc\":\"2.0\",\"id\":" + ID.get() + ",\"result\":" + result + "}\n\n").getBytes(UTF_8));
        out.flush();
    }

    static String task(String id, String state) {
        return "{\"task\":{\"id\":\"" + id + "\",\"contextId\":\"c\",\"status\":{\"state\":\"" + state + "\"}}}";
    }

    /** Refuses connections once it returns: a thread inside of accept keeps a closed socket listening until it leaves. */
    @Override
    public void close() {
        try {
            server.close();
            boolean interrupted = false;
            while (accepting.isAlive()) {
                try {
                    accepting.join();
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
