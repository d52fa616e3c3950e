package dev.parley.cli.postgresql;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Receiver of webhooks that keeps one delivery waiting until it is released. */
final class WebhookReceiver implements AutoCloseable {
    /**
     * A delivery.
     *
     * @param id the same for each repetition of an event
     */
    record Delivery(String id, String body) {}

    private final HttpServer http;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<Delivery> deliveries = new ArrayList<>();
    private final int held;
    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    /** @param held the number of the delivery that waits, from 1 */
    WebhookReceiver(int held) throws IOException {
        this.held = held;
        this.http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(threads);
        http.createContext("/", this::receive);
        http.start();
    }

    String url() {
        return "http://127.0.0.1:" + http.getAddress().getPort() + "/";
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            var delivery = new Delivery(
                    exchange.getRequestHeaders().getFirst("webhook-id"),
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            if (add(delivery) == held) {
                arrived.countDown();
                released.await();
            }
            exchange.sendResponseHeaders(204, -1);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized int add(Delivery delivery) {
        deliveries.add(delivery);
        return deliveries.size();
    }

    synchronized List<Delivery> deliveries() {
        return List.copyOf(deliveries);
    }

    /** Waits until the delivery that is held has arrived. */
    void awaitHeld() throws InterruptedException {
        arrived.await();
    }

    void release() {
        released.countDown();
    }

    @Override
    public void close() {
        release();
        http.stop(0);
        threads.close();
    }
}
