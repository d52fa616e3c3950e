package dev.parley.activity;

import static dev.parley.activity.ActivityHub.ANN;
import static dev.parley.activity.ActivityHub.BOB;
import static dev.parley.activity.ActivityHub.GUS;
import static dev.parley.activity.ActivityHub.HAL;
import static dev.parley.activity.ActivityHub.ROOT;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.activity.ActivityHub.Answer;
import dev.parley.activity.ActivityOperation.CountTasks;
import dev.parley.activity.ActivityOperation.FindTasks;
import dev.parley.activity.ActivityOperation.Reach;
import dev.parley.activity.ActivityOperation.TaskView;
import dev.parley.client.AgentClient;
import dev.parley.hub.Hub;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.TaskState;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lists and counts of tasks over all agents, over HTTP. */
@Timeout(120)
class TasksOfAllAgentsTest {
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

    private ActivityHub guarded() throws IOException {
        return ActivityHub.guarded(database.empty(Hub.builder()), data.resolve("policy"));
    }

    private static List<String> titles(Map<?, ?> page) {
        return ((List<?>) requireNonNull(page.get("tasks")))
                .stream()
                        .map(task -> String.valueOf(((Map<?, ?>) task).get("title")))
                        .toList();
    }

    private static Map<?, ?> first(Map<?, ?> page) {
        return (Map<?, ?>) ((List<?>) requireNonNull(page.get("tasks"))).getFirst();
    }

    /** First row of a list. A page ends after a quarter of a second, so that on a busy machine one may have no row yet. */
    private static Map<?, ?> row(ActivityHub hub, String path) throws Exception {
        Map<?, ?> page = Eventually.value(
                "a row of " + path,
                () -> hub.ok(path, null),
                each -> !titles(each).isEmpty());
        return first(page);
    }

    @Test
    void aRowHasTheTaskItsTitleStatusAndNumbers() throws Exception {
        try (var hub = ActivityHub.open(database.kept(Hub.builder()))) {
            String echo = hub.send("echo", "  two\nlines\u202e ", null);
            hub.send("ask", "x".repeat(200), null);
            hub.send("slow", "work", null, true);
            hub.gate.countDown();

            Map<?, ?> asked = row(hub, "/activity/tasks?agent=ask");
            assertThat(asked.get("state")).isEqualTo("TASK_STATE_INPUT_REQUIRED");
            assertThat(asked.get("title")).isEqualTo("x".repeat(120) + "…");
            assertThat(asked.get("status")).isEqualTo("Which one?");
            Map<?, ?> echoed = row(hub, "/activity/tasks?q=LINES");
            assertThat(echoed.get("taskId")).isEqualTo(echo);
            assertThat(echoed.get("title")).isEqualTo("two lines");
            assertThat(echoed.get("agent")).isEqualTo("echo");
            assertThat(echoed.get("artifacts")).isEqualTo(2);
            assertThat((int) requireNonNull(echoed.get("events"))).isPositive();
            assertThat(echoed.get("caller")).isEqualTo("anonymous");
            assertThat(String.valueOf(echoed.get("created")))
                    .isLessThanOrEqualTo(String.valueOf(echoed.get("updated")));
            assertThat(titles(hub.ok("/activity/tasks?q=nothing", null))).isEmpty();
            assertThat(titles(hub.ok("/activity/tasks?q=null", null)))
                    .as("a member that is missing")
                    .isEmpty();
            Eventually.asserted(
                    "all rows are on one page",
                    () -> assertThat(titles(hub.ok("/activity/tasks", null))).hasSize(3));
            assertThat(hub.ok("/agents", null).toString()).doesNotContain("activity");
        }
    }

    @Test
    void aRowFollowsItsTaskWithoutReadingAllOfItAgain() throws Exception {
        try (var hub = ActivityHub.open(database.kept(Hub.builder()))) {
            hub.send("steps", "climb", null, true);
            Eventually.holds(
                    "step 39", () -> hub.get("/activity/tasks", null).body().contains("step 39"));
            Map<?, ?> row = first(hub.ok("/activity/tasks", null));
            assertThat(row.get("title")).isEqualTo("climb");
            assertThat(row.get("progress")).isEqualTo(39);

            hub.gate.countDown();
            row = Eventually.value(
                    "the task is completed",
                    () -> first(hub.ok("/activity/tasks", null)),
                    each -> "TASK_STATE_COMPLETED".equals(each.get("state")));
            assertThat(row.get("title")).isEqualTo("climb");
            assertThat(row.get("status"))
                    .as("the last word, the end is an artifact")
                    .isEqualTo("step 79");
            assertThat(row.get("artifacts")).as("of a task with many events").isNull();
            assertThat(row.get("progress")).isEqualTo(79);
            assertThat(first(hub.ok("/activity/tasks", null))).isEqualTo(row);
        }
    }

    @Test
    void filtersNarrowAndPagesGoOnWhereTheyEnded() throws Exception {
        try (var hub = ActivityHub.open(database.empty(Hub.builder()))) {
            for (int i = 0; i < 5; i++) {
                hub.send(i % 2 == 0 ? "echo" : "board", "task " + i, null);
            }
            hub.send("ask", "task 5", null);

            var all = new ArrayList<String>();
            String next = "";
            do {
                Map<?, ?> page = hub.ok("/activity/tasks?pageSize=2" + next, null);
                all.addAll(titles(page));
                next = page.get("next") == null ? "" : "&after=" + page.get("next");
            } while (!next.isEmpty());
            assertThat(all).containsExactly("task 5", "task 4", "task 3", "task 2", "task 1", "task 0");
            Object foreign = hub.ok("/activity/tasks?pageSize=2", null).get("next");
            assertThat(hub.get("/activity/tasks?agent=echo&after=" + foreign, null)
                            .status())
                    .as("a token of another list")
                    .isEqualTo(400);
            assertThat(titles(hub.ok("/activity/tasks?state=completed,TASK_STATE_FAILED&agent=board", null)))
                    .containsExactly("task 3", "task 1");
            assertThat(titles(hub.ok("/activity/tasks?state=input-required", null)))
                    .containsExactly("task 5");
            assertThat(titles(hub.ok("/activity/tasks?caller=nobody", null))).isEmpty();
            Map<?, ?> third = (Map<?, ?>)
                    ((List<?>) requireNonNull(hub.ok("/activity/tasks", null).get("tasks"))).get(2);
            assertThat(titles(hub.ok("/activity/tasks?until=" + third.get("updated") + "&pageSize=1", null)))
                    .containsExactly("task 3");
            assertThat(titles(hub.ok("/activity/tasks?since=" + third.get("updated"), null)))
                    .containsExactly("task 5", "task 4", "task 3");
            assertThat(titles(hub.ok("/activity/tasks?contextId=" + third.get("contextId"), null)))
                    .containsExactly("task 3");
            for (String wrong : List.of(
                    "after=x",
                    "state=busy",
                    "pageSize=0",
                    "pageSize=201",
                    "since=today",
                    "since=%2B1000000000-12-31T23:59:59Z",
                    "until=-0001-01-01T00:00:00Z",
                    "agnet=echo",
                    "state=,")) {
                Answer answer = hub.get("/activity/tasks?" + wrong, null);
                assertThat(answer.status()).as(wrong + answer.body()).isEqualTo(400);
                assertThat(answer.body()).contains(wrong.substring(0, wrong.indexOf('=')));
            }
            Map<?, ?> counts = hub.ok("/activity/counts", null);
            assertThat(counts.get("states"))
                    .isEqualTo(Map.of("TASK_STATE_COMPLETED", 5, "TASK_STATE_INPUT_REQUIRED", 1));
            assertThat((int) requireNonNull(counts.get("number"))).isPositive();
            assertThat(String.valueOf(counts.get("agents"))).contains("agent=board, states={TASK_STATE_COMPLETED=2}");
            assertThat(hub.ok("/activity/counts?agent=ask", null).get("states"))
                    .isEqualTo(Map.of("TASK_STATE_INPUT_REQUIRED", 1));
        }
    }

    @Test
    void eachCallerSeesTheTasksThatItCouldListAtTheirAgents() throws Exception {
        try (var hub = guarded()) {
            hub.send("echo", "echo of ann", ANN);
            hub.send("board", "board of ann", ANN);
            hub.send("silent", "silent of ann", ANN);
            hub.send("ledger", "ledger of ann", ANN);
            hub.send("echo", "echo of gus", GUS);
            hub.send("board", "board of gus", GUS);

            assertThat(titles(hub.ok("/activity/tasks", ANN)))
                    .containsExactly("ledger of ann", "board of ann", "echo of ann");
            assertThat(titles(hub.ok("/activity/tasks", BOB)))
                    .as("a member of the group: what the policy shares")
                    .containsExactly("board of ann");
            assertThat(titles(hub.ok("/activity/tasks", GUS))).containsExactly("board of gus", "echo of gus");
            assertThat(titles(hub.ok("/activity/tasks?agent=ledger", GUS))).isEmpty();
            assertThat(titles(hub.ok("/activity/tasks", ROOT))).isEmpty();
            assertThat(titles(hub.ok("/activity/tasks?group=*", ROOT))).hasSize(6);
            assertThat(first(hub.ok("/activity/tasks?group=*&pageSize=1", ROOT)).get("group"))
                    .isEqualTo("guests");
            assertThat(titles(hub.ok("/activity/tasks?group=sales&owner=ann", ROOT)))
                    .containsExactly("ledger of ann", "silent of ann", "echo of ann");
            assertThat(hub.ok("/activity/counts", BOB).get("states")).isEqualTo(Map.of("TASK_STATE_COMPLETED", 1));
            assertThat(hub.ok("/activity/counts?group=*", ROOT).get("states"))
                    .isEqualTo(Map.of("TASK_STATE_COMPLETED", 6));
            for (String others : List.of("group=*", "group=sales", "owner=ann", "group=guests&owner=gus")) {
                for (String path : List.of("/activity/tasks?", "/activity/counts?")) {
                    assertThat(hub.get(path + others, ANN).status()).as(others).isEqualTo(403);
                }
            }
            assertThat(hub.get("/activity/tasks", null).status()).isEqualTo(401);
            assertThat(hub.get("/activity/counts", "key-of-nobody-1234567").status())
                    .isEqualTo(401);
        }
    }

    @Test
    void tasksOfAnAgentWithAnAuthenticationOfItsOwnAreForThoseWhomItAdmits() throws Exception {
        try (var hub = guarded()) {
            String payroll = hub.send("payroll", "salary of hal", HAL);

            assertThat(hub.get("/agents/payroll/tasks", BOB).status())
                    .as("the agent itself refuses it")
                    .isEqualTo(403);
            assertThat(titles(hub.ok("/activity/tasks", BOB))).isEmpty();
            assertThat(hub.ok("/activity/counts", BOB).get("states")).isEqualTo(Map.of());
            assertThat(hub.get("/activity/tasks/" + payroll, BOB).status()).isEqualTo(404);
            assertThat(titles(hub.ok("/activity/tasks", HAL))).containsExactly("salary of hal");
            assertThat(hub.ok("/activity/counts", HAL).get("states")).isEqualTo(Map.of("TASK_STATE_COMPLETED", 1));
            assertThat(hub.get("/activity/tasks/" + payroll, HAL).status()).isEqualTo(200);
        }
    }

    @Test
    void clientsCallByJsonRpcAndTheAgentTakesNoMessages() throws Exception {
        try (var hub = ActivityHub.open(database.empty(Hub.builder()));
                var client = AgentClient.connect(hub.hub.url() + "/activity")) {
            hub.send("echo", "hello", null);
            var find = new FindTasks(
                    "echo",
                    null,
                    Set.of(TaskState.COMPLETED),
                    null,
                    null,
                    null,
                    "HELLO",
                    null,
                    7,
                    new Reach(null, null));

            List<TaskView> tasks = client.call(find, CallContext.anonymous()).tasks();
            assertThat(tasks).extracting(TaskView::title).containsExactly("hello");
            assertThat(client.call(new CountTasks(null, Reach.OWN), CallContext.anonymous())
                            .states())
                    .containsExactly(Map.entry("TASK_STATE_COMPLETED", 1L));
            assertThat(hub.post("/agents/activity/message:send", MESSAGE, null).body())
                    .contains("takes no messages");
            assertThat(hub.get("/agents/activity/tasks", null).body())
                    .as("tasks of the agent itself, in A2A")
                    .contains("\"totalSize\"");
            assertThat(hub.get("/activity/.well-known/agent-card.json", null).body())
                    .contains("activity/v1");
            assertThat(hub.get("/openapi.json", null).body())
                    .contains(
                            "\"/activity/tasks\"",
                            "\"/activity/tasks/{taskId}\"",
                            "\"/activity/counts\"",
                            "\"/activity/changes\"");
        }
    }

    private static final String MESSAGE =
            "{\"message\":{\"messageId\":\"m\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hi\"}]}}";
}
