package dev.parley.registry;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A web server whose answers a test chooses. */
public final class Target implements AutoCloseable {
    /** Answers a request, and closes it or not. */
    @FunctionalInterface
    public interface Reply {
        void to(HttpExchange exchange) throws IOException, InterruptedException;
    }

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, Reply> replies = new ConcurrentHashMap<>();

    /** Paths of the requests so far. */
    public final List<String> requests = new CopyOnWriteArrayList<>();

    public Target() throws IOException {
        this(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    public Target(InetSocketAddress address) throws IOException {
        server = HttpServer.create(address, 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            requests.add(path);
            try {
                replies.getOrDefault(path, answering(404, "{}")).to(exchange);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    public String url() {
        return "http://127.0.0.1:" + port();
    }

    public Target at(String path, Reply reply) {
        replies.put(path, reply);
        return this;
    }

    public static Reply answering(int status, String body) {
        return exchange -> {
            byte[] bytes = body.getBytes(UTF_8);
            exchange.getRequestBody().readAllBytes();
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            try (exchange) {
                exchange.getResponseBody().write(bytes);
            }
        };
    }

    public static Reply redirecting(String location) {
        return exchange -> {
            exchange.getResponseHeaders().set("Location", location);
            exchange.sendResponseHeaders(302, -1);
            exchange.close();
        };
    }

    /** An answer without an end. */
    public static Reply endless() {
        return exchange -> {
            exchange.sendResponseHeaders(200, 0);
            byte[] bytes = "[".repeat(1 << 16).getBytes(UTF_8);
            try (exchange) {
                while (true) {
                    exchange.getResponseBody().write(bytes);
                }
            }
        };
    }

    /** No answer before the server is closed. */
    public static Reply silent() {
        return exchange -> new CountDownLatch(1).await();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
