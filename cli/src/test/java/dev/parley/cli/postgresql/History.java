package dev.parley.cli.postgresql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Load of three hubs, with a record of all acknowledgements and streams, which is checked in the end: nothing acknowledged is lost, no
 * stream has a gap or a repetition, no message has two tasks or results, no task two owners, and all hubs show the state of the database.
 */
final class History extends Repeated {
    private static final int STEPS = 8;
    private static final int READ_EVERYWHERE = 60;
    private static final Duration FINISH = Duration.ofSeconds(60);
    private static final Pattern EVENT = Pattern.compile("id: ?(\\d+)");
    private static final Pattern STEP = Pattern.compile("\"(\\d+) of " + STEPS + "\"");
    private static final String AGAIN = "once more\"";

    private final FaultyHubs hubs;
    private final HttpClient http = HttpClient.newHttpClient();
    private final AtomicInteger turns = new AtomicInteger();
    /** Ids of tasks by those of their messages. */
    private final Map<String, String> acknowledged = new ConcurrentHashMap<>();

    private final Map<String, List<String>> streams = new ConcurrentHashMap<>();
    private final Queue<String> contradictions = new ConcurrentLinkedQueue<>();

    /** Begins the load. */
    History(FaultyHubs hubs) {
        this.hubs = hubs;
        begin(3, this::send);
        begin(1, this::count);
    }

    /** Waits for further acknowledgements. */
    void await(int more, Duration limit) {
        int all = acknowledged.size() + more;
        Eventually.within(limit, more + " acknowledgements", () -> acknowledged.size() >= all);
    }

    /** Sends a message until it is acknowledged, each fourth one once more, to the next hub. */
    private void send() {
        int turn = turns.getAndIncrement();
        String id = "h-" + UUID.randomUUID();
        HubCalls balancer = hubs.balancer(turn);
        acknowledge(id, () -> add(balancer.send(id)));
        if (turn % 4 == 0) {
            HubCalls next = hubs.balancer(turn + 1);
            acknowledge(id, () -> add(next.send(id)));
        }
        pause();
    }

    private String acknowledge(String id, Supplier<Answer> sent) {
        String task = sent.get().sentTask();
        while (task == null) {
            pause();
            task = sent.get().sentTask();
        }
        String before = acknowledged.putIfAbsent(id, task);
        if (before != null && !before.equals(task)) {
            contradictions.add("message " + id + ": tasks " + before + " and " + task);
        }
        return task;
    }

    /** Has a hub count, and follows the task at the others, at the next one after each break. */
    private void count() {
        int turn = turns.getAndIncrement();
        String id = "c-" + UUID.randomUUID();
        HubCalls balancer = hubs.balancer(turn);
        String task = acknowledge(id, () -> add(balancer.count(id, STEPS)));
        streams.put(task, follow(task, turn + 1));
    }

    /** Returns the lines of events of a task, to its end. */
    private List<String> follow(String task, int first) {
        var events = new ArrayList<String>();
        var last = new String[] {"0"};
        for (int hub = first; !isEnded(events); hub++) {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create(hubs.get(hub).url() + "/agents/counter/tasks/" + task + ":subscribe"))
                    .header("A2A-Version", "1.0")
                    .header("Last-Event-ID", last[0])
                    .timeout(FINISH)
                    .POST(BodyPublishers.noBody())
                    .build();
            try {
                HttpResponse<Stream<String>> answer = http.send(request, BodyHandlers.ofLines());
                try (Stream<String> lines = answer.body()) {
                    if (answer.statusCode() == Answer.OK) {
                        lines.forEach(line -> {
                            Matcher id = EVENT.matcher(line);
                            if (id.matches()) {
                                last[0] = requireNonNull(id.group(1));
                            }
                            if (!line.isBlank()) {
                                events.add(line);
                            }
                        });
                    }
                }
            } catch (IOException | UncheckedIOException broken) {
                // goes on at the next hub
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
                return events;
            }
            if (!isEnded(events)) {
                pause();
            }
        }
        return events;
    }

    private static boolean isEnded(List<String> events) {
        return events.stream()
                .anyMatch(line -> line.contains("TASK_STATE_COMPLETED") || line.contains("TASK_STATE_FAILED"));
    }

    /** Ends the load, and checks all that was recorded. */
    void verify() {
        close();
        assertThat(contradictions).isEmpty();
        assertThat(acknowledged).isNotEmpty();
        streams.forEach(History::requireWhole);
        requireTasks();
        requireAgreement();
    }

    /** Events follow each other without a gap or repetition, and so do the steps of each attempt, to the last one. */
    private static void requireWhole(String task, List<String> events) {
        var numbers = new ArrayList<Long>();
        int step = 0;
        for (String line : events) {
            Matcher id = EVENT.matcher(line);
            if (id.matches()) {
                numbers.add(Long.valueOf(id.group(1)));
            }
            Matcher counted = STEP.matcher(line);
            if (counted.find()) {
                int number = Integer.parseInt(requireNonNull(counted.group(1)));
                assertThat(number).as("step after " + step + " of " + events).isEqualTo(step + 1);
                step = number;
            } else if (line.contains(AGAIN)) {
                step = 0;
            }
        }
        assertThat(numbers)
                .as("numbers of events of " + task)
                .containsExactlyElementsOf(
                        LongStream.rangeClosed(1, numbers.size()).boxed().toList());
        assertThat(step).as("last step of " + task + ": " + events).isEqualTo(STEPS);
    }

    /** The database has one task for each message, written by one owner at a time, and owned by living hubs only. */
    private void requireTasks() {
        assertThat(hubs.number(
                        "SELECT count(*) FROM (SELECT lane_no, message_id FROM message GROUP BY lane_no, message_id"
                                + " HAVING count(DISTINCT task_id) > 1) twice"))
                .as("messages with two tasks")
                .isZero();
        assertThat(hubs.number("SELECT count(*) FROM task WHERE NOT EXISTS"
                        + " (SELECT FROM message WHERE message.task_id = task.task_id)"))
                .as("tasks that no message leads to")
                .isZero();
        assertThat(hubs.number("SELECT count(*) FROM (SELECT task_id, stream_no FROM"
                        + " (SELECT task_id, stream_no, lag(stream_no) OVER (PARTITION BY task_id ORDER BY first_seq) AS before"
                        + " FROM segment) written WHERE before IS DISTINCT FROM stream_no"
                        + " GROUP BY task_id, stream_no HAVING count(*) > 1) twice"))
                .as("tasks that a hub has written again after another one")
                .isZero();
        Eventually.within(
                FINISH,
                "no task belongs to a hub that has ended",
                () -> hubs.number("SELECT count(*) FROM task WHERE owner IS NOT NULL AND owner NOT IN"
                                + " (SELECT stream_no FROM stream)")
                        == 0);
    }

    /** Each acknowledged task is found, with one result; the newest ones at all hubs, in the state that the database has. */
    private void requireAgreement() {
        var wrong = new ArrayList<String>();
        int rest = acknowledged.size();
        for (Map.Entry<String, String> each : acknowledged.entrySet()) {
            String path =
                    "/agents/" + (each.getKey().startsWith("h-") ? "echo" : "counter") + "/tasks/" + each.getValue();
            boolean everywhere = rest-- <= READ_EVERYWHERE;
            Answer first = hubs.get(rest).calls().get(path);
            if (first.status() != Answer.OK
                    || !first.body().contains(each.getKey())
                    || hubs.number("SELECT state FROM task WHERE task_id = '" + each.getValue() + "'") != 3
                    || !first.body().contains("TASK_STATE_COMPLETED")) {
                wrong.add(each + ": " + first);
            } else if (path.contains("/echo/")
                    && !(first.json().get("artifacts") instanceof List<?> results && results.size() == 1)) {
                wrong.add("results of " + first);
            }
            for (int i = 1; everywhere && i < 3; i++) {
                Answer other = hubs.get(rest + i).calls().get(path);
                if (!other.body().equals(first.body())) {
                    wrong.add("at another hub: " + other + " in place of " + first);
                }
            }
        }
        assertThat(wrong).as("of " + acknowledged.size() + " tasks").isEmpty();
    }
}
