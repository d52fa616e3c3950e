package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/** How much later events of a task arrive at another hub than at the one that runs it. */
final class EventTimes {
    private final List<Duration> late = new ArrayList<>();

    /** Has one hub count, and another one follow it to the end. */
    static EventTimes measure(FaultyHubs.Member runs, FaultyHubs.Member follows, int steps) throws Exception {
        String task = requireNonNull(
                runs.calls().count("t-" + UUID.randomUUID(), steps).sentTask());
        var times = new EventTimes();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Map<String, Long>> here = threads.submit(() -> arrivals(runs, task));
            Map<String, Long> there = arrivals(follows, task);
            assertThat(there.keySet()).containsExactlyElementsOf(here.get().keySet());
            here.get().forEach((id, at) -> times.late.add(Duration.ofNanos(requireNonNull(there.get(id)) - at)));
        }
        times.late.subList(0, 3).clear(); // they had been there before the streams
        Collections.sort(times.late);
        return times;
    }

    /** Returns the lines of the events of a task that has ended. */
    static List<String> events(FaultyHubs.Member hub, String task) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient();
                Stream<String> lines =
                        http.send(request(hub, task), BodyHandlers.ofLines()).body()) {
            return lines.toList();
        }
    }

    private static HttpRequest request(FaultyHubs.Member hub, String task) {
        return HttpRequest.newBuilder(URI.create(hub.url() + "/agents/counter/tasks/" + task + ":subscribe"))
                .header("A2A-Version", "1.0")
                .header("Last-Event-ID", "0")
                .POST(BodyPublishers.noBody())
                .build();
    }

    /** Returns the moments of {@link System#nanoTime()} by the ids of events. */
    private static Map<String, Long> arrivals(FaultyHubs.Member hub, String task)
            throws IOException, InterruptedException {
        var arrivals = new LinkedHashMap<String, Long>();
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<Stream<String>> answer = http.send(request(hub, task), BodyHandlers.ofLines());
            try (Stream<String> lines = answer.body()) {
                lines.filter(line -> line.startsWith("id:")).forEach(line -> arrivals.put(line, System.nanoTime()));
            }
        }
        return arrivals;
    }

    Duration median() {
        return late.get(late.size() / 2);
    }

    Duration longest() {
        return late.getLast();
    }

    /** The time below which nine of ten are. */
    Duration usual() {
        return late.get(late.size() * 9 / 10);
    }

    @Override
    public String toString() {
        return "median " + median().toMillis() + " ms, 0.9 " + usual().toMillis() + " ms, longest "
                + longest().toMillis() + " ms";
    }
}
