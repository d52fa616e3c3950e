package dev.parley.bench;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Measures how much later an event of a task arrives from a hub that does not run the task than from the one that does.
 *
 * <p>Arguments: the URL of the agent {@code ticking} at two hubs of one database, and the number of events. Prints quantiles as JSON.
 */
public final class RemoteEvents {
    private static final Pattern TICK = Pattern.compile("tick (\\d+)");
    private static final Pattern TASK = Pattern.compile("\"taskId\":\"([^\"]+)\"");

    private final HttpClient client = HttpClient.newHttpClient();

    private RemoteEvents() {}

    public static void main(String[] arguments) throws Exception {
        var measured = new RemoteEvents();
        int events = Integer.parseInt(arguments[2]);
        measured.late(arguments[0], arguments[1], 50); // has the compilers see it
        long[] late = measured.late(arguments[0], arguments[1], events);
        System.out.printf(
                Locale.ROOT,
                "{\"result\":{\"events\":%d,\"latencyMilliseconds\":{\"p50\":%.3f,\"p99\":%.3f}}}%n",
                late.length,
                late[late.length / 2] / 1e6,
                late[late.length * 99 / 100] / 1e6);
    }

    /** Returns by how many nanoseconds each event came later, in ascending order. */
    private long[] late(String owner, String other, int events) throws Exception {
        var task = new CompletableFuture<String>();
        Map<Integer, Long> here = new ConcurrentHashMap<>();
        Map<Integer, Long> there = new ConcurrentHashMap<>();
        String message = "{\"message\":{\"messageId\":\"" + UUID.randomUUID()
                + "\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"" + events + "\"}]}}";
        Thread streaming = Thread.ofVirtual().start(() -> read(owner, "SendStreamingMessage", message, here, task));
        read(other, "SubscribeToTask", "{\"id\":\"" + task.get() + "\"}", there, task);
        streaming.join();
        var differences = LongStream.builder();
        here.forEach((tick, at) -> {
            Long then = there.get(tick);
            if (then != null) {
                differences.add(then - at);
            }
        });
        long[] late = differences.build().sorted().toArray();
        if (late.length < events / 2) {
            throw new IllegalStateException(
                    late.length + " events came from both hubs (expected: most of " + events + ")");
        }
        return late;
    }

    private void read(
            String url, String method, String parameters, Map<Integer, Long> ticks, CompletableFuture<String> task) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .header("Content-Type", "application/json")
                .header("Accept", "text/event-stream")
                .header("A2A-Version", "1.0")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" + method + "\",\"params\":" + parameters + "}",
                        StandardCharsets.UTF_8))
                .build();
        try {
            HttpResponse<Stream<String>> answer = client.send(request, BodyHandlers.ofLines());
            answer.body().forEach(line -> {
                long now = System.nanoTime();
                Matcher id = TASK.matcher(line);
                if (id.find()) {
                    task.complete(id.group(1));
                }
                Matcher tick = TICK.matcher(line);
                while (tick.find()) {
                    ticks.putIfAbsent(Integer.parseInt(tick.group(1)), now);
                }
            });
        } catch (Exception failure) {
            task.completeExceptionally(failure);
            throw new IllegalStateException(failure);
        }
    }
}
