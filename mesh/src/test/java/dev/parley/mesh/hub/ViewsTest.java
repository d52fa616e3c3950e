package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Views of the mesh at {@code /one}. */
@Timeout(120)
@Tag("heavy")
final class ViewsTest {
    private static final String[] V1 = {"A2A-Version", "1.0"};

    @TempDir
    private Path directory;

    private static Agent agent(String name, String skill, String tag) {
        return Agent.named(name, "Finds sources about tides")
                .skill(skill, skill, tag)
                .handle((request, reply) -> {
                    if (request.text().equals("fail")) {
                        reply.fail("broken");
                    } else {
                        reply.complete(request.text());
                    }
                });
    }

    private Hub hub() {
        return Hub.builder()
                .data(directory)
                .port(0)
                .agents(agent("researcher", "research", "facts"), agent("cook", "cook", "food"))
                .start();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> rows(Answer answer, String name) {
        return (List<Map<String, Object>>) requireNonNull(answer.at(name));
    }

    private static Set<Object> types(Answer answer) {
        return rows(answer, "events").stream().map(event -> event.get("type")).collect(Collectors.toSet());
    }

    @Test
    @DisplayName("ONE18, ONE21 agents are entities with endpoint, capabilities and tags, and are found by them")
    void entities() throws Exception {
        try (Hub hub = hub()) {
            var peer = new Peer(hub.url());
            Answer all = peer.get("/one/entities", V1);
            assertThat(rows(all, "entities").stream().map(each -> each.get("entityId")))
                    .contains("researcher", "cook", "one");
            Answer tagged = peer.get("/one/entities?tag=facts", V1);
            assertThat(rows(tagged, "entities")).hasSize(1).first().satisfies(entity -> {
                assertThat(entity).containsEntry("entityId", "researcher").containsEntry("groupId", "default");
                assertThat(entity.get("capabilities")).isEqualTo(List.of("research"));
                assertThat(entity.get("tags")).isEqualTo(List.of("facts"));
                assertThat(entity.get("endpoint")).isEqualTo(hub.agentUrl("researcher") + "/one");
            });
        }
    }

    @Test
    @DisplayName(
            "ONE19, ONE20, ONE29 a delegation leaves both connections and all four events, with their ids, paged and filtered")
    void eventsAndConnections() throws Exception {
        try (Hub hub = hub()) {
            var peer = new Peer(hub.url());
            Answer result = peer.delegate("m-1", "researcher", "research", "x", "Prefer", "wait=30");
            peer.send("m-2", "researcher", "status_update", "{'taskId':'t','progress':5}");

            Answer events = Eventually.value(
                    "four events", // written soon after the answer to their message
                    () -> peer.get("/one/events?correlationId=c-m-1", V1),
                    answer -> rows(answer, "events").size() >= 4);
            assertThat(types(events))
                    .containsExactlyInAnyOrder(
                            "a2a_message_received", "a2a_message_sent", "a2a_task_delegated", "a2a_task_completed");
            for (Map<String, Object> event : rows(events, "events")) {
                Map<?, ?> metadata = (Map<?, ?>) requireNonNull(event.get("metadata"));
                assertThat(metadata.get("messageId")).asString().isNotEmpty();
                assertThat(metadata.get("messageType")).asString().isNotEmpty();
                assertThat(metadata.get("correlationId")).isEqualTo("c-m-1");
                assertThat(metadata.get("taskId")).isEqualTo(result.content("taskId"));
                assertThat(event).containsEntry("entityId", "researcher").containsEntry("targetId", "planner");
            }
            assertThat(types(peer.get("/one/events?type=task_event&agentId=researcher", V1)))
                    .containsExactlyInAnyOrder("a2a_task_delegated", "a2a_task_completed");

            Answer first = peer.get("/one/events?pageSize=1", V1);
            Answer second = peer.get("/one/events?pageSize=1&after=" + first.text("next"), V1);
            assertThat(rows(first, "events")).hasSize(1);
            assertThat(rows(second, "events")).hasSize(1).isNotEqualTo(rows(first, "events"));

            Answer connections = Eventually.value(
                    "the connection",
                    () -> peer.get("/one/connections?agentId=planner", V1),
                    answer -> rows(answer, "connections").stream()
                            .anyMatch(each -> String.valueOf(each.get("count")).equals("2")));
            assertThat(rows(connections, "connections"))
                    .anySatisfy(each -> assertThat(each)
                            .containsEntry("type", "communicates_with")
                            .containsEntry("fromEntityId", "planner")
                            .containsEntry("toEntityId", "researcher"))
                    .anySatisfy(each -> assertThat(each)
                            .containsEntry("type", "delegated_to")
                            .containsEntry("status", "completed")
                            .containsEntry("correlationId", "c-m-1"));
        }
    }

    @Test
    @DisplayName("ONE20, ONE40 events are streamed as they come, and go on after Last-Event-ID")
    void live() throws Exception {
        try (Hub hub = hub()) {
            var peer = new Peer(hub.url());
            peer.send("m-1", "researcher", "query", "{'query':'x'}");
            Answer before = Eventually.value(
                    "two events",
                    () -> peer.get("/one/events", V1),
                    answer -> rows(answer, "events").size() >= 2);
            Object number = rows(before, "events").getFirst().get("number");
            HttpRequest follow = HttpRequest.newBuilder(URI.create(hub.url() + "/one/events"))
                    .header("A2A-Version", "1.0")
                    .header("Accept", "text/event-stream")
                    .header("Last-Event-ID", String.valueOf(number))
                    .build();
            try (Stream<String> lines =
                    peer.caller().http().send(follow, BodyHandlers.ofLines()).body()) {
                Iterator<String> events =
                        lines.filter(line -> line.startsWith("data:")).iterator();
                assertThat(events.next()).contains("\"messageId\"").doesNotContain("\"number\":" + number + ",");
                peer.send("m-2", "cook", "query", "{'query':'soup'}");
                String event = events.next();
                while (!event.contains("\"entityId\":\"cook\"")) {
                    event = events.next();
                }
                assertThat(event).contains("a2a_message");
            }
        }
    }

    @Test
    @DisplayName("AK26 conflict and feedback are events with their content, listed and streamed, and short")
    void notices() throws Exception {
        try (Hub hub = hub()) {
            var peer = new Peer(hub.url());
            HttpRequest follow = HttpRequest.newBuilder(URI.create(hub.url() + "/one/events?type=feedback"))
                    .header("A2A-Version", "1.0")
                    .header("Accept", "text/event-stream")
                    .header("Last-Event-ID", "0")
                    .build();
            Answer conflict = peer.send("m-1", "cook", "conflict", "{'about':'soup','severity':2}");
            assertThat(conflict.status()).as(conflict.body()).isEqualTo(200);
            assertThat(conflict.type()).isEqualTo("response");
            try (Stream<String> lines =
                    peer.caller().http().send(follow, BodyHandlers.ofLines()).body()) {
                peer.send("m-2", "cook", "feedback", "{'rating':5,'text':'tasty'}");
                assertThat(lines.filter(line -> line.startsWith("data:"))
                                .iterator()
                                .next())
                        .contains("\"messageType\":\"feedback\"", "tasty");
            }

            Answer listed = peer.get("/one/events?type=conflict", V1); // in the transaction of the answer
            assertThat(rows(listed, "events")).hasSize(1);
            assertThat(listed.at("events", 0, "type")).isEqualTo("a2a_message_received");
            assertThat(listed.at("events", 0, "metadata", "content", "about")).isEqualTo("soup");
            peer.send("m-1", "cook", "conflict", "{'about':'soup','severity':2}");
            assertThat(rows(peer.get("/one/events?type=conflict", V1), "events"))
                    .as("after a repetition")
                    .hasSize(1);

            Answer tooLong = peer.send("m-3", "cook", "feedback", "{'text':'" + "x".repeat(16 * 1024) + "'}");
            assertThat(tooLong.status()).isEqualTo(400);
            assertThat(tooLong.content("details", "path")).isEqualTo("message.content");
            assertThat(peer.send("m-4", "cook", "feedback", "'no object'").status())
                    .isEqualTo(400);
        }
    }

    @Test
    @DisplayName(
            "ONE34, ONE38, ONE39, AK24 agents are ranked by words, success, trust, speed and load, with the reasons as numbers")
    void ranking() throws Exception {
        Agent[] agents = {
            agent("good", "research", "facts"), agent("bad", "research", "facts"), agent("cook", "cook", "food")
        };
        try (Hub hub = Hub.builder().data(directory).port(0).agents(agents).start()) {
            var peer = new Peer(hub.url());
            for (int i = 0; i < 3; i++) {
                peer.delegate("good-" + i, "good", "research", "x", "Prefer", "wait=30");
                peer.delegate("bad-" + i, "bad", "research", "fail", "Prefer", "wait=30");
            }

            Answer ranked = Eventually.value(
                    "three tasks of the second agent",
                    () -> peer.get("/one/agents?capability=research&q=sources%20tides", V1),
                    answer -> String.valueOf(answer.at("agents", 1, "reasons", "tasks"))
                            .equals("3"));

            assertThat(rows(ranked, "agents"))
                    .extracting(each -> each.get("agentId"))
                    .containsExactly("good", "bad");
            assertThat(number(ranked, 0, "successRate")).isEqualTo(1);
            assertThat(number(ranked, 1, "successRate")).isEqualTo(0);
            assertThat(number(ranked, 0, "trust")).isGreaterThan(0.7);
            assertThat(number(ranked, 1, "trust")).isLessThan(0.3);
            assertThat(number(ranked, 0, "match")).isEqualTo(1);
            assertThat(rows(peer.get("/one/agents?q=unheard", V1), "agents")).isEmpty();
        }
    }

    private static Map<?, ?> metadata(Map<String, Object> event) {
        return (Map<?, ?>) requireNonNull(event.get("metadata"));
    }

    /** Type of an event, type and id of its message, as soon as there are so many events of an agent. */
    private static List<String> messages(Peer peer, String query, int count) throws Exception {
        Answer events = Eventually.value(
                "the events",
                () -> peer.get("/one/events?pageSize=1000&" + query, V1),
                answer -> rows(answer, "events").size() >= count);
        return rows(events, "events").stream()
                .map(each -> {
                    assertThat(metadata(each).get("messageId")).asString().isNotEmpty();
                    assertThat(metadata(each).get("correlationId")).asString().isNotEmpty();
                    return each.get("type") + " " + metadata(each).get("messageType");
                })
                .toList();
    }

    private static String message(String id, String text, String more) {
        return "{'message':{'role':'ROLE_USER','messageId':'%s','parts':[{'text':'%s'}]%s}}".formatted(id, text, more);
    }

    @Test
    @DisplayName(
            "M3, ONE20 messages of A2A are events in both directions, with id, type and correlation id: of a task, its"
                    + " question and answer, and without a task")
    void messagesOfA2a() throws Exception {
        Agent asking = Agent.named("asking", "Asks").handle((request, reply) -> {
            if (request.isFollowUp()) {
                reply.complete("done");
            } else {
                reply.askForInput("which?");
            }
        });
        Agent plain = Agent.named("plain", "Answers").handle((request, reply) -> reply.message("pong"));
        try (Hub hub =
                Hub.builder().data(directory).port(0).agents(asking, plain).start()) {
            var peer = new Peer(hub.url());
            Answer asked =
                    peer.post("/agents/asking/message:send", message("a-1", "hello", ",'contextId':'one-x'"), V1);
            peer.post(
                    "/agents/asking/message:send",
                    message("a-2", "that", ",'taskId':'" + asked.text("task", "id") + "'"),
                    V1);
            peer.post("/agents/plain/message:send", message("p-1", "ping", ""), V1);

            assertThat(messages(peer, "agentId=asking", 6))
                    .containsExactly(
                            "a2a_message_received message",
                            "a2a_task_delegated message",
                            "a2a_message_sent status_update",
                            "a2a_message_received message",
                            "a2a_message_sent task_result",
                            "a2a_task_completed task_result");
            Answer all = peer.get("/one/events?agentId=asking&type=a2a_message_received", V1);
            assertThat(rows(all, "events"))
                    .extracting(each -> String.valueOf(metadata(each).get("messageId")))
                    .containsExactly("a-1", "a-2");
            assertThat(messages(peer, "agentId=plain", 2))
                    .containsExactly("a2a_message_received message", "a2a_message_sent message");
            assertThat(rows(peer.get("/one/events?agentId=plain", V1), "events").getFirst())
                    .satisfies(
                            each -> assertThat(metadata(each).get("messageId")).isEqualTo("p-1"));
        }
    }

    @Test
    @DisplayName(
            "M3, ONE20 callbacks and refused envelopes are events: unreadable, of a wrong version, for an unknown skill, repeated")
    void callbacksAndRefusals() throws Exception {
        try (Hub hub = Hub.builder()
                        .data(directory)
                        .port(0)
                        .set("webhook-allow", "127.0.0.1")
                        .agents(agent("researcher", "research", "facts"), agent("cook", "cook", "food"))
                        .start();
                var sink = new Sink(2)) {
            var peer = new Peer(hub.url());
            peer.send(
                    "m-1",
                    "researcher",
                    "task_delegation",
                    "{'task':'research','parameters':{'text':'x'},'callback':'" + sink.url() + "'}");
            sink.until(each ->
                    each.type().equals("task_result") && each.content("status").equals("completed"));
            Answer sent = Eventually.value(
                    "the result",
                    () -> peer.get("/one/events?type=task_result&taskId=" + taskOf(peer), V1),
                    answer -> rows(answer, "events").stream()
                            .anyMatch(each -> "a2a_message_sent".equals(each.get("type"))));
            assertThat(rows(sent, "events").stream()
                            .filter(each -> "a2a_message_sent".equals(each.get("type")))
                            .map(each -> String.valueOf(metadata(each).get("messageId"))))
                    .as("ids of callbacks, one for each, however many attempts there were")
                    .doesNotHaveDuplicates()
                    .allSatisfy(id -> assertThat(id).startsWith("one-"));

            assertThat(peer.delegate("m-2", "cook", "research", "x").status()).isEqualTo(422);
            assertThat(peer.post("/agents/cook/one", "{'messageId':'m-3','correlationId':'c-3'}")
                            .status())
                    .isEqualTo(400);
            assertThat(peer.send("m-4", "cook", "query", "{'query':'x'}", "X-A2A-Version", "2.0")
                            .status())
                    .isEqualTo(400);
            assertThat(peer.send("m-5", "cook", "query", "{'query':'x'}").status())
                    .isEqualTo(200);
            assertThat(peer.send("m-5", "cook", "query", "{'query':'other'}").status())
                    .isEqualTo(400);
            Answer refused = Eventually.value(
                    "five messages",
                    () -> peer.get("/one/events?agentId=cook&type=a2a_message_received&pageSize=100", V1),
                    answer -> rows(answer, "events").size() >= 5);
            assertThat(rows(refused, "events").stream()
                            .filter(each -> metadata(each).containsKey("refused"))
                            .map(each -> metadata(each).get("messageId") + " "
                                    + metadata(each).get("refused")))
                    .containsExactly(
                            "m-2 capability_mismatch",
                            "m-3 invalid_message",
                            "m-4 invalid_message",
                            "m-5 invalid_message");
            assertThat(messages(peer, "agentId=cook&type=error", 4)).allMatch("a2a_message_sent error"::equals);
            assertThat(
                            rows(peer.get("/one/events?agentId=cook&type=a2a_message_sent&pageSize=100", V1), "events")
                                    .stream()
                                    .map(ViewsTest::metadata)
                                    .filter(each -> "error".equals(each.get("messageType")))
                                    .<Object>map(each -> each.get("code")))
                    .contains("capability_mismatch", "invalid_message")
                    .doesNotContainNull();
        }
    }

    private static Object taskOf(Peer peer) throws Exception {
        return requireNonNull(metadata(rows(peer.get("/one/events?type=a2a_task_delegated", V1), "events")
                        .getFirst())
                .get("taskId"));
    }

    @Test
    @DisplayName(
            "T8 messages that are no outcome of a task, however many and of whatever type, leave the standing of an agent as it is")
    void standing() throws Exception {
        try (Hub hub = hub()) {
            var peer = new Peer(hub.url());
            String done = String.valueOf(peer.delegate("m-1", "researcher", "research", "x", "Prefer", "wait=30")
                    .content("taskId"));
            peer.delegate("m-2", "researcher", "research", "fail", "Prefer", "wait=30");
            String path = "/one/agents?capability=research";
            Answer before = Eventually.value(
                    "two tasks of the first agent",
                    () -> peer.get(path, V1),
                    answer -> String.valueOf(answer.at("agents", 0, "reasons", "tasks"))
                            .equals("2"));

            for (int i = 0; i < 20; i++) {
                String result =
                        "{'taskId':'%s','status':'completed','result':1}".formatted(i % 2 == 0 ? done : "t-" + i);
                assertThat(peer.send("r-" + i, "researcher", "task_result", result)
                                .status())
                        .isEqualTo(200);
                peer.send("s-" + i, "researcher", "status_update", "{'taskId':'" + done + "','progress':100}");
                peer.send("q-" + i, "researcher", "query", "{'query':'result?','taskId':'" + done + "'}");
                peer.send("f-" + i, "researcher", "feedback", "{'rating':5}");
            }

            Eventually.value(
                    "20 events of feedback",
                    () -> peer.get("/one/events?type=feedback&pageSize=100", V1),
                    answer -> rows(answer, "events").size() == 20);
            Answer after = peer.get(path, V1);
            assertThat(after.text("agents", 0, "reasons", "tasks")).isEqualTo("2");
            assertThat(number(after, 0, "successRate")).isEqualTo(number(before, 0, "successRate"));
            assertThat(number(after, 0, "trust")).isEqualTo(number(before, 0, "trust"));
            assertThat(rows(peer.get("/one/connections", V1), "connections"))
                    .allSatisfy(each -> assertThat(each).containsEntry("groupId", "default"));
        }
    }

    private static double number(Answer answer, int place, String reason) {
        return ((Number) requireNonNull(answer.at("agents", place, "reasons", reason))).doubleValue();
    }

    @Test
    @DisplayName("ONE17 callers see nothing of another group's connections and events")
    void groups() throws Exception {
        try (Hub hub = Hub.builder()
                .data(directory)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(agent("researcher", "research", "facts"))
                .start()) {
            var peer = new Peer(hub.url());
            String admin = hub.bootstrapKey().orElseThrow();
            String planner = key(peer, admin, "T1", "planner");
            String stranger = key(peer, admin, "T2", "stranger");
            peer.delegate("m-1", "researcher", "research", "x", "X-Api-Key", planner);

            Eventually.value(
                    "three events",
                    () -> peer.get("/one/events", "A2A-Version", "1.0", "X-Api-Key", planner),
                    answer -> rows(answer, "events").size() >= 3);

            Answer events = peer.get("/one/events", "A2A-Version", "1.0", "X-Api-Key", stranger);
            assertThat(rows(events, "events")).isEmpty();
            Answer connections = peer.get("/one/connections", "A2A-Version", "1.0", "X-Api-Key", stranger);
            assertThat(rows(connections, "connections")).isEmpty();
            assertThat(peer.get("/one/events", V1).status()).isEqualTo(401);
        }
    }

    private static String key(Peer peer, String admin, String group, String principal) throws Exception {
        return peer.post(
                        "/admin/keys",
                        "{'group':'" + group + "','principal':'" + principal + "','scopes':[]}",
                        "X-Api-Key",
                        admin)
                .text("key");
    }

    @Test
    @DisplayName(
            "M15, M9, M12 tasks are entities, unknown parameters and types are refused, and the ranking has a cost")
    void tasksAsEntities() throws Exception {
        Agent[] agents = {
            agent("cheap", "research", "cost:0.5"), agent("dear", "research", "cost:9"), agent("cook", "cook", "food")
        };
        try (Hub hub = Hub.builder().data(directory).port(0).agents(agents).start()) {
            var peer = new Peer(hub.url());
            Answer done = peer.delegate("m-1", "cheap", "research", "x", "Prefer", "wait=30");
            peer.post("/agents/cook/message:send", message("a-1", "fail", ""), V1);

            Answer tasks = Eventually.value(
                    "two tasks",
                    () -> peer.get("/one/entities?type=task", V1),
                    answer -> rows(answer, "entities").size() == 2
                            && answer.body().contains("completed")
                            && answer.body().contains("failed"));
            assertThat(rows(tasks, "entities").getLast())
                    .containsEntry("entityId", done.content("taskId"))
                    .containsEntry("type", "task")
                    .containsEntry("groupId", "default")
                    .containsEntry("agentId", "cheap")
                    .containsEntry("delegatedBy", "planner")
                    .containsEntry("status", "completed");
            assertThat(rows(peer.get("/one/entities?type=task&agentId=cook", V1), "entities"))
                    .hasSize(1);
            for (String query :
                    List.of("entities?bogus=1", "events?agent=cook", "connections?size=1", "agents?tags=x")) {
                Answer refused = peer.get("/one/" + query, V1);
                assertThat(refused.status()).as(query).isEqualTo(400);
                assertThat(refused.body())
                        .contains(query.substring(query.indexOf('?') + 1, query.indexOf('=')), "unknown (expected: ");
            }
            assertThat(peer.get("/one/entities?type=person", V1).status()).isEqualTo(400);
            Answer ranked = peer.get("/one/agents?capability=research&q=sources", V1);
            assertThat(rows(ranked, "agents"))
                    .extracting(each -> each.get("agentId"))
                    .containsExactly("cheap", "dear");
            assertThat(number(ranked, 0, "cost")).isEqualTo(0.5);
        }
    }

    @Test
    @DisplayName("ONE16 a coordination message begins a run of a workflow, and its repetition no other")
    void coordination() throws Exception {
        String document = """
                {'coordinator':'planner','participants':['researcher','cook'],'workflow':{'steps':[
                 {'id':'a','agent':'researcher','task':'research','parameters':{'text':'fish'}},
                 {'id':'b','agent':'cook','task':'cook','parameters':{'text':'soup'},'depends':['a']}]}}""";
        try (Hub hub = hub()) {
            var peer = new Peer(hub.url());
            Answer first = peer.post("/agents/one/one", Peer.envelope("m-1", "one", "coordination", document, "{}"));
            Answer second = peer.post("/agents/one/one", Peer.envelope("m-1", "one", "coordination", document, "{}"));

            assertThat(first.status()).as(first.body()).isEqualTo(202);
            assertThat(first.content("workflowId")).isNotNull().isEqualTo(second.content("workflowId"));
            Eventually.value(
                    "the end of the workflow",
                    () -> peer.get("/one/workflows/" + first.content("workflowId"), V1),
                    answer -> answer.text("state").equals("completed"));

            Answer cyclic = peer.post(
                    "/agents/one/one",
                    Peer.envelope(
                            "m-2",
                            "one",
                            "coordination",
                            document.replace("'id':'a',", "'id':'a','depends':['b'],"),
                            "{}"));
            assertThat(cyclic.status()).isEqualTo(400);
            assertThat(cyclic.content("code")).isEqualTo("invalid_message");
        }
    }
}
