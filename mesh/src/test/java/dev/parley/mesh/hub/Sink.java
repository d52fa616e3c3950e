package dev.parley.mesh.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/** Receives callbacks, after it has refused the first ones. */
final class Sink implements AutoCloseable {
    /** A callback: its envelope, headers, and when it came. */
    record Callback(Map<?, ?> envelope, Map<String, List<String>> headers, long nanoTime) {
        Map<?, ?> message() {
            return (Map<?, ?>) requireNonNull(envelope.get("message"));
        }

        String type() {
            return String.valueOf(message().get("type"));
        }

        Object content(String member) {
            return String.valueOf(((Map<?, ?>) requireNonNull(message().get("content"))).get(member));
        }
    }

    final LinkedBlockingQueue<Callback> attempts = new LinkedBlockingQueue<>();
    final LinkedBlockingQueue<Callback> accepted = new LinkedBlockingQueue<>();
    private final HttpServer server;

    Sink(int refused) throws IOException {
        var left = new AtomicInteger(refused);
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            var callback = new Callback(
                    Json.read(exchange.getRequestBody().readAllBytes(), Map.class),
                    Map.copyOf(exchange.getRequestHeaders()),
                    System.nanoTime());
            attempts.add(callback);
            boolean refuses = left.getAndDecrement() > 0;
            if (!refuses) {
                accepted.add(callback);
            }
            byte[] body = "{}".getBytes(UTF_8);
            exchange.sendResponseHeaders(refuses ? 503 : 200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/callback";
    }

    /** The accepted callbacks up to the first that fits. */
    List<Callback> until(Predicate<Callback> last) throws InterruptedException {
        var all = new ArrayList<Callback>();
        do {
            all.add(requireNonNull(accepted.poll(60, TimeUnit.SECONDS), () -> "no callback after " + all));
        } while (!last.test(all.getLast()));
        return all;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
