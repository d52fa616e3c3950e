package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs of workflows on a hub, over HTTP. */
@Timeout(120)
class WorkflowHubTest {
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

    private final HttpClient http = HttpClient.newHttpClient();
    private final ConcurrentLinkedQueue<String> calls = new ConcurrentLinkedQueue<>();

    private HubBuilder empty() throws IOException {
        return database.empty(Hub.builder().port(0));
    }

    private HubBuilder kept() {
        return database.kept(Hub.builder().port(0));
    }

    private Agent echo(String name) {
        return Agent.named(name, "Echoes").handle((request, reply) -> {
            calls.add(name + ":" + request.text());
            reply.complete(name + "(" + request.text() + ")");
        });
    }

    private HttpResponse<String> send(Hub hub, String verb, String path, String body, String... headers)
            throws IOException, InterruptedException {
        return http.send(request(hub, verb, path, body, headers), BodyHandlers.ofString());
    }

    private static HttpRequest request(Hub hub, String verb, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("A2A-Version", "1.0")
                .method(
                        verb,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return request.build();
    }

    private static Map<?, ?> json(String text) {
        return Json.read(text.getBytes(UTF_8), Map.class);
    }

    private static String steps(String... steps) {
        return "{'coordinator':'lead','workflow':{'steps':[" + String.join(",", steps) + "]}}";
    }

    private String start(Hub hub, String document) throws Exception {
        HttpResponse<String> answer = send(hub, "POST", "/one/workflows", document);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return String.valueOf(json(answer.body()).get("workflowId"));
    }

    /** Events of a run, until it has ended or asks. */
    private List<Map<?, ?>> events(Hub hub, String id, String... headers) throws Exception {
        var all = new ArrayList<Map<?, ?>>();
        var more = new ArrayList<>(List.of("Accept", "text/event-stream"));
        more.addAll(List.of(headers));
        HttpResponse<java.util.stream.Stream<String>> answer = http.send(
                request(hub, "GET", "/one/workflows/" + id, "", more.toArray(new String[0])), BodyHandlers.ofLines());
        try (var lines = answer.body()) {
            for (Iterator<String> each = lines.iterator(); each.hasNext(); ) {
                String line = each.next();
                if (line.startsWith("data:")) {
                    Map<?, ?> event = json(line.substring("data:".length()).strip());
                    all.add(event);
                    if (List.of("completed", "failed", "canceled", "input-required")
                            .contains(String.valueOf(event.get("state")))) {
                        return all;
                    }
                }
            }
        }
        return all;
    }

    private Map<?, ?> finished(Hub hub, String id) throws Exception {
        events(hub, id);
        return json(send(hub, "GET", "/one/workflows/" + id, "", "Accept", "application/json")
                .body());
    }

    private static @Nullable Object step(Map<?, ?> run, String id, String member) {
        return ((List<?>) requireNonNull(run.get("steps")))
                .stream()
                        .map(step -> (Map<?, ?>) step)
                        .filter(step -> id.equals(step.get("id")))
                        .findFirst()
                        .orElseThrow()
                        .get(member);
    }

    @Test
    @DisplayName("ONE16 ONE36 a workflow runs in order, hands results on, and is read, listed and streamed over HTTP")
    void diamond() throws Exception {
        try (Hub hub = empty().agents(echo("a"), echo("b")).start()) {
            String id = start(
                    hub,
                    steps(
                            "{'id':'top','agent':'a','task':'echo','parameters':{'text':'x'}}",
                            "{'id':'left','agent':'b','task':'echo','depends':['top']}",
                            "{'id':'right','agent':'b','task':'echo','depends':['top'],'parameters':{'text':'r ${top.text}'}}",
                            "{'id':'end','agent':'a','task':'echo','depends':['left','right']}"));

            Map<?, ?> run = finished(hub, id);

            assertThat(run.get("state")).isEqualTo("completed");
            assertThat(run.get("progress")).isEqualTo(100);
            assertThat(run.get("result")).isEqualTo(Map.of("end", "a(b(a(x))\nb(r a(x)))"));
            assertThat(calls).first().isEqualTo("a:x");
            assertThat(step(run, "left", "state")).isEqualTo("completed");
            String task = String.valueOf(step(run, "left", "taskId"));
            assertThat(send(hub, "GET", "/agents/b/tasks/" + task, "").body())
                    .contains("\"referenceTaskIds\":[\"" + id + "\"]");
            assertThat(send(hub, "GET", "/one/workflows?state=completed", "").body())
                    .contains(id);
            List<Map<?, ?>> rest = events(hub, id, "Last-Event-ID", "1");
            assertThat(rest.getLast().get("state")).isEqualTo("completed");
        }
    }

    @Test
    @DisplayName("ONE16 steps without dependencies run at the same time")
    void parallel() throws Exception {
        var barrier = new CyclicBarrier(3);
        Agent together = Agent.named("together", "Waits for the others").handle((request, reply) -> {
            barrier.await(60, TimeUnit.SECONDS);
            reply.complete("met");
        });
        try (Hub hub = empty().agents(together).start()) {
            String id = start(
                    hub,
                    steps(
                            "{'id':'1','agent':'together','task':'x'}",
                            "{'id':'2','agent':'together','task':'x'}",
                            "{'id':'3','agent':'together','task':'x'}"));

            assertThat(finished(hub, id).get("state")).isEqualTo("completed");
        }
    }

    @Test
    @DisplayName("data and files of a step are handed on to the steps after it")
    void dataAndFiles() throws Exception {
        Agent maker = Agent.named("maker", "Makes a table and a file")
                .outputModes("application/json", "text/csv")
                .handle((request, reply) -> reply.complete(
                        Part.data(Map.of("rows", 2)), Part.file("t.csv", "text/csv", "a,b".getBytes(UTF_8))));
        Agent reader = Agent.named("reader", "Reads both")
                .inputModes("application/json", "text/csv")
                .handle((request, reply) -> {
                    Part.Data data = (Part.Data) request.parts().getFirst();
                    String file = new String(request.files().getFirst().bytes(), UTF_8);
                    reply.complete(new String(Json.write(data.data()), UTF_8) + " and " + file);
                });
        try (Hub hub = empty().agents(maker, reader).start()) {
            String id = start(
                    hub,
                    steps("{'agent':'maker','task':'make'}", "{'agent':'reader','task':'read','depends':['maker']}"));

            assertThat(String.valueOf(finished(hub, id).get("result")))
                    .contains("{\"inputs\":{\"maker\":[{\"rows\":2},{\"filename\":\"t.csv\"")
                    .contains("and a,b");
        }
    }

    @Test
    @DisplayName(
            "a failed step fails the run and skips those after it; with onError continue they run without its result")
    void failures() throws Exception {
        Agent broken = Agent.named("broken", "Fails").handle((request, reply) -> reply.fail("no luck"));
        try (Hub hub = empty().agents(broken, echo("a")).start()) {
            Map<?, ?> failed = finished(
                    hub,
                    start(
                            hub,
                            steps("{'agent':'broken','task':'x'}", "{'agent':'a','task':'x','depends':['broken']}")));
            Map<?, ?> continued = finished(
                    hub,
                    start(
                            hub,
                            steps(
                                    "{'agent':'broken','task':'x','onError':'continue'}",
                                    "{'agent':'a','task':'x','depends':['broken'],'parameters':{'text':'t'}}")));

            assertThat(failed.get("state")).isEqualTo("failed");
            assertThat(failed.get("message")).isEqualTo("broken: no luck");
            assertThat(step(failed, "a", "state")).isEqualTo("skipped");
            assertThat(continued.get("state")).isEqualTo("completed");
            assertThat(continued.get("result")).isEqualTo(Map.of("a", "a(t)"));
            assertThat(calls).containsExactly("a:t");
        }
    }

    @Test
    @DisplayName("a step with onError retry is repeated as its policy says, each time as another task")
    void retries() throws Exception {
        Agent second = Agent.named("second", "Fails once").handle((request, reply) -> {
            calls.add(request.taskId());
            if (calls.size() == 1) {
                reply.fail("not yet");
            } else {
                reply.complete("done");
            }
        });
        try (Hub hub = empty().agents(second).start()) {
            Map<?, ?> run = finished(
                    hub,
                    start(
                            hub,
                            steps(
                                    "{'agent':'second','task':'x','onError':'retry','retryPolicy':{'maxRetries':2,'backoff':'linear'}}")));

            assertThat(run.get("state")).isEqualTo("completed");
            assertThat(step(run, "second", "attempts")).isEqualTo(2);
            assertThat(calls).hasSize(2).doesNotHaveDuplicates();
        }
    }

    @Test
    @DisplayName("a step that takes longer than its timeout is canceled and fails")
    void timeouts() throws Exception {
        var canceled = new CountDownLatch(1);
        try (Hub hub = empty().agents(sleeper(new CountDownLatch(1), canceled)).start()) {
            Map<?, ?> run = finished(hub, start(hub, steps("{'agent':'sleeper','task':'x','timeout':200}")));

            assertThat(run.get("state")).isEqualTo("failed");
            assertThat(String.valueOf(run.get("message"))).contains("longer than");
            assertThat(canceled.await(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static Agent sleeper(CountDownLatch begun, CountDownLatch canceled) {
        return Agent.named("sleeper", "Waits until it is canceled").handle((request, reply) -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException stop) {
                canceled.countDown();
                throw stop;
            }
        });
    }

    @Test
    @DisplayName("ONE36 canceling a run cancels its steps")
    void cancel() throws Exception {
        var begun = new CountDownLatch(1);
        var canceled = new CountDownLatch(1);
        try (Hub hub = empty().agents(sleeper(begun, canceled), echo("a")).start()) {
            String id = start(
                    hub, steps("{'agent':'sleeper','task':'x'}", "{'agent':'a','task':'x','depends':['sleeper']}"));
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

            HttpResponse<String> answer = send(hub, "DELETE", "/one/workflows/" + id, "");

            assertThat(json(answer.body()).get("state")).isEqualTo("canceled");
            assertThat(canceled.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(step(finished(hub, id), "a", "state")).isEqualTo("canceled");
        }
    }

    private Agent asking() {
        return Agent.named("asking", "Asks once").handle((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete("told " + request.text());
            } else {
                reply.askForInput("Which one?");
            }
        });
    }

    private String answer(Hub hub, String id, String text) throws Exception {
        return send(
                        hub,
                        "POST",
                        "/agents/one/message:send",
                        "{'message':{'messageId':'m-" + text + "','taskId':'" + id
                                + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}")
                .body();
    }

    @Test
    @DisplayName("the question of a step is that of the run, and is answered through the run")
    void questions() throws Exception {
        try (Hub hub = empty().agents(asking(), echo("a")).start()) {
            String id = start(
                    hub,
                    steps(
                            "{'id':'first','agent':'asking','task':'x'}",
                            "{'id':'second','agent':'asking','task':'x'}",
                            "{'agent':'a','task':'x','depends':['first','second']}"));
            Map<?, ?> waits = finished(hub, id);
            assertThat(waits.get("state")).isEqualTo("input-required");
            assertThat(waits.get("message")).isEqualTo("first: Which one?\nsecond: Which one?");

            assertThat(answer(hub, id, "red")).contains("INPUT_REQUIRED");
            assertThat(answer(hub, id, "blue")).contains("COMPLETED");

            assertThat(finished(hub, id).get("result")).isEqualTo(Map.of("a", "a(told red\ntold blue)"));
        }
    }

    private void answerStep(Hub hub, Map<?, ?> run, String step, String text) throws Exception {
        String task = String.valueOf(step(run, step, "taskId"));
        String body = "{'message':{'messageId':'direct-" + task + "','taskId':'" + task
                + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}";
        assertThat(send(hub, "POST", "/agents/asking/message:send", body).body())
                .contains("COMPLETED");
    }

    @Test
    @DisplayName("a question that was answered at the task of the step is its result when the run goes on")
    void questionsAnsweredElsewhere() throws Exception {
        try (Hub hub = empty().agents(asking(), echo("a")).start()) {
            String id = start(
                    hub,
                    steps(
                            "{'id':'first','agent':'asking','task':'x'}",
                            "{'id':'second','agent':'asking','task':'x'}",
                            "{'agent':'a','task':'x','depends':['first','second']}"));
            Map<?, ?> waits = finished(hub, id);
            answerStep(hub, waits, "first", "red");

            assertThat(answer(hub, id, "on")).contains("INPUT_REQUIRED").contains("second: Which one?");
            assertThat(answer(hub, id, "blue")).contains("COMPLETED");
            assertThat(finished(hub, id).get("result")).isEqualTo(Map.of("a", "a(told red\ntold blue)"));
        }
    }

    @Test
    @DisplayName(
            "a step whose task was canceled at its address is canceled when the run goes on, and fails nothing else")
    void questionsCanceledElsewhere() throws Exception {
        try (Hub hub = empty().agents(asking(), echo("a")).start()) {
            String id = start(
                    hub,
                    steps(
                            "{'id':'first','agent':'asking','task':'x','onError':'continue'}",
                            "{'agent':'a','task':'x','depends':['first'],'parameters':{'text':'after'}}"));
            String task = String.valueOf(step(finished(hub, id), "first", "taskId"));
            var unused = send(hub, "POST", "/agents/asking/tasks/" + task + ":cancel", "{}");

            answer(hub, id, "on");
            Map<?, ?> ended = finished(hub, id);
            assertThat(step(ended, "first", "state")).isEqualTo("canceled");
            assertThat(String.valueOf(step(ended, "first", "problem")))
                    .doesNotContain("send the message without taskId");
        }
    }

    @Test
    @DisplayName("a step that asks is canceled with the run")
    void cancelOfQuestions() throws Exception {
        try (Hub hub = empty().agents(asking()).start()) {
            String id = start(hub, steps("{'agent':'asking','task':'x'}"));
            Map<?, ?> waits = finished(hub, id);

            var unused = send(hub, "DELETE", "/one/workflows/" + id, "");

            assertThat(send(hub, "GET", "/agents/asking/tasks/" + step(waits, "asking", "taskId"), "")
                            .body())
                    .contains("TASK_STATE_CANCELED");
        }
    }

    @Test
    @DisplayName("a step may be a workflow")
    void runOfRuns() throws Exception {
        try (Hub hub = empty().agents(echo("a")).start()) {
            String inner = "{'workflow':{'steps':[{'agent':'a','task':'x','parameters':{'text':'inner'}}]}}";
            String id = start(
                    hub,
                    steps(
                            "{'id':'sub','agent':'one','task':'workflow','parameters':" + inner + "}",
                            "{'agent':'a','task':'x','depends':['sub']}"));

            assertThat(finished(hub, id).get("result")).isEqualTo(Map.of("a", "a(a(inner))"));
        }
    }

    @Test
    @DisplayName(
            "a document that is invalid, or names agents or tasks that the hub does not have, is refused with the place")
    void refusals() throws Exception {
        Agent skilled = Agent.named("skilled", "Does one thing")
                .skill("sum", "Adds")
                .handle((request, reply) -> reply.complete("x"));
        try (Hub hub = empty().agents(echo("a"), skilled).start()) {
            assertRefused(hub, steps("{'agent':'stranger','task':'x'}"), "workflow.steps[0].agent");
            assertRefused(
                    hub,
                    steps("{'agent':'a','task':'x'}", "{'agent':'skilled','task':'fly'}"),
                    "workflow.steps[1].task");
            assertRefused(hub, steps("{'agent':'a','task':'x','depends':['a']}"), "workflow.steps[0].depends");
            assertRefused(hub, "{'type':'response','workflow':{'steps':[]}}", "type");
            assertRefused(hub, "{'workflow':{'steps':[{'task':'x'}]}}", "workflow.steps[0].agent");
            for (String query : List.of("pageSize=0", "pageSize=x", "state=x", "pageToken=x")) {
                HttpResponse<String> answer = send(hub, "GET", "/one/workflows?" + query, "");
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
                assertThat(answer.body()).contains("\"field\":\"" + query.substring(0, query.indexOf('=')));
            }
        }
    }

    private void assertRefused(Hub hub, String document, String place) throws Exception {
        HttpResponse<String> answer = send(hub, "POST", "/one/workflows", document);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
        assertThat(answer.body()).contains(place);
    }

    @Test
    @DisplayName("a document in its short form, in an envelope, and as a message to the agent one starts a run")
    void forms() throws Exception {
        try (Hub hub = empty().agents(echo("a")).start()) {
            String steps = "{'steps':[{'agent':'a','task':'x','parameters':{'text':'t'}}]}";
            String bare = start(hub, "{'type':'coordination','coordinator':'c','workflow':" + steps + "}");
            String envelope = start(
                    hub, "{'version':'1.0','message':{'type':'coordination','content':{'workflow':" + steps + "}}}");
            String message = send(
                            hub,
                            "POST",
                            "/one/message:send",
                            "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'data':{'workflow':" + steps
                                    + "}}]}}")
                    .body();

            assertThat(finished(hub, bare).get("result")).isEqualTo(Map.of("a", "a(t)"));
            assertThat(finished(hub, envelope).get("state")).isEqualTo("completed");
            assertThat(message).contains("TASK_STATE_COMPLETED", "a(t)");
        }
    }

    @Test
    @DisplayName("ONE36 a run goes on after a restart: steps that had ended are not run again")
    void restart() throws Exception {
        var begun = new CountDownLatch(1);
        Agent slow = Agent.named("slow", "Waits at its first attempt")
                .resumable(true)
                .handle((request, reply) -> {
                    calls.add("slow " + request.attempt());
                    if (request.attempt() == 1) {
                        begun.countDown();
                        new CountDownLatch(1).await();
                    }
                    reply.complete("done");
                });
        String id;
        try (Hub hub =
                kept().drain(Duration.ofMillis(200)).agents(echo("a"), slow).start()) {
            id = start(
                    hub,
                    steps(
                            "{'id':'1','agent':'a','task':'x','parameters':{'text':'t'}}",
                            "{'id':'2','agent':'slow','task':'x','depends':['1']}",
                            "{'id':'3','agent':'a','task':'x','depends':['1','2']}"));
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
        }

        try (Hub hub = kept().agents(echo("a"), slow).start()) {
            Map<?, ?> run = finished(hub, id);

            assertThat(run.get("result")).isEqualTo(Map.of("3", "a(a(t)\ndone)"));
            assertThat(calls).containsExactly("a:t", "slow 1", "slow 2", "a:a(t)\ndone");
        }
    }

    @Test
    @DisplayName("the document of docs/workflows.md runs")
    void documentation() throws Exception {
        String page = Files.readString(Path.of("../docs/workflows.md"));
        String begin = "```json";
        int from = page.indexOf(begin) + begin.length();
        Agent reader = Agent.named("reader", "Reads")
                .skill("read", "Reads")
                .handle((request, reply) -> reply.complete("read " + request.text()));
        Agent writer = Agent.named("writer", "Writes")
                .skill("write", "Writes")
                .handle((request, reply) -> reply.complete("wrote: " + request.text()));
        try (Hub hub = empty().agents(reader, writer).start()) {
            String id = start(hub, page.substring(from, page.indexOf("```", from)));

            assertThat(finished(hub, id).get("result"))
                    .isEqualTo(Map.of("report", "wrote: read the facts\nread the prices"));
        }
    }
}
