package dev.parley.mcp.client;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.mcp.wire.RawJson;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.json.Codecs;
import dev.parley.protocol.json.JsonText;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** MCP server over HTTP whose answers can be any bytes. Without faults it answers as a server of its era. */
public final class RawServer implements AutoCloseable {
    /** A request with its message, which is empty for GET and DELETE. */
    public record Request(
            int connection, String line, Map<String, String> headers, Map<String, @Nullable Object> message) {
        String method() {
            return message.get("method") instanceof String method ? method : line.substring(0, line.indexOf(' '));
        }

        String id() {
            return String.valueOf(message.get("id"));
        }
    }

    /** Bytes of an answer; then the connection ends, stays open for the next request, or stays open and silent. */
    public record Answer(byte[] bytes, After after) {
        static Answer of(String text) {
            return new Answer(text.getBytes(UTF_8), After.NEXT);
        }

        /** With bytes after the answer, so that the connection is of no use any more. */
        Answer and(byte[] more) {
            var all = new ByteArrayOutputStream();
            all.writeBytes(bytes);
            all.writeBytes(more);
            return new Answer(all.toByteArray(), After.UNUSABLE);
        }

        Answer then(After next) {
            return new Answer(bytes, next);
        }
    }

    /** Of the connection after an answer. */
    public enum After {
        NEXT,
        UNUSABLE,
        CLOSE,
        SILENCE
    }

    final Queue<Request> requests = new ConcurrentLinkedQueue<>();
    /** Requests on connections that had unread bytes. */
    final Queue<Request> shifted = new ConcurrentLinkedQueue<>();

    volatile Function<Request, @Nullable Answer> fault = request -> null;
    volatile boolean isModern;
    volatile String session = "one";

    private final ServerSocket server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicInteger connections = new AtomicInteger();

    public RawServer(boolean isModern) throws IOException {
        this.isModern = isModern;
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    public URI url() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/mcp");
    }

    /** Sets the answers with a fault; null for those without. */
    public void fail(Function<Request, @Nullable Answer> fault) {
        this.fault = fault;
    }

    /** Number of connections that are open. */
    public int open() {
        return sockets.size();
    }

    List<String> methods() {
        return requests.stream().map(Request::method).toList();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                sockets.add(socket);
                int number = connections.incrementAndGet();
                Thread.ofVirtual().start(() -> serve(socket, number));
            }
        } catch (IOException closed) {
            return;
        }
    }

    private void serve(Socket socket, int number) {
        boolean isUsable = true;
        try (socket) {
            var in = new BufferedInputStream(socket.getInputStream());
            for (Request request = read(in, number); request != null; request = read(in, number)) {
                (isUsable ? requests : shifted).add(request);
                Answer faulty = fault.apply(request);
                Answer answer = faulty == null ? healthy(request) : faulty;
                socket.getOutputStream().write(answer.bytes);
                socket.getOutputStream().flush();
                isUsable &= answer.after != After.UNUSABLE;
                if (answer.after == After.CLOSE) {
                    return;
                }
                if (answer.after == After.SILENCE && in.read() < 0) {
                    return;
                }
            }
        } catch (IOException gone) {
            return;
        } finally {
            sockets.remove(socket);
        }
    }

    private static @Nullable Request read(InputStream in, int connection) throws IOException {
        String first = line(in);
        if (first.isEmpty()) {
            return null;
        }
        var headers = new HashMap<String, String>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        byte[] body = in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
        boolean isMessage = headers.getOrDefault("content-type", "").startsWith("application/json");
        return new Request(connection, first, headers, isMessage ? JsonText.read(body, Codecs.STRUCT) : Map.of());
    }

    private static String line(InputStream in) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0 && next != '\n'; next = in.read()) {
            line.write(next);
        }
        return line.toString(ISO_8859_1).stripTrailing();
    }

    /** The answer of a server without faults. */
    Answer healthy(Request request) {
        boolean isOfSession = session.equals(request.headers.get("mcp-session-id"));
        return switch (request.method()) {
            case "server/discover" ->
                isModern
                        ? result(
                                request,
                                new RawJson()
                                        .with("supportedVersions", List.of("2026-07-28"))
                                        .with("capabilities", Map.of("tools", Map.of("listChanged", true)))
                                        .with("ttlMs", 0)
                                        .with("cacheScope", "private"))
                        : json(400, error("null", -32600, "Bad Request: no session"));
            case "initialize" ->
                isModern
                        ? json(404, error(request.id(), -32601, "initialize: unknown"))
                        : json(
                                200,
                                "{\"jsonrpc\":\"2.0\",\"id\":" + request.id()
                                        + ",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
                                        + "\"serverInfo\":{\"name\":\"raw\",\"version\":\"1\"}}}",
                                "Mcp-Session-Id: " + session + "\r\n");
            case "notifications/initialized", "notifications/cancelled" ->
                head(202, "").then(After.NEXT);
            case "GET" -> head(405, "");
            case "DELETE" -> head(200, "");
            case "subscriptions/listen" ->
                events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":"
                                + "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" + request.id() + "}}}\n\n")
                        .then(After.SILENCE);
            default ->
                !isModern && !isOfSession
                        ? json(400, error("\"server-error\"", -32600, "Bad Request: No valid session ID provided"))
                        : request.method().equals("tools/list")
                                ? result(
                                        request,
                                        new RawJson()
                                                .with(
                                                        "tools",
                                                        List.of(Map.of(
                                                                "name",
                                                                "echo",
                                                                "inputSchema",
                                                                Map.of("type", "object")))))
                                : result(request, text(request));
        };
    }

    /** The result of a call, which names its request and its argument. */
    private static Map<String, @Nullable Object> text(Request request) {
        Object argument =
                Trees.map(Trees.map(request.message, "params"), "arguments").get("text");
        return new RawJson().with("content", List.of(Map.of("type", "text", "text", "answer to " + argument)));
    }

    static Answer result(Request request, Map<String, @Nullable Object> result) {
        return json(
                200,
                new String(
                        JsonText.write(
                                Codecs.STRUCT,
                                new RawJson()
                                        .with("jsonrpc", "2.0")
                                        .with("id", request.message.get("id"))
                                        .with("result", result)),
                        UTF_8));
    }

    static String error(String id, int code, String message) {
        return "{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"error\":{\"code\":" + code + ",\"message\":\"" + message
                + "\"}}";
    }

    static Answer json(int status, String body, String... headers) {
        return whole(status, "application/json", body.getBytes(UTF_8), headers);
    }

    public static Answer whole(int status, String type, byte[] body, String... headers) {
        return Answer.of("HTTP/1.1 " + status + " Said\r\nContent-Type: " + type + "\r\n" + String.join("", headers)
                        + "Content-Length: " + body.length + "\r\n\r\n")
                .and(body)
                .then(After.NEXT);
    }

    /** A stream of events that ends with the connection. */
    static Answer events(String events) {
        return Answer.of("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events)
                .then(After.CLOSE);
    }

    static Answer head(int status, String headers) {
        boolean hasBody = status >= 200 && status != 204 && status != 304;
        return Answer.of(
                "HTTP/1.1 " + status + " Said\r\n" + headers + (hasBody ? "Content-Length: 0\r\n\r\n" : "\r\n"));
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : sockets) {
                socket.close();
            }
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }
}
