package dev.parley.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Both ends of a hub for tests of an extension: a caller that has nothing but HTTP and JSON, so that a test sees what others see, and a
 * receiver of the notifications that the hub sends.
 *
 * <pre>{@code
 * try (var receiver = ExtensionKit.receiver();
 *         Hub hub = Hub.builder().inMemory().port(0).webhookAllow(List.of("127.0.0.1")).extension(new Notes()).start()) {
 *     Caller caller = ExtensionKit.caller(hub.url(), "A2A-Version", "1.0");
 *     Answer note = caller.post("/notes", "{'text':'Buy milk','webhook':'" + receiver.url() + "'}");
 *     assertThat(note.status()).as(note.toString()).isEqualTo(200);
 *     receiver.until("Buy milk");
 * }
 * }</pre>
 */
public final class ExtensionKit {
    private ExtensionKit() {}

    /**
     * Returns a caller.
     *
     * @param url address of a hub, without a slash at its end
     * @param headers names and values, of all requests
     */
    public static Caller caller(String url, String... headers) {
        return new Caller(HttpClient.newHttpClient(), url, List.of(headers));
    }

    /** Starts a receiver on a free port of the loopback interface. */
    public static Receiver receiver() {
        return new Receiver();
    }

    /**
     * A caller that has nothing but HTTP and JSON. In its JSON, apostrophes stand for quotation marks. Safe for any thread.
     *
     * @param base address in front of the paths of requests
     * @param headers names and values, of all requests
     */
    public record Caller(HttpClient http, String base, List<String> headers) {
        public Caller {
            headers = List.copyOf(headers);
        }

        /** This caller with further headers. */
        public Caller with(String... more) {
            var all = new ArrayList<>(headers);
            all.addAll(List.of(more));
            return new Caller(http, base, all);
        }

        public Answer get(String path) throws IOException, InterruptedException {
            return send("GET", path, "");
        }

        public Answer post(String path, String json) throws IOException, InterruptedException {
            return send("POST", path, json.replace('\'', '"'));
        }

        public Answer delete(String path) throws IOException, InterruptedException {
            return send("DELETE", path, "");
        }

        /** Posts a form. */
        public Answer form(String path, String form) throws IOException, InterruptedException {
            return with("Content-Type", "application/x-www-form-urlencoded").send("POST", path, form);
        }

        /**
         * Sends a request.
         *
         * @param body as it is sent, apostrophes included; of type {@code application/json} unless a header has another one
         */
        public Answer send(String method, String path, String body) throws IOException, InterruptedException {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base + path))
                    .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
            boolean isTyped = body.isEmpty();
            for (int i = 0; i < headers.size(); i += 2) {
                request.header(headers.get(i), headers.get(i + 1));
                isTyped |= headers.get(i).equalsIgnoreCase("Content-Type");
            }
            if (!isTyped) {
                request.header("Content-Type", "application/json");
            }
            HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
            return new Answer(response.statusCode(), response.body(), response);
        }
    }

    /** An answer, to look into. */
    public record Answer(int status, byte[] body, HttpResponse<byte[]> response) {
        /** The value at a path of member names and indexes of the JSON; null if there is none. */
        public @Nullable Object at(Object... path) {
            Object here = Json.read(body, Object.class);
            for (Object step : path) {
                here = switch (here) {
                    case List<?> list when step instanceof Integer index && index < list.size() -> list.get(index);
                    case Map<?, ?> map -> map.get(step);
                    case null, default -> null;
                };
            }
            return here;
        }

        /** The value at a path as text; {@code null} if there is none. */
        public String text(Object... path) {
            return Objects.toString(at(path));
        }

        /** The body. */
        public String text() {
            return new String(body, UTF_8);
        }

        /** Values of a member in a list of objects. */
        public List<String> each(String list, String member) {
            var values = new ArrayList<String>();
            for (Object one : (List<?>) Objects.requireNonNull(at(list), list)) {
                values.add(Objects.toString(((Map<?, ?>) one).get(member)));
            }
            return values;
        }

        /** The first value of a header; empty if there is none. */
        public String header(String name) {
            return response.headers().firstValue(name).orElse("");
        }

        /** Status and body, for messages of assertions. */
        @Override
        public String toString() {
            return status + " " + text();
        }
    }

    /** A notification as it arrived; the names of its headers are in lower case. */
    public record Notification(Map<String, String> headers, String body) {
        public Notification {
            headers = Map.copyOf(headers);
        }
    }

    /** Web server that keeps the notifications which it receives. Safe for any thread. */
    public static final class Receiver implements AutoCloseable {
        private static final long PATIENCE_SECONDS = Eventually.DEADLINE.toSeconds();

        private final HttpServer server;
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final BlockingQueue<Notification> received = new LinkedBlockingQueue<>();
        private final AtomicInteger refusals = new AtomicInteger();

        private Receiver() {
            try {
                server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
            server.setExecutor(threads);
            server.createContext("/", exchange -> {
                var headers = new LinkedHashMap<String, String>();
                exchange.getRequestHeaders()
                        .forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), values.getFirst()));
                var notification = new Notification(
                        headers, new String(exchange.getRequestBody().readAllBytes(), UTF_8));
                boolean refuses = refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
                if (!refuses) {
                    received.add(notification);
                }
                exchange.sendResponseHeaders(refuses ? 503 : 200, -1);
                exchange.close();
            });
            server.start();
        }

        /** Address for notifications. */
        public String url() {
            return "http://127.0.0.1:" + server.getAddress().getPort() + "/hook";
        }

        /** Refuses the next notifications with status 503. They are not kept. */
        public Receiver refusing(int notifications) {
            refusals.set(notifications);
            return this;
        }

        /** Waits for the next notification, for up to {@link Eventually#DEADLINE}, and removes it. */
        public Notification next() throws InterruptedException {
            Notification next = received.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("no notification within " + PATIENCE_SECONDS + " s");
            }
            return next;
        }

        /** Removes the notifications up to the first one that fits, which is the last of the list. Waits as {@link #next}. */
        public List<Notification> until(Predicate<Notification> last) throws InterruptedException {
            var all = new ArrayList<Notification>();
            do {
                all.add(next());
            } while (!last.test(all.getLast()));
            return all;
        }

        /** Removes the notifications up to the first one with a text in its body, and returns their bodies as lines. Waits as {@link #next}. */
        public String until(String text) throws InterruptedException {
            return until(notification -> notification.body().contains(text)).stream()
                    .map(Notification::body)
                    .collect(Collectors.joining("\n"));
        }

        /** Notifications that were received and not removed. */
        public List<Notification> left() {
            return List.copyOf(received);
        }

        @Override
        public void close() {
            server.stop(0);
            threads.shutdownNow();
        }
    }
}
