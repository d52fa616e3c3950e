package dev.parley.bench;

import static java.util.Objects.requireNonNull;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Measures the shares of the four priorities of messages of the ONE mesh at an agent that is saturated by each of them, and prints the
 * largest deviation of a share from its weight, in percent of the weight.
 *
 * <p>Arguments: the URL of an agent with fewer than four slots, seconds of warm-up, and seconds of measurement.
 */
public final class PriorityShares {
    private static final Map<String, Integer> WEIGHTS = Map.of("critical", 8, "high", 4, "medium", 2, "low", 1);
    private static final int SUM = 15;

    /** Delegations of each priority that are outstanding at any time. */
    private static final int OUTSTANDING = 40;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String agent;
    private final Map<String, LongAdder> ended = new LinkedHashMap<>();
    private final AtomicBoolean open = new AtomicBoolean(true);

    private PriorityShares(String agent) {
        this.agent = agent;
        WEIGHTS.keySet().forEach(level -> ended.put(level, new LongAdder()));
    }

    public static void main(String[] arguments) throws Exception {
        var shares = new PriorityShares(arguments[0]);
        var running = new ArrayList<Future<Void>>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (String level : WEIGHTS.keySet()) {
                for (int i = 0; i < OUTSTANDING; i++) {
                    running.add(threads.submit(() -> shares.delegate(level)));
                }
            }
            TimeUnit.SECONDS.sleep(Long.parseLong(arguments[1]));
            shares.ended.values().forEach(LongAdder::reset);
            TimeUnit.SECONDS.sleep(Long.parseLong(arguments[2]));
            System.out.printf(Locale.ROOT, "%.2f%n", shares.deviation());
            shares.open.set(false);
            for (Future<Void> each : running) {
                each.get(); // fails if a delegation has failed
            }
        }
    }

    private double deviation() {
        double all = ended.values().stream().mapToLong(LongAdder::sum).sum();
        double most = 0;
        for (Map.Entry<String, Integer> level : WEIGHTS.entrySet()) {
            double share = requireNonNull(ended.get(level.getKey())).sum() / all;
            double weight = (double) level.getValue() / SUM;
            System.err.printf(Locale.ROOT, "%s: %.1f %% (%.1f %%)%n", level.getKey(), 100 * share, 100 * weight);
            most = Math.max(most, 100 * Math.abs(share / weight - 1));
        }
        return most;
    }

    /** Delegates tasks one after the other, each when the result of the one before it is there. */
    private Void delegate(String level) throws Exception {
        while (open.get()) {
            String envelope =
                    """
                    {"version":"1.0","messageId":"%s","from":{"agentId":"bench","endpoint":""},
                     "to":{"agentId":"%s","endpoint":"%s/one"},"metadata":{"priority":"%s"},
                     "message":{"type":"task_delegation","content":{"task":"work"}}}""".formatted(UUID.randomUUID(), agent.substring(agent.lastIndexOf('/') + 1), agent, level);
            var request = HttpRequest.newBuilder(URI.create(agent + "/one"))
                    .header("Content-Type", "application/json")
                    .header("Prefer", "wait=60")
                    .timeout(Duration.ofSeconds(60))
                    .POST(BodyPublishers.ofString(envelope))
                    .build();
            var answer = http.send(request, BodyHandlers.ofString());
            if (!answer.body().contains("task_result")) {
                throw new IllegalStateException(answer.statusCode() + " " + answer.body());
            }
            requireNonNull(ended.get(level)).increment();
        }
        return null;
    }
}
