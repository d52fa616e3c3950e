package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Stored definitions, and runs that are resumed and repeated, over HTTP. */
@Timeout(120)
@Tag("heavy")
class DefinitionsHubTest {
    private static final String REPORT = "{'name':'report','description':'d','inputs':{'type':'object','properties':"
            + "{'topic':{'type':'string'},'count':{'type':'integer','minimum':1,'default':3}},'required':['topic']},"
            + "'workflow':{'steps':[{'id':'s','agent':'echo','task':'x','parameters':"
            + "{'text':'${input.topic} ${input.count}%s'}}]}}";

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
    private final AtomicBoolean broken = new AtomicBoolean(true);

    private HubBuilder agents() {
        Agent echo = Agent.named("echo", "Echoes").handle((request, reply) -> {
            calls.add(request.text());
            reply.complete(request.text());
        });
        Agent fragile = Agent.named("fragile", "Fails while it is broken").handle((request, reply) -> {
            calls.add("fragile");
            if (broken.get()) {
                reply.fail("no luck");
            } else {
                reply.complete("mended " + request.text());
            }
        });
        return Hub.builder().port(0).agents(echo, fragile);
    }

    private record Answer(int status, String body) {
        Map<?, ?> json() {
            return Json.read(body.getBytes(UTF_8), Map.class);
        }
    }

    private Answer send(Hub hub, @Nullable String key, String verb, String path, String body) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("A2A-Version", "1.0")
                .header("Accept", "application/json")
                .method(
                        verb,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')));
        if (!body.isEmpty()) {
            request.header("Content-Type", "application/json");
        }
        if (key != null) {
            request.header("X-API-Key", key);
        }
        HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
        return new Answer(answer.statusCode(), answer.body());
    }

    private Answer ok(Hub hub, String verb, String path, String body) throws Exception {
        Answer answer = send(hub, null, verb, path, body);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return answer;
    }

    private Map<?, ?> ended(Hub hub, Answer begun) throws Exception {
        String id = String.valueOf(begun.json().get("workflowId"));
        HttpRequest watch = HttpRequest.newBuilder(URI.create(hub.url() + "/one/workflows/" + id))
                .header("A2A-Version", "1.0")
                .header("Accept", "text/event-stream")
                .build();
        HttpResponse<java.util.stream.Stream<String>> events = http.send(watch, BodyHandlers.ofLines());
        try (var lines = events.body()) {
            for (Iterator<String> each = lines.iterator(); each.hasNext(); ) {
                if (each.next().matches("data:.*\"state\":\"(completed|failed|canceled)\",\"progress.*")) {
                    break;
                }
            }
        }
        return ok(hub, "GET", "/one/workflows/" + id, "").json();
    }

    private static Map<?, ?> origin(Map<?, ?> run) {
        return (Map<?, ?>) requireNonNull(run.get("origin"));
    }

    @Test
    @DisplayName(
            "M4 a definition is saved with versions, listed, shown, run by name with inputs, and deleted; also after a"
                    + " restart")
    void versions() throws Exception {
        try (Hub hub = database.kept(agents()).start()) {
            assertThat(ok(hub, "POST", "/one/definitions", REPORT.formatted(""))
                            .json()
                            .get("version"))
                    .isEqualTo(1);
            assertThat(ok(hub, "POST", "/one/definitions", REPORT.formatted(""))
                            .json()
                            .get("version"))
                    .isEqualTo(1);
            assertThat(ok(hub, "POST", "/one/definitions", REPORT.formatted("!"))
                            .json()
                            .get("version"))
                    .isEqualTo(2);
        }
        try (Hub hub = database.kept(agents()).start()) {
            Map<?, ?> newest = ok(hub, "GET", "/one/definitions/report", "").json();
            assertThat(newest.get("versions")).isEqualTo(List.of(1, 2));
            assertThat(String.valueOf(newest.get("document"))).contains("${input.count}!");
            assertThat(ok(hub, "GET", "/one/definitions/report?version=1", "")
                            .json()
                            .get("version"))
                    .isEqualTo(1);
            assertThat(ok(hub, "GET", "/one/definitions", "").body()).contains("\"name\":\"report\"", "\"steps\":1");

            Map<?, ?> run =
                    ended(hub, ok(hub, "POST", "/one/workflows", "{'definition':'report','inputs':{'topic':'tides'}}"));
            assertThat(run.get("result")).isEqualTo(Map.of("s", "tides 3!"));
            assertThat(run.get("origin"))
                    .isEqualTo(Map.of(
                            "definition", "report", "version", 2, "inputs", Map.of("topic", "tides", "count", 3)));
            Map<?, ?> old = ended(
                    hub,
                    ok(
                            hub,
                            "POST",
                            "/one/workflows",
                            "{'definition':'report','version':1,'inputs':{'topic':'x','count':9}}"));
            assertThat(old.get("result")).isEqualTo(Map.of("s", "x 9"));
            assertThat(ok(
                                    hub,
                                    "POST",
                                    "/one/message:send",
                                    "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'data':{'definition':'report','inputs':{'topic':'y'}}}]}}")
                            .body())
                    .contains("y 3!");
            Map<?, ?> nested = ended(
                    hub,
                    ok(
                            hub,
                            "POST",
                            "/one/workflows",
                            "{'workflow':{'steps':[{'id':'sub','agent':'one','task':'workflow','parameters':{'definition':'report','inputs':{'topic':'z'}}}]}}"));
            assertThat(nested.get("result")).isEqualTo(Map.of("sub", "z 3!"));
            Map<?, ?> again = ended(hub, ok(hub, "POST", "/one/workflows/" + old.get("workflowId") + "/repeat", ""));
            assertThat(again.get("result")).isEqualTo(Map.of("s", "x 9"));
            assertThat(origin(again).get("repeats")).isEqualTo(old.get("workflowId"));

            ok(hub, "DELETE", "/one/definitions/report?version=2", "");
            assertThat(ok(hub, "GET", "/one/definitions/report", "").json().get("version"))
                    .isEqualTo(1);
            assertThat(ok(hub, "POST", "/one/definitions", REPORT.formatted("?"))
                            .json()
                            .get("version"))
                    .as("the number of a deleted version is not used again")
                    .isEqualTo(3);
            ok(hub, "DELETE", "/one/definitions/report", "");
            assertThat(send(hub, null, "GET", "/one/definitions/report", "").status())
                    .isEqualTo(404);
            assertThat(send(hub, null, "DELETE", "/one/definitions/report", "").status())
                    .isEqualTo(404);
            assertThat(send(hub, null, "POST", "/one/workflows", "{'definition':'report'}")
                            .body())
                    .contains("\"field\":\"definition\"");
            assertThat(ok(hub, "GET", "/one/definitions", "").json().get("definitions"))
                    .isEqualTo(List.of());
        }
    }

    @ParameterizedTest
    @DisplayName("M4 M9 a definition that is wrong, or inputs that do not fit, are refused with the place")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "definitions; {'workflow':{'steps':[]}}; name",
                "definitions; {'name':'../x','workflow':{'steps':[{'agent':'echo','task':'x'}]}}; name",
                "definitions; {'name':'a','steps':[]}; steps",
                "definitions;"
                        + " {'name':'a','inputs':{'type':'text'},'workflow':{'steps':[{'agent':'echo','task':'x'}]}};"
                        + " inputs.type",
                "definitions;"
                        + " {'name':'a','inputs':{'properties':{'x':{'pattern':'x'}}},'workflow':{'steps':[{'agent':'echo','task':'x'}]}};"
                        + " inputs.properties.x.pattern",
                "definitions;"
                        + " {'name':'a','inputs':{'properties':{'x':{}}},'workflow':{'steps':[{'agent':'echo','task':'x','parameters':{'t':'${input.y}'}}]}};"
                        + " workflow.steps[0].parameters.t",
                "workflows; {'definition':'report'}; inputs.topic",
                "workflows; {'definition':'report','inputs':{'topic':7}}; inputs.topic",
                "workflows; {'definition':'report','inputs':{'topic':'x','count':0}}; inputs.count",
                "workflows; {'definition':'report','inputs':{'topic':'x','more':0}}; inputs.more",
                "workflows; {'definition':'report','version':7,'inputs':{'topic':'x'}}; version",
                "workflows; {'definition':'report','version':'1','inputs':{'topic':'x'}}; version",
                "workflows; {'definition':'report','input':{'topic':'x'}}; input",
                "workflows; {'workflow':{'steps':[{'agent':'echo','task':'x','dependsOn':['y']}]}};"
                        + " workflow.steps[0].dependsOn",
                "workflows; {'workflow':{'steps':[{'agent':'echo','task':'x','retryPolicy':{'retries':1}}]}};"
                        + " workflow.steps[0].retryPolicy.retries",
                "workflows;"
                        + " {'workflow':{'steps':[{'id':'v','vote':{'question':'q','options':['a','b'],'voters':['echo'],'x':1}}]}};"
                        + " workflow.steps[0].vote.x",
                "workflows; {'workflow':{'steps':[{'agent':'echo','task':'x'}],'name':'w'}}; workflow.name",
                "workflows; {'steps':[],'workflow':{'steps':[{'agent':'echo','task':'x'}]}}; steps",
                "workflows; {'workflow':{'steps':[{'agent':'echo','task':'x','timeout':null}]}}; null (expected: a"
                        + " whole number of milliseconds",
                "workflows; {'workflow':{'steps':[{'agent':'echo','task':'x','timeout':'soon'}]}};"
                        + " workflow.steps[0].timeout",
                "workflows; {'workflow':{'steps':[{'agent':'echo','task':'x','timeout':{}}]}}; {} (expected: a whole"
                        + " number of milliseconds",
                "workflows; {'workflow':{'steps':[{'agent':{'capability':'x','tag':'y'}}]}};"
                        + " workflow.steps[0].agent.tag",
                "votes; {'vote':{'question':'q','options':['a','b'],'voters':['x'],'votes':2}}; vote.votes"
            })
    void refused(String resource, String body, String place) throws Exception {
        try (Hub hub = database.empty(agents()).start()) {
            ok(hub, "POST", "/one/definitions", REPORT.formatted(""));

            Answer answer = send(hub, null, "POST", "/one/" + resource, body);

            assertThat(answer.status()).as(answer.body()).isEqualTo(400);
            assertThat(answer.body().replace("\\\"", "\"")).contains(place).doesNotContain("java.lang");
            assertThat(calls).isEmpty();
        }
    }

    @Test
    @DisplayName("T13 numbers may be texts, for each member")
    void numbers() throws Exception {
        try (Hub hub = database.empty(agents()).start()) {
            Map<?, ?> run = ended(
                    hub,
                    ok(
                            hub,
                            "POST",
                            "/one/workflows",
                            "{'workflow':{'steps':[{'agent':'echo','task':'x','timeout':'60000','retryPolicy':{'maxRetries':'5'}}]}}"));
            assertThat(run.get("state")).isEqualTo("completed");
        }
    }

    @Test
    @DisplayName(
            "M4 ONE36 a failed run is resumed: steps that completed are not run again, and their results are handed on")
    void resume() throws Exception {
        List<String> steps = List.of(
                "{'id':'a','agent':'echo','task':'x','parameters':{'text':'one'}}",
                "{'id':'b','agent':'fragile','task':'x','depends':['a']}",
                "{'id':'c','agent':'echo','task':'x','parameters':{'text':'${a.text} and ${b.text}'}}");
        String id;
        try (Hub hub = database.kept(agents()).start()) {
            Map<?, ?> failed = ended(
                    hub, ok(hub, "POST", "/one/workflows", "{'workflow':{'steps':[" + String.join(",", steps) + "]}}"));
            assertThat(failed.get("state")).isEqualTo("failed");
            id = String.valueOf(failed.get("workflowId"));
            Map<?, ?> still = ended(hub, ok(hub, "POST", "/one/workflows/" + id + "/resume", ""));
            assertThat(still.get("state")).isEqualTo("failed");
            id = String.valueOf(still.get("workflowId"));
        }
        broken.set(false);
        try (Hub hub = database.kept(agents()).start()) {
            Map<?, ?> run = ended(hub, ok(hub, "POST", "/one/workflows/" + id + "/resume", ""));

            assertThat(run.get("state")).as("%s", run).isEqualTo("completed");
            assertThat(run.get("result")).isEqualTo(Map.of("c", "one and mended one"));
            assertThat(origin(run).get("resumes")).isEqualTo(id);
            assertThat(new ArrayList<>(calls))
                    .containsExactly("one", "fragile", "fragile", "fragile", "one and mended one");

            Answer refused = send(hub, null, "POST", "/one/workflows/" + run.get("workflowId") + "/resume", "");
            assertThat(refused.status()).isEqualTo(400);
            assertThat(refused.body()).contains("completed (expected: failed or canceled)");
            assertThat(send(hub, null, "POST", "/one/workflows/none/resume", "").status())
                    .isEqualTo(404);
            assertThat(send(hub, null, "POST", "/one/workflows/none/repeat", "").status())
                    .isEqualTo(404);
        }
    }

    @Test
    @DisplayName(
            "M4 another hub of the same database, at another address, runs, resumes and repeats what the first one kept")
    void otherHub() throws Exception {
        String failed;
        String done;
        try (Hub hub = database.kept(agents()).start()) {
            ok(hub, "POST", "/one/definitions", REPORT.formatted(""));
            ok(
                    hub,
                    "POST",
                    "/one/definitions",
                    "{'name':'Prüfung 検査','inputs':{'properties':{'t':{'type':'string'}}},'workflow':{'steps':["
                            + "{'id':'a','agent':'echo','task':'x','parameters':{'text':'${input.t}'}},"
                            + "{'id':'b','agent':'fragile','task':'x','depends':['a']}]}}");
            Map<?, ?> run = ended(
                    hub,
                    ok(hub, "POST", "/one/workflows", "{'definition':'Prüfung 検査','inputs':{'t':'nul \\u0000, 😀'}}"));
            assertThat(run.get("state")).isEqualTo("failed");
            failed = String.valueOf(run.get("workflowId"));
            done = String.valueOf(
                    ended(hub, ok(hub, "POST", "/one/workflows", "{'definition':'report','inputs':{'topic':'x'}}"))
                            .get("workflowId"));
        }
        broken.set(false);
        try (Hub hub = database.elsewhere(agents()).start()) {
            Map<?, ?> run = ended(
                    hub,
                    ok(hub, "POST", "/one/workflows", "{'definition':'report','version':1,'inputs':{'topic':'y'}}"));
            assertThat(run.get("result")).isEqualTo(Map.of("s", "y 3"));
            Map<?, ?> resumed = ended(hub, ok(hub, "POST", "/one/workflows/" + failed + "/resume", ""));
            assertThat(resumed.get("result")).isEqualTo(Map.of("b", "mended nul \0, 😀"));
            assertThat(origin(resumed).get("definition")).isEqualTo("Prüfung 検査");
            assertThat(ended(hub, ok(hub, "POST", "/one/workflows/" + done + "/repeat", ""))
                            .get("result"))
                    .isEqualTo(Map.of("s", "x 3"));
            assertThat(new ArrayList<>(calls))
                    .containsExactly(
                            "nul \0, 😀", "fragile", "x 3", "y 3", "fragile", "x 3"); // the first step is not run again
        }
    }

    @Test
    @DisplayName(
            "M4 documents that are saved at the same time become versions of their own, and names come in pages once")
    void manySaves() throws Exception {
        try (Hub hub = database.empty(agents()).start();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Answer>> saves = IntStream.range(0, 12)
                    .mapToObj(i -> threads.submit(() -> ok(hub, "POST", "/one/definitions", REPORT.formatted(i))))
                    .toList();
            var versions = new TreeSet<Object>();
            for (Future<Answer> save : saves) {
                versions.add(requireNonNull(save.get().json().get("version")));
            }
            assertThat(versions).hasSize(12).contains(1, 12);

            List<String> names = List.of("B", "a", "a-b", "a.b", "ab", "b", "report", "ä", "翻訳", "𝒳");
            for (String name : names) {
                ok(hub, "POST", "/one/definitions", REPORT.formatted("").replace("report", name));
            }
            var listed = new ArrayList<String>();
            String token = "";
            do {
                Map<?, ?> page = ok(
                                hub,
                                "GET",
                                "/one/definitions?pageSize=3&pageToken=" + URLEncoder.encode(token, UTF_8),
                                "")
                        .json();
                for (Object each : (List<?>) requireNonNull(page.get("definitions"))) {
                    listed.add(String.valueOf(((Map<?, ?>) each).get("name")));
                }
                token = page.get("nextPageToken") instanceof String next ? next : "";
            } while (!token.isEmpty());
            assertThat(listed).isEqualTo(names);
        }
    }

    @Test
    @DisplayName("M4 definitions and runs of other groups do not exist")
    void groups() throws Exception {
        Callers callers = Callers.builder()
                .apiKey("ann", "key-of-ann-12345")
                .apiKey("bob", "key-of-bob-12345")
                .group("ann", "north")
                .group("bob", "south")
                .build();
        try (Hub hub = database.empty(agents())
                .callers(callers)
                .authentication(Authentication.of(Scheme.API_KEY))
                .start()) {
            assertThat(send(hub, "key-of-ann-12345", "POST", "/one/definitions", REPORT.formatted(""))
                            .status())
                    .isEqualTo(200);
            Answer run = send(
                    hub,
                    "key-of-ann-12345",
                    "POST",
                    "/one/workflows",
                    "{'definition':'report','inputs':{'topic':'t'}}");
            String path = "/one/workflows/" + run.json().get("workflowId");

            for (String[] call : new String[][] {
                {"GET", "/one/definitions/report"},
                {"DELETE", "/one/definitions/report"},
                {"POST", path + "/resume"},
                {"POST", path + "/repeat"}
            }) {
                assertThat(send(hub, "key-of-bob-12345", call[0], call[1], "").status())
                        .as(call[0] + " " + call[1])
                        .isEqualTo(404);
            }
            assertThat(send(hub, "key-of-bob-12345", "GET", "/one/definitions", "")
                            .body())
                    .doesNotContain("report");
            assertThat(send(hub, "key-of-bob-12345", "POST", "/one/definitions", REPORT.formatted("bob"))
                            .json()
                            .get("version"))
                    .isEqualTo(1);
        }
    }
}
