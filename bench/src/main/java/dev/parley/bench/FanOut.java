package dev.parley.bench;

import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Measures the time of a change of a knowledge graph until its subscribers have it: from before the update is sent until each of them
 * has its frame.
 *
 * <p>Arguments: the agent's address, the number of subscribers, and the number of updates. Prints one JSON object.
 */
public final class FanOut {
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private FanOut() {}

    public static void main(String[] arguments) throws Exception {
        URI agent = URI.create(arguments[0]);
        int subscribers = Integer.parseInt(arguments[1]);
        int updates = Integer.parseInt(arguments[2]);
        var sent = new ConcurrentHashMap<String, Long>();
        var arrivals = new ConcurrentHashMap<String, CountDownLatch>();
        List<Long> nanos = new ArrayList<>();
        var ready = new CountDownLatch(subscribers);
        for (int i = 0; i < subscribers; i++) {
            Thread.ofVirtual().start(() -> watch(agent, ready, sent, arrivals, nanos));
        }
        ready.await(1, TimeUnit.MINUTES);
        for (int i = 0; i < updates; i++) {
            String id = "urn:bench:fan:" + System.nanoTime();
            var all = new CountDownLatch(subscribers);
            arrivals.put(id, all);
            sent.put(id, System.nanoTime());
            update(agent, id);
            if (!all.await(10, TimeUnit.SECONDS)) {
                throw new IllegalStateException("change " + i + " has not reached everybody within 10 s");
            }
        }
        List<Long> sorted;
        synchronized (nanos) {
            sorted = nanos.stream().sorted().toList();
        }
        System.out.printf(
                "{\"result\":{\"latencyMilliseconds\":{\"p50\":%.3f,\"p99\":%.3f}},\"deliveries\":%d}%n",
                sorted.get(sorted.size() / 2) / 1e6, sorted.get(sorted.size() * 99 / 100) / 1e6, sorted.size());
        System.exit(0);
    }

    private static void watch(
            URI agent,
            CountDownLatch ready,
            Map<String, Long> sent,
            Map<String, CountDownLatch> arrivals,
            List<Long> nanos) {
        var request = post(
                agent,
                "knowledge/subscribe",
                "{\"subscriptionQuery\":\"subscription { knowledgeChanged(filter:{predicates:[\\\"urn:bench:fan\\\"]}) { op } }\"}");
        try (Stream<String> lines = HTTP.send(request, BodyHandlers.ofLines()).body()) {
            ready.countDown();
            for (String line : (Iterable<String>) lines::iterator) {
                if (line.startsWith("data:")) {
                    String id = subject(line.substring(5));
                    long took = System.nanoTime() - sent.getOrDefault(id, 0L);
                    synchronized (nanos) {
                        nanos.add(took);
                    }
                    arrivals.getOrDefault(id, new CountDownLatch(0)).countDown();
                }
            }
        } catch (IOException | InterruptedException cut) {
            throw new IllegalStateException("a subscription broke", cut);
        }
    }

    private static String subject(String frame) {
        Map<?, ?> at = Json.read(frame.getBytes(StandardCharsets.UTF_8), Map.class);
        for (String name : List.of("result", "statement", "subject")) {
            at = (Map<?, ?>) requireNonNull(at.get(name), name);
        }
        return String.valueOf(at.get("id"));
    }

    private static void update(URI agent, String id) throws IOException, InterruptedException {
        String params = "{\"mutations\":[{\"op\":\"add\",\"statement\":{\"subject\":{\"id\":\"" + id
                + "\"},\"predicate\":{\"id\":\"urn:bench:fan\"},\"object\":{\"value\":1}}}]}";
        HTTP.send(post(agent, "knowledge/update", params), BodyHandlers.discarding());
    }

    private static HttpRequest post(URI agent, String method, String params) {
        String body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + params + "}";
        return HttpRequest.newBuilder(agent)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
    }
}
