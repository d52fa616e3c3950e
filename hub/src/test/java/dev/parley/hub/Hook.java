package dev.parley.hub;

import static java.util.Objects.requireNonNull;

import com.sun.net.httpserver.HttpServer;
import dev.parley.hub.Outsider.Shown;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A webhook on the loopback interface that takes whatever it is told. */
final class Hook implements AutoCloseable {
    /** What was told, with headers by their names in lower case. */
    record Told(Map<String, String> headers, Shown body, byte[] raw) {}

    private final BlockingQueue<Told> told = new LinkedBlockingQueue<>();
    private final AtomicInteger calls = new AtomicInteger();
    private final HttpServer server;

    Hook() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            calls.incrementAndGet();
            var headers = new TreeMap<String, String>();
            exchange.getRequestHeaders()
                    .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
            byte[] raw = exchange.getRequestBody().readAllBytes();
            String body = new String(raw, StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
            told.add(new Told(headers, Shown.of(body), raw));
        });
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
    }

    /** Number of notifications that have come. */
    int calls() {
        return calls.get();
    }

    Told next() throws InterruptedException {
        return requireNonNull(told.poll(20, TimeUnit.SECONDS), "a notification within 20 seconds");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
