package dev.parley.activity;

import static dev.parley.activity.ActivityHub.ANN;
import static dev.parley.activity.ActivityHub.BOB;
import static dev.parley.activity.ActivityHub.GUS;
import static dev.parley.activity.ActivityHub.ROOT;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.activity.ActivityOperation.EventView;
import dev.parley.activity.ActivityOperation.History;
import dev.parley.activity.ActivityOperation.ReadHistory;
import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Histories of tasks, over HTTP. */
@Timeout(60)
class HistoryTest {
    private static final String TASKS = "/activity/tasks/";

    @TempDir
    Path data;

    private TestDatabase database;

    TestDatabase database() throws IOException {
        return TestDatabase.sqlite(data);
    }

    @BeforeEach
    void openDatabase() throws IOException {
        database = database();
    }

    @Test
    void eventsHaveNumbersWithoutGapsAndTheTimesAtWhichTheyWereWritten() throws Exception {
        Instant begin = Instant.now().minusMillis(5);
        String slow;
        try (var hub = ActivityHub.open(database.kept(Hub.builder()))) {
            slow = hub.send("slow", "work", null, true);
            String path = TASKS + slow;
            Eventually.holds("the progress", () -> hub.get(path, null).body().contains("forty percent"));
        }
        try (var hub = ActivityHub.open(database.kept(Hub.builder()));
                var client = AgentClient.connect(hub.hub.url() + "/activity")) {
            hub.gate.countDown();
            ReadHistory read = ReadHistory.of(slow);
            History history = Eventually.value(
                    "the task is completed",
                    () -> client.call(read, CallContext.anonymous()),
                    each -> each.task().state() == TaskState.COMPLETED);

            List<EventView> events = history.events();
            assertThat(events)
                    .extracting(EventView::number)
                    .isEqualTo(LongStream.rangeClosed(1, history.task().events())
                            .boxed()
                            .toList());
            assertThat(events).extracting(EventView::at).isSorted();
            assertThat(events.getFirst().at()).isBetween(begin, Instant.now());
            assertThat(events.getFirst().event()).containsKey("task");
            assertThat(history.next()).isNull();
            assertThat(history.task().title()).isEqualTo("work");
            assertThat(history.task().progress()).isEqualTo(40);

            var numbers = new ArrayList<Object>();
            Object next = 0;
            do {
                Map<?, ?> page = hub.ok(TASKS + slow + "?limit=2&after=" + next, null);
                ((List<?>) requireNonNull(page.get("events")))
                        .forEach(event -> numbers.add(((Map<?, ?>) event).get("number")));
                next = page.get("next");
            } while (next != null);
            assertThat(numbers).hasSize(events.size()).doesNotHaveDuplicates();
            assertThat(hub.ok(TASKS + slow + "?after=9999", null).get("events")).isEqualTo(List.of());

            String echo = hub.send("echo", "at once", null);
            Map<?, ?> echoed = hub.ok(TASKS + echo, null);
            assertThat(String.valueOf(echoed.get("events"))).contains("at=20", "Echo of at once");
        }
    }

    @Test
    void onlyTheHistoriesOfTasksThatACallerCouldListAreRead() throws Exception {
        try (var hub = ActivityHub.guarded(database.empty(Hub.builder()), data.resolve("policy"))) {
            String echo = hub.send("echo", "echo of ann", ANN);
            String board = hub.send("board", "board of ann", ANN);
            String silent = hub.send("silent", "silent of ann", ANN);

            assertThat(hub.get(TASKS + echo, ANN).status()).isEqualTo(200);
            assertThat(hub.get(TASKS + board, BOB).status()).isEqualTo(200);
            for (String refused : List.of(echo, silent)) {
                assertThat(hub.get(TASKS + refused, BOB).status()).isEqualTo(404);
                assertThat(hub.get(TASKS + refused, GUS).status()).isEqualTo(404);
            }
            assertThat(hub.get(TASKS + silent, ANN).status()).isEqualTo(404);
            assertThat(hub.get(TASKS + board, GUS).status()).isEqualTo(404);
            assertThat(hub.get(TASKS + "unknown", ANN).status()).isEqualTo(404);
            assertThat(hub.get(TASKS + silent + "?group=sales", ROOT).status()).isEqualTo(200);
            assertThat(hub.get(TASKS + silent + "?group=*", ROOT).status()).isEqualTo(400);
            assertThat(hub.get(TASKS + silent + "?group=sales", ANN).status()).isEqualTo(403);
            assertThat(hub.get(TASKS + echo + "?limit=0", ANN).status()).isEqualTo(400);
            assertThat(hub.get(TASKS + echo, null).status()).isEqualTo(401);
        }
    }
}
