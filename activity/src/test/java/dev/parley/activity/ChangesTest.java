package dev.parley.activity;

import static dev.parley.activity.ActivityHub.ANN;
import static dev.parley.activity.ActivityHub.BOB;
import static dev.parley.activity.ActivityHub.GUS;
import static dev.parley.activity.ActivityHub.ROOT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.activity.ActivityOperation.Change;
import dev.parley.activity.ActivityOperation.WatchChanges;
import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The feed of changes, over HTTP. */
@Timeout(180)
@Tag("heavy")
class ChangesTest {
    private static final String CHANGES = "/activity/changes";

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

    /** Reads a stream up to an element. */
    private static List<Map<?, ?>> read(Iterator<String> lines, Predicate<Map<?, ?>> last) {
        var read = new ArrayList<Map<?, ?>>();
        while (lines.hasNext()) {
            String line = lines.next();
            if (line.startsWith("data:")) {
                Map<?, ?> change = Json.read(line.substring(5).getBytes(UTF_8), Map.class);
                read.add(change);
                if (last.test(change)) {
                    break;
                }
            }
        }
        return read;
    }

    private static Predicate<Map<?, ?>> of(String taskId, String state) {
        return change -> taskId.equals(change.get("taskId")) && state.equals(change.get("state"));
    }

    /** Changes that end tasks, or ask their callers: a task may be written once, with its end, or before it, too. */
    private static List<Map<?, ?>> settled(List<Map<?, ?>> changes) {
        return changes.stream()
                .filter(change -> String.valueOf(change.get("state")).matches("TASK_STATE_(COMPLETED|INPUT_REQUIRED)"))
                .toList();
    }

    private static boolean isWorking(Map<?, ?> change) {
        return "progress".equals(change.get("kind")) || "TASK_STATE_WORKING".equals(change.get("state"));
    }

    private static String agents(List<Map<?, ?>> changes) {
        return String.join(
                " ",
                settled(changes).stream()
                        .map(change -> change.get("agent") + "/" + change.get("state"))
                        .map(text -> text.replace("TASK_STATE_", ""))
                        .toList());
    }

    @Test
    void changesComeAsTheyHappenAndAreReadAgainBehindANumberAfterARestart() throws Exception {
        List<Map<?, ?>> first;
        try (var hub = ActivityHub.open(database.kept(Hub.builder()));
                Stream<String> lines = hub.stream(CHANGES, null, null)) {
            Iterator<String> live = lines.iterator();
            hub.send("echo", "one", null);
            hub.send("ask", "two", null);
            String slow = hub.send("slow", "three", null, true);
            assertThat(agents(read(live, change -> slow.equals(change.get("taskId")) && isWorking(change))))
                    .isEqualTo("echo/COMPLETED ask/INPUT_REQUIRED");
            hub.gate.countDown();
            first = read(live, of(slow, "TASK_STATE_COMPLETED"));
            Map<?, ?> end = first.getLast();
            assertThat(end.get("before")).isEqualTo("TASK_STATE_WORKING");
            assertThat(end.get("kind")).isEqualTo("task");
            assertThat(end.get("caller")).isEqualTo("anonymous");
            assertThat(String.valueOf(end.get("contextId"))).isNotEmpty();
            assertThat((int) requireNonNull(end.get("number"))).isPositive();
        }
        String last = String.valueOf(first.getLast().get("number"));
        try (var hub = ActivityHub.open(database.kept(Hub.builder()))) {
            String four = hub.send("board", "four", null);
            try (Stream<String> lines = hub.stream(CHANGES, null, last)) {
                assertThat(agents(read(lines.iterator(), of(four, "TASK_STATE_COMPLETED"))))
                        .isEqualTo("board/COMPLETED");
            }
            try (Stream<String> lines = hub.stream(CHANGES + "?after=0", null, null)) {
                List<Map<?, ?>> all = read(lines.iterator(), of(four, "TASK_STATE_COMPLETED"));
                assertThat(agents(all)).isEqualTo("echo/COMPLETED ask/INPUT_REQUIRED slow/COMPLETED board/COMPLETED");
                assertThat(all)
                        .extracting(change -> (int) requireNonNull(change.get("number")))
                        .isSorted()
                        .doesNotHaveDuplicates();
            }
            try (Stream<String> lines = hub.stream(CHANGES, null, "999999999")) {
                assertThat(read(lines.iterator(), change -> true).getFirst().get("kind"))
                        .as("a number of other data")
                        .isEqualTo("gap");
            }
        }
    }

    @Test
    void filtersLeaveOtherChangesOut() throws Exception {
        try (var hub = ActivityHub.open(database.empty(Hub.builder()))) {
            hub.send("echo", "one", null);
            String board = hub.send("board", "two", null);
            String last = hub.send("echo", "three", null);

            try (Stream<String> lines = hub.stream(CHANGES + "?after=0&agent=echo", null, null)) {
                assertThat(agents(read(lines.iterator(), of(last, "TASK_STATE_COMPLETED"))))
                        .isEqualTo("echo/COMPLETED echo/COMPLETED");
            }
            try (Stream<String> lines = hub.stream(CHANGES + "?after=0&taskId=" + board, null, null)) {
                assertThat(agents(read(lines.iterator(), of(board, "TASK_STATE_COMPLETED"))))
                        .isEqualTo("board/COMPLETED");
            }
            assertThat(hub.get(CHANGES + "?after=x", null).status()).isEqualTo(400);
            assertThat(hub.get(CHANGES + "?task=x", null).status()).isEqualTo(400);
        }
    }

    @Test
    void eachCallerSeesTheChangesOfTheTasksThatItCouldList() throws Exception {
        try (var hub = ActivityHub.guarded(database.kept(Hub.builder()), data.resolve("policy"))) {
            hub.send("echo", "echo of ann", ANN);
            hub.send("silent", "silent of ann", ANN);
            hub.send("ledger", "ledger of ann", ANN);
            String board = hub.send("board", "board of ann", ANN);
            String gus = hub.send("board", "board of gus", GUS);

            assertThat(seen(hub, "?after=0", ANN, board)).isEqualTo("echo/COMPLETED ledger/COMPLETED board/COMPLETED");
            assertThat(seen(hub, "?after=0", BOB, board)).isEqualTo("board/COMPLETED");
            assertThat(seen(hub, "?after=0", GUS, gus)).isEqualTo("board/COMPLETED");
            assertThat(seen(hub, "?after=0&group=*", ROOT, gus))
                    .isEqualTo("echo/COMPLETED silent/COMPLETED ledger/COMPLETED board/COMPLETED board/COMPLETED");
            assertThat(seen(hub, "?after=0&group=sales&owner=ann", ROOT, "")).startsWith("echo/COMPLETED silent/");
            assertThat(hub.get(CHANGES + "?group=*", ANN).status()).isEqualTo(403);
            assertThat(hub.get(CHANGES, null).status()).isEqualTo(401);
        }
    }

    @Test
    void operatorsLearnOfRowsOfTheAuditAndOthersDoNot() throws Exception {
        try (var hub = ActivityHub.guarded(database.kept(Hub.builder()), data.resolve("policy"));
                Stream<String> root = hub.stream(CHANGES, ROOT, null);
                Stream<String> all = hub.stream(CHANGES + "?group=*", ROOT, null);
                Stream<String> board = hub.stream(CHANGES + "?group=*&agent=board", ROOT, null);
                Stream<String> ann = hub.stream(CHANGES, ANN, null)) {
            String gus = hub.send("board", "board of gus", GUS);
            String last = hub.send("board", "board of ann", ANN);

            Predicate<Map<?, ?>> isAudit = change -> "audit".equals(change.get("kind"));
            assertThat(read(root.iterator(), isAudit)).hasSize(1);
            assertThat(read(all.iterator(), isAudit).getLast().get("taskId")).isNull();
            assertThat(read(board.iterator(), of(last, "TASK_STATE_COMPLETED")))
                    .noneMatch(isAudit)
                    .anyMatch(of(gus, "TASK_STATE_COMPLETED"));
            assertThat(read(ann.iterator(), of(last, "TASK_STATE_COMPLETED"))).noneMatch(isAudit);
        }
    }

    @Test
    void operatorsLearnOfCallsThatChangeNoTaskAndOthersDoNot() throws Exception {
        try (var hub = ActivityHub.guarded(database.kept(Hub.builder()), data.resolve("policy"));
                Stream<String> root = hub.stream(CHANGES, ROOT, null);
                Stream<String> ann = hub.stream(CHANGES, ANN, null)) {
            String task = hub.send("board", "board of ann", ANN);
            Iterator<String> changes = root.iterator();
            Predicate<Map<?, ?>> isCalls = change -> "calls".equals(change.get("kind"));
            read(changes, isCalls);
            assertThat(hub.get("/agents/board/tasks/" + task, ANN).status()).isEqualTo(200);
            assertThat(read(changes, isCalls)).hasSizeLessThanOrEqualTo(3);

            String last = hub.send("board", "last of ann", ANN);
            assertThat(read(ann.iterator(), of(last, "TASK_STATE_COMPLETED"))).noneMatch(isCalls);
        }
    }

    @Test
    void allLearnThatTheHubIsDrainedAndResumed() throws Exception {
        try (var hub = ActivityHub.guarded(database.kept(Hub.builder()), data.resolve("policy"));
                Stream<String> ann = hub.stream(CHANGES, ANN, null)) {
            Iterator<String> changes = ann.iterator();
            for (String action : List.of("drain", "resume")) {
                assertThat(hub.post("/admin/hubs/this/" + action, "{}", ROOT).status())
                        .isEqualTo(200);
                read(changes, change -> "hub".equals(change.get("kind")));
            }
        }
    }

    @Test
    void rowsOfReadsAreNotAnnouncedByThemselves() throws Exception {
        try (var hub = ActivityHub.guarded(database.kept(Hub.builder()).auditCalls(true), data.resolve("policy"));
                Stream<String> root = hub.stream(CHANGES + "?group=*", ROOT, null)) {
            assertThat(hub.get("/agents/board/tasks", ANN).status()).isEqualTo(200);
            Eventually.holds(
                    "the row, which is written after the answer",
                    () -> hub.get("/admin/audit?action=call.answered", ROOT)
                            .body()
                            .contains("ListTasks"));
            Instant read = Instant.now();
            String last = hub.send("board", "board of ann", ANN);

            assertThat(read(root.iterator(), of(last, "TASK_STATE_COMPLETED")).stream()
                            .filter(change -> "audit".equals(change.get("kind"))))
                    .allMatch(change ->
                            Instant.parse(String.valueOf(change.get("at"))).isAfter(read));
        }
    }

    @Test
    void allLearnOfCallsAndRowsOnAHubOfTheirMachine() throws Exception {
        try (var hub = ActivityHub.open(database.kept(Hub.builder()));
                Stream<String> all = hub.stream(CHANGES, null, null)) {
            hub.send("echo", "hello", null);
            assertThat(read(all.iterator(), change -> "calls".equals(change.get("kind"))))
                    .anyMatch(change -> "audit".equals(change.get("kind")));
        }
    }

    private static String seen(ActivityHub hub, String query, String key, String last) throws Exception {
        try (Stream<String> lines = hub.stream(CHANGES + query, key, null)) {
            return agents(read(
                    lines.iterator(),
                    change -> "TASK_STATE_COMPLETED".equals(change.get("state"))
                            && (last.equals(change.get("taskId")) || last.isEmpty() && isOf("ledger", change))));
        }
    }

    private static boolean isOf(String agent, Map<?, ?> change) {
        return agent.equals(change.get("agent"));
    }

    @Test
    void aSlowReaderMissesNoTask() throws Exception {
        try (var hub = ActivityHub.open(database.kept(Hub.builder()));
                Stream<String> slow = hub.stream(CHANGES, null, null);
                Stream<String> quick = hub.stream(CHANGES, null, null)) {
            var ids = new ArrayList<String>();
            for (int i = 0; i < 1_200; i++) {
                ids.add(hub.send("echo", "x", null));
            }

            try (Stream<String> behind = hub.stream(CHANGES + "?after=0", null, null)) { // of several pages
                for (Stream<String> lines : List.of(quick, slow, behind)) {
                    assertThat(settled(read(lines.iterator(), of(ids.getLast(), "TASK_STATE_COMPLETED"))))
                            .extracting(change -> requireNonNull(change.get("taskId")))
                            .isEqualTo(ids);
                }
            }
        }
    }

    @Test
    void eachOfManyReadersGetsEachChangeOnce() throws Exception {
        try (var hub = ActivityHub.open(database.kept(Hub.builder()))) {
            var readers = new ArrayList<Stream<String>>();
            for (int i = 0; i < 60; i++) {
                readers.add(hub.stream(CHANGES + (i % 2 == 0 ? "" : "?after=0"), null, null));
            }
            var ids = new ArrayList<String>();
            for (int i = 0; i < 50; i++) {
                ids.add(hub.send("echo", "x", null));
            }

            for (Stream<String> lines : readers) {
                assertThat(settled(read(lines.iterator(), of(ids.getLast(), "TASK_STATE_COMPLETED"))))
                        .extracting(change -> requireNonNull(change.get("taskId")))
                        .isEqualTo(ids);
                lines.close();
            }
        }
    }

    @Test
    void aReaderThatSeesNoneOfManyChangesLearnsItsPosition() throws Exception {
        try (var hub = ActivityHub.guarded(database.kept(Hub.builder()), data.resolve("policy"))) {
            try (ExecutorService senders = Executors.newFixedThreadPool(16)) {
                for (Future<?> sent :
                        senders.invokeAll(Collections.nCopies(1_050, () -> hub.send("echo", "of ann", ANN)))) {
                    sent.get();
                }
            }

            List<Map<?, ?>> positions;
            try (Stream<String> lines = hub.stream(CHANGES + "?after=0", BOB, null)) {
                positions = read(lines.iterator(), change -> (int) requireNonNull(change.get("number")) >= 1_000);
            }
            assertThat(positions).hasSizeLessThan(10).allMatch(each -> "position".equals(each.get("kind")));
            Map<?, ?> position = positions.getLast();

            String board = hub.send("board", "of ann", ANN);
            try (Stream<String> lines = hub.stream(CHANGES, BOB, String.valueOf(position.get("number")))) {
                List<Map<?, ?>> resumed = read(lines.iterator(), of(board, "TASK_STATE_COMPLETED"));
                assertThat(resumed.getFirst().get("kind"))
                        .as("changes without numbers are not kept")
                        .isEqualTo("gap");
                assertThat(agents(resumed)).isEqualTo("board/COMPLETED");
            }
            try (Stream<String> lines = hub.stream(CHANGES, BOB, "of-another-server")) {
                assertThat(read(lines.iterator(), change -> true).getFirst().get("kind"))
                        .isEqualTo("gap");
            }
        }
    }

    @Test
    void aMessageThatLeavesATaskInItsStateIsAChangeWithANumber() throws Exception {
        for (HubBuilder builder :
                List.of(database.kept(Hub.builder()), Hub.builder().inMemory())) {
            try (var hub = ActivityHub.open(builder);
                    Stream<String> lines = hub.stream(CHANGES, null, null)) {
                Iterator<String> live = lines.iterator();
                String task = hub.send("ask", "first", null);
                Map<?, ?> asked =
                        read(live, of(task, "TASK_STATE_INPUT_REQUIRED")).getLast();

                String answer = "{\"message\":{\"messageId\":\"m2\",\"taskId\":\"" + task
                        + "\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"second\"}]}}";
                assertThat(hub.post("/agents/ask/message:send", answer, null).status())
                        .isEqualTo(200);

                Map<?, ?> again =
                        read(live, of(task, "TASK_STATE_INPUT_REQUIRED")).getLast();
                assertThat((int) requireNonNull(again.get("number")))
                        .isGreaterThan((int) requireNonNull(asked.get("number")));
                assertThat(again.get("before")).isNotNull();
            }
        }
    }

    @Test
    void clientsWatchByJsonRpcAndLearnOfNewAgents() throws Exception {
        try (var hub = ActivityHub.open(Hub.builder().inMemory());
                var client = AgentClient.connect(hub.hub.url() + "/activity");
                Feed<Change> changes = client.watch(WatchChanges.of(null), CallContext.anonymous())) {
            hub.hub.host(Agent.named("late", "Comes late").handle((request, reply) -> reply.complete("done")));
            hub.send("late", "hello", null);
            hub.gate.countDown();
            String slow = hub.send("slow", "hello", null, true);

            var seen = new ArrayList<Change>();
            while (seen.stream()
                    .noneMatch(change -> slow.equals(change.taskId()) && change.state() == TaskState.COMPLETED)) {
                List<Change> next = changes.next(Duration.ofSeconds(30));
                seen.addAll(requireNonNull(next));
            }
            assertThat(seen)
                    .anyMatch(change -> change.kind() == Change.Kind.AGENT
                            && "late".equals(change.agent())
                            && change.change() == Change.Hosting.HOSTED);
            assertThat(seen)
                    .anyMatch(change -> change.number() > 0
                            && "late".equals(change.agent())
                            && change.state() == TaskState.COMPLETED);
            assertThat(behind(hub, "1", slow))
                    .as("a hub in memory numbers its changes, too")
                    .contains("slow/COMPLETED");
        }
    }

    private static String behind(ActivityHub hub, String number, String last) throws Exception {
        try (Stream<String> lines = hub.stream(CHANGES, null, number)) {
            return agents(read(lines.iterator(), of(last, "TASK_STATE_COMPLETED")));
        }
    }
}
