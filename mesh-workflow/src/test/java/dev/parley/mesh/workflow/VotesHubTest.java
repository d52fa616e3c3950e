package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.mesh.workflow.WorkflowOperation.GetVote;
import dev.parley.mesh.workflow.WorkflowOperation.VoteView;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Votes on a hub, over HTTP and as steps of workflows. */
@Timeout(120)
@Tag("heavy")
class VotesHubTest {
    private static final String VOTE =
            "{'vote':{'question':'Which?','options':['red','blue'],'voters':['bob','carol','dave'],'quorum':2%s}}";

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

    private static String key(String caller) {
        return "key-of-" + caller + "-12345";
    }

    private static HubBuilder closed() {
        Callers.Builder callers = Callers.builder();
        for (String caller : List.of("alice", "bob", "carol", "dave", "mallory")) {
            callers.apiKey(caller, key(caller));
        }
        return Hub.builder().port(0).callers(callers.build()).authentication(Authentication.of(Scheme.API_KEY));
    }

    private HttpResponse<String> send(Hub hub, @Nullable String caller, String verb, String path, String body)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("A2A-Version", "1.0")
                .header("Content-Type", "application/json")
                .method(verb, BodyPublishers.ofString(body.replace('\'', '"')));
        if (caller != null) {
            request.header("X-API-Key", key(caller));
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private static Map<?, ?> json(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return Json.read(answer.body().getBytes(UTF_8), Map.class);
    }

    private static Map<?, ?> member(Map<?, ?> json, String name) {
        return (Map<?, ?>) requireNonNull(json.get(name));
    }

    private String start(Hub hub, @Nullable String caller, String more) throws Exception {
        Map<?, ?> vote = json(send(hub, caller, "POST", "/one/votes", VOTE.formatted(more)));
        assertThat(vote.get("state")).isEqualTo("input-required");
        return String.valueOf(vote.get("voteId"));
    }

    private HttpResponse<String> cast(Hub hub, String caller, String vote, String option) throws Exception {
        return send(hub, caller, "POST", "/one/votes/" + vote + "/ballots", "{'option':'" + option + "'}");
    }

    private List<String> listed(Hub hub, @Nullable String caller, String query) throws Exception {
        Map<?, ?> page = json(send(hub, caller, "GET", "/one/votes" + query, ""));
        return ((List<?>) requireNonNull(page.get("votes")))
                .stream()
                        .map(vote -> String.valueOf(((Map<?, ?>) vote).get("voteId")))
                        .toList();
    }

    @Test
    @DisplayName("AK25 votes that wait are listed for the voters that have not cast their ballots")
    void waitingVotes() throws Exception {
        HubBuilder hubs = closed().callers(Callers.builder()
                .apiKey("alice", key("alice"))
                .apiKey("bob", key("bob"))
                .apiKey("carol", key("carol"))
                .apiKey("dave", key("dave"))
                .apiKey("mallory", key("mallory"))
                .apiKey("gus", key("gus"))
                .group("gus", "others")
                .build());
        try (Hub hub = database.empty(hubs).start()) {
            String first = start(hub, "alice", "");
            String second = start(hub, "carol", "");
            send(hub, "alice", "POST", "/one/workflows", "{'workflow':{'steps':[]}}"); // refused, and no vote

            assertThat(listed(hub, "bob", "?waiting=true")).containsExactly(second, first);
            assertThat(listed(hub, "alice", "?waiting=true")).isEmpty(); // no voter
            assertThat(listed(hub, "alice", "")).containsExactly(first); // began it
            assertThat(listed(hub, "mallory", "")).isEmpty();
            assertThat(listed(hub, "gus", "")).isEmpty();

            json(cast(hub, "bob", first, "red"));
            assertThat(listed(hub, "bob", "?waiting=true")).containsExactly(second);
            assertThat(listed(hub, "bob", "")).containsExactlyInAnyOrder(second, first);
            json(cast(hub, "carol", first, "red"));
            json(cast(hub, "dave", first, "red"));
            assertThat(listed(hub, "dave", "?waiting=true")).containsExactly(second);

            Map<?, ?> page = json(send(hub, "bob", "GET", "/one/votes?pageSize=1", ""));
            String next = String.valueOf(page.get("nextPageToken"));
            assertThat(listed(hub, "bob", "?pageSize=1&pageToken=" + next)).containsExactly(second);
            assertThat(send(hub, "bob", "GET", "/one/votes?waiting=true&pageToken=" + next, "")
                            .statusCode())
                    .as("a token of another list")
                    .isEqualTo(400);
        }
    }

    @Test
    @DisplayName("AK25 a list of votes with a wrong parameter is refused with its name")
    void wrongListsOfVotes() throws Exception {
        try (Hub hub = database.empty(closed()).start()) {
            for (String query :
                    List.of("pageSize=0", "pageSize=101", "pageToken=none", "pageToken=1x:2", "waiting=maybe")) {
                HttpResponse<String> refused = send(hub, "bob", "GET", "/one/votes?" + query, "");
                assertThat(refused.statusCode()).as(query).isEqualTo(400);
                assertThat(refused.body()).contains(query.substring(0, query.indexOf('=')));
            }
            assertThat(send(hub, null, "GET", "/one/votes", "").statusCode()).isEqualTo(401);
        }
    }

    @Test
    @DisplayName("AK25 on a hub without authentication all open votes wait")
    void votesOfAnOpenHub() throws Exception {
        try (Hub hub = database.empty(Hub.builder().port(0)).start()) {
            String id = start(hub, null, "");

            assertThat(listed(hub, null, "?waiting=true")).containsExactly(id);
            String method = "{'jsonrpc':'2.0','id':1,'method':'one/votes/list','params':{'waiting':true}}";
            assertThat(send(hub, null, "POST", "/agents/one", method).body()).contains(id);
        }
    }

    @Test
    @DisplayName("AK25 a vote is started by the API, named voters cast one ballot each, and its outcome is read")
    void ballots() throws Exception {
        try (Hub hub = database.empty(closed()).start()) {
            String id = start(hub, "alice", "");
            String path = "/one/votes/" + id;

            Map<?, ?> first = json(cast(hub, "bob", id, "Red"));
            assertThat(first.get("voted")).isEqualTo(List.of("bob"));
            assertThat(first.containsKey("outcome")).isFalse();
            assertThat(json(cast(hub, "bob", id, "red")).get("voted")).isEqualTo(List.of("bob"));
            assertThat(cast(hub, "bob", id, "blue").body()).contains("option", "the ballot that \\\"bob\\\" has cast");
            assertThat(cast(hub, "carol", id, "green").body()).contains("option", "expected: one of red, blue");
            assertThat(json(cast(hub, "carol", id, "blue")).get("state")).isEqualTo("input-required");

            Map<?, ?> last = json(cast(hub, "dave", id, "blue"));

            assertThat(last.get("state")).isEqualTo("completed");
            assertThat(last).isEqualTo(json(send(hub, "alice", "GET", path, "")));
            Map<?, ?> outcome = member(last, "outcome");
            assertThat(outcome.get("outcome")).isEqualTo("decided");
            assertThat(outcome.get("winner")).isEqualTo("blue");
            assertThat(outcome.get("counts")).isEqualTo(Map.of("red", 1, "blue", 2));
            assertThat(outcome.get("ballots")).isEqualTo(Map.of("bob", "red", "carol", "blue", "dave", "blue"));
            assertThat(json(cast(hub, "dave", id, "blue"))).isEqualTo(last);
        }
    }

    @Test
    @DisplayName("AK25 others than the voters and the starter of a vote neither vote nor see it")
    void strangers() throws Exception {
        try (Hub hub = database.empty(closed()).start()) {
            String id = start(hub, "alice", "");

            assertThat(cast(hub, "mallory", id, "red").statusCode()).isEqualTo(404);
            assertThat(send(hub, "mallory", "GET", "/one/votes/" + id, "").statusCode())
                    .isEqualTo(404);
            assertThat(cast(hub, "alice", id, "red").statusCode()).isEqualTo(403);
            assertThat(send(hub, "bob", "POST", "/one/votes/" + id + "/ballots", "{'option':'red','voter':'carol'}")
                            .statusCode())
                    .isEqualTo(403);
            assertThat(send(hub, null, "GET", "/one/votes/" + id, "").statusCode())
                    .isEqualTo(401);
            assertThat(message(hub, "alice", id, "red").body()).contains("INPUT_REQUIRED");
            assertThat(message(hub, "bob", id, "red").statusCode()).isEqualTo(404);

            assertThat(json(send(hub, "alice", "GET", "/one/votes/" + id, "")).get("voted"))
                    .isEqualTo(List.of());
        }
    }

    /** Sends a text to the task of a vote, which names another voter. */
    private HttpResponse<String> message(Hub hub, String caller, String vote, String text) throws Exception {
        return send(
                hub,
                caller,
                "POST",
                "/agents/one/message:send",
                "{'message':{'messageId':'m','taskId':'" + vote + "','role':'ROLE_USER','parts':[{'text':'" + text
                        + "'}],'metadata':{'one/voter':'carol'}}}");
    }

    @Test
    @DisplayName("AK25 a vote ends at its deadline, also after a restart, and a missed quorum has an outcome")
    void deadline() throws Exception {
        String id;
        try (Hub hub = database.kept(closed()).start()) {
            id = start(hub, "alice", ",'deadline':" + (System.currentTimeMillis() + 6_000));
            assertThat(json(cast(hub, "bob", id, "red")).get("state")).isEqualTo("input-required");
        }
        try (Hub hub = database.kept(closed()).start();
                AgentClient alice = AgentClient.builder().apiKey(key("alice")).connect(hub.url() + "/one")) {
            await(alice, id);

            VoteView vote = alice.call(new GetVote(id), CallContext.anonymous());
            assertThat(vote.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(requireNonNull(vote.outcome()).outcome()).isEqualTo(Vote.Outcome.Kind.NO_QUORUM);
            assertThat(vote.outcome().missing()).containsExactly("carol", "dave");
            assertThat(cast(hub, "carol", id, "red").body()).contains("The vote has ended");
        }
    }

    /** Waits for the end of a task, which the deadline of its test bounds. */
    private static void await(AgentClient agent, String task) {
        if (!agent.task(task).state().isTerminal()) {
            try (var events = agent.subscribe(task)) {
                events.forEachRemaining(event -> {});
            }
        }
    }

    @Test
    @DisplayName("a vote that is canceled takes no more ballots")
    void cancel() throws Exception {
        try (Hub hub = database.empty(closed()).start()) {
            String id = start(hub, "alice", "");

            assertThat(send(hub, "bob", "DELETE", "/one/workflows/" + id, "").statusCode())
                    .isEqualTo(404);
            assertThat(json(send(hub, "alice", "DELETE", "/one/workflows/" + id, ""))
                            .get("state"))
                    .isEqualTo("canceled");
            assertThat(cast(hub, "bob", id, "red").body()).contains("The vote has ended");
        }
    }

    @Test
    @DisplayName("without authentication ballots name their voters")
    void open() throws Exception {
        try (Hub hub = database.empty(Hub.builder().port(0)).start()) {
            String id = start(hub, null, "");
            for (String voter : List.of("bob", "carol", "dave")) {
                var unused = json(send(
                        hub,
                        null,
                        "POST",
                        "/one/votes/" + id + "/ballots",
                        "{'option':'red','voter':'" + voter + "'}"));
            }

            assertThat(member(json(send(hub, null, "GET", "/one/votes/" + id, "")), "outcome")
                            .get("winner"))
                    .isEqualTo("red");
        }
    }

    @Test
    @DisplayName("an invalid vote is refused with the place of the member")
    void invalid() throws Exception {
        try (Hub hub = database.empty(Hub.builder().port(0)).start()) {
            assertThat(send(hub, null, "POST", "/one/votes", VOTE.formatted(",'rule':'loudest'"))
                            .body())
                    .contains("vote.rule", "INVALID_ARGUMENT");
            assertThat(send(hub, null, "POST", "/one/votes", VOTE.formatted(",'deadline':1"))
                            .body())
                    .contains("vote.deadline", "INVALID_ARGUMENT");
            String both = VOTE.formatted("").replaceFirst("\\}$", ",'workflow':{}}");
            assertThat(json(send(hub, null, "POST", "/one/votes", both)).get("state"))
                    .isEqualTo("input-required");
            assertThat(send(hub, null, "POST", "/one/votes", "{}").body()).contains("vote", "INVALID_ARGUMENT");
        }
    }

    // ---- Steps

    private static Agent voter(String name, String option) {
        return Agent.named(name, "Votes").skill("anything", "Votes").handle((request, reply) -> reply.complete(option));
    }

    private static Task run(Hub hub, String document) {
        try (AgentClient one = AgentClient.connect(hub.url() + "/one")) {
            return (Task) one.send(
                    Message.user(Part.data(Json.read(document.replace('\'', '"').getBytes(UTF_8), Map.class))));
        }
    }

    private static String reason(Task run) {
        return run.status().message() == null ? "" : run.status().message().text();
    }

    @Test
    @DisplayName("AK25 a step may be a vote of agents, whose outcome is handed on")
    void step() throws Exception {
        String page = Files.readString(Path.of("../docs/workflows.md"));
        int from = page.indexOf("```json", page.indexOf("## Votes")) + "```json".length();
        String document = page.substring(from, page.indexOf("```", from));
        Agent writer = Agent.named("writer", "Writes")
                .inputModes("application/json")
                .handle((request, reply) -> reply.complete(new String(Json.write(request.parts()), UTF_8)));
        Agent asked = Agent.named("ann", "Votes")
                .handle((request, reply) -> reply.complete(
                        request.text().endsWith("Answer with one of: publish, revise") ? "Publish" : "?"));
        try (Hub hub = database.empty(Hub.builder().port(0))
                .agents(asked, voter("ben", "publish"), voter("cleo", "revise"), writer)
                .start()) {
            Task run = run(hub, document);

            assertThat(run.state()).as(reason(run)).isEqualTo(TaskState.COMPLETED);
            assertThat(run.artifacts().toString()).contains("decided", "winner", "publish", "cleo", "revise");
            assertThat(run.metadata().toString()).contains("one/step/choice/ann");
        }
    }

    @Test
    @DisplayName("AK25 a step that decides nothing fails; voters that fail, ask or are late have no ballot")
    void undecided() throws Exception {
        Agent failing = Agent.named("failing", "Fails").handle((request, reply) -> reply.fail("no"));
        Agent asking = Agent.named("asking", "Asks").handle((request, reply) -> reply.askForInput("Why?"));
        Agent late = Agent.named("late", "Never ends").handle((request, reply) -> new CountDownLatch(1).await());
        try (Hub hub = database.empty(Hub.builder().port(0))
                .agents(voter("a", "x"), voter("b", "y"), failing, asking, late)
                .start()) {
            String vote = "{'workflow':{'steps':[{'id':'v','timeout':300,'vote':{'question':'?','options':['x','y'],"
                    + "'voters':['a','failing','asking','late'%s],'rule':'plurality','quorum':%d}}]}}";
            Task decided = run(hub, vote.formatted("", 1));
            Task tied = run(hub, vote.formatted(",'b'", 1));
            Task missed = run(hub, vote.formatted("", 2));

            assertThat(decided.state()).as(reason(decided)).isEqualTo(TaskState.COMPLETED);
            assertThat(decided.artifacts().toString()).contains("missing", "failing", "asking", "late");
            assertThat(tied.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(tied)).contains("v: tied: x 1, y 1");
            assertThat(missed.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(missed)).contains("v: no-quorum");
        }
    }

    @Test
    @DisplayName("an invalid step with a vote is refused with its place")
    void invalidSteps() throws Exception {
        try (Hub hub =
                database.empty(Hub.builder().port(0)).agents(voter("a", "x")).start()) {
            String vote = "'vote':{'question':'?','options':['x','y'],'voters':['%s']}";
            assertRefused(hub, "{" + vote.formatted("stranger") + "}", "workflow.steps[0].vote.voters[0]");
            assertRefused(hub, "{" + vote.formatted("one") + "}", "workflow.steps[0].vote.voters[0]");
            assertRefused(hub, "{'agent':'a'," + vote.formatted("a") + "}", "workflow.steps[0].agent");
            assertRefused(hub, "{'task':'sing'," + vote.formatted("a") + "}", "workflow.steps[0].task");
            assertRefused(hub, "{'onError':'retry'," + vote.formatted("a") + "}", "workflow.steps[0].onError");
            assertRefused(
                    hub,
                    "{'id':'v/a','agent':'a','task':'anything'},{'id':'v'," + vote.formatted("a") + "}",
                    "workflow.steps[1].id");
        }
    }

    private static void assertRefused(Hub hub, String steps, String place) {
        Task run = run(hub, "{'workflow':{'steps':[" + steps + "]}}");
        assertThat(run.state()).isEqualTo(TaskState.REJECTED);
        assertThat(reason(run)).contains(place + ":");
    }
}
