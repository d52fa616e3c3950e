package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Frames;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One id names one task in every dialect, also after callers of 0.1 and the Agentic Kernel have gone on with an ended task. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class OneIdTest {
    private static final String KERNEL = "/kernel";

    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .webhookAllow(List.of("127.0.0.1"))
            .agents(new MatrixAgents().all())
            .start();
    private final Outsider outsider = new Outsider(hub.url());

    @AfterAll
    void stop() {
        hub.close();
    }

    private Shown older(String suffix, String agent, String method, String params) throws Exception {
        return outsider.result("/agents/" + agent + suffix, method, "{" + params + "}");
    }

    private static String text(String text) {
        return "'message':{'role':'user','parts':[{'type':'text','text':'" + text + "'}]}";
    }

    private static String length(String suffix, int length) {
        return (suffix.equals(KERNEL) ? "'history_length':" : "'historyLength':") + length;
    }

    private Shown newer(String agent, String method, String params) throws Exception {
        return outsider.result("/agents/" + agent, method, params, "A2A-Version", "1.0");
    }

    private static List<String> said(Shown task, String member, String text) {
        return IntStream.range(0, task.at(member).size())
                .mapToObj(i -> task.at(member, i, "parts", 0, text).text())
                .toList();
    }

    @ParameterizedTest
    @CsvSource({"/kernel,", "/kernel, chosen-kernel", "'',", "'', chosen-first"})
    @DisplayName(
            "AK06, D1: the id of an ended task shows the whole conversation, and the newest task in other dialects")
    void anIdShowsTheNewestTaskEverywhere(String suffix, @Nullable String chosen) throws Exception {
        // 0.1 makes the caller choose; a caller of the Kernel may leave the id to the server.
        String id = chosen != null || suffix.equals(KERNEL)
                ? older(suffix, "echo", "tasks/send", (chosen == null ? "" : "'id':'" + chosen + "',") + text("first"))
                        .at("id")
                        .text()
                : newer(
                                "echo",
                                "SendMessage",
                                "{'message':{'messageId':'m-one-id','role':'ROLE_USER','parts':[{'text':'first'}]}}")
                        .at("task", "id")
                        .text();
        var shown = new ArrayList<Shown>();
        for (String text : List.of("second", "third")) {
            shown.add(
                    older(suffix, "echo", "tasks/send", "'id':'" + id + "'," + length(suffix, 100) + "," + text(text)));
        }

        assertThat(said(shown.getFirst(), "history", "text")).containsExactly("first", "second");
        assertThat(said(shown.getLast(), "history", "text")).containsExactly("first", "second", "third");
        for (String each : List.of(KERNEL, "")) {
            Shown read = older(each, "echo", "tasks/get", "'id':'" + id + "'," + length(each, 100));
            assertThat(said(read, "history", "text")).containsExactly("first", "second", "third");
            Shown last = older(each, "echo", "tasks/get", "'id':'" + id + "'," + length(each, 2));
            assertThat(said(last, "history", "text")).containsExactly("second", "third");
        }
        Shown task = newer("echo", "GetTask", "{'id':'" + id + "'}");
        assertThat(said(task, "history", "text")).containsExactly("third");
        assertThat(task.at("history", 0, "referenceTaskIds").size()).isEqualTo(1);
        Shown vault = older("/agentvault", "echo", "tasks/get", "'id':'" + id + "'");
        assertThat(said(vault, "messages", "content")).containsExactly("third");
        assertThat(vault.at("id").text()).isEqualTo(task.at("id").text());
    }

    @ParameterizedTest
    @ValueSource(strings = {KERNEL, ""})
    @DisplayName("AK06, D1: an id is subscribed to, watched by webhook, continued and canceled in other dialects")
    void anIdIsUsedEverywhere(String suffix) throws Exception {
        String id = "used-" + suffix.length();
        older(suffix, "asks", "tasks/send", "'id':'" + id + "'," + text("enough"));
        older(suffix, "asks", "tasks/send", "'id':'" + id + "'," + text("hello"));
        String newest = newer("asks", "GetTask", "{'id':'" + id + "'}").at("id").text();

        try (Frames frames =
                outsider.stream("/agents/asks", "SubscribeToTask", "{'id':'" + id + "'}", "A2A-Version", "1.0")) {
            Outsider.Frame first = frames.next();
            assertThat(first).isNotNull();
            assertThat(first.at("result", "task", "id").text()).isEqualTo(newest);
        }
        newer(
                "asks",
                "CreateTaskPushNotificationConfig",
                "{'taskId':'" + id + "','id':'w','url':'http://127.0.0.1:9/'}");
        assertThat(newer("asks", "ListTaskPushNotificationConfigs", "{'taskId':'" + id + "'}")
                        .at("configs", 0, "taskId")
                        .text())
                .isEqualTo(newest);
        assertThat(older(
                                "/agentvault",
                                "asks",
                                "tasks/send",
                                "'id':'" + id
                                        + "','message':{'role':'user','parts':[{'type':'text','content':'more'}]}")
                        .at("id")
                        .text())
                .isEqualTo(newest);
        assertThat(newer("asks", "CancelTask", "{'id':'" + id + "'}").at("id").text())
                .isEqualTo(newest);
        assertThat(older(suffix, "asks", "tasks/get", "'id':'" + id + "'")
                        .at("status", "state")
                        .text())
                .isEqualTo("canceled");
    }

    @ParameterizedTest
    @CsvSource({"/kernel, kg-kernel", "'', kg-first"})
    @DisplayName(
            "D4, KG21: a change made for a task by the name that its caller gave is on the task, by name and by id")
    void changesAreLinkedByName(String suffix, String name) throws Exception {
        Agent agent = Agent.named("knowing", "Has a knowledge graph")
                .uses(SharedKnowledge.VIEW)
                .handle((request, reply) -> reply.complete("ok"));
        try (Hub knowing = Hub.builder().inMemory().port(0).agents(agent).start()) {
            var there = new Outsider(knowing.url());
            String older = "/agents/knowing" + suffix;
            String message = "{'id':'" + name + "'," + text("first") + "}";
            there.result(older, "tasks/send", message);
            there.result(older, "tasks/send", message.replace("first", "second")); // another task has the name now
            String update = "{'taskId':'" + name + "','mutations':[{'op':'add','statement':{'subject':{'id':'ex:" + name
                    + "'},'predicate':{'id':'ex:q'},'object':{'value':'o'}}}]}";
            there.result("/agents/knowing", "knowledge/update", update);
            String[] v1 = {"A2A-Version", "1.0"};
            there.result("/agents/knowing", "knowledge/update", update.replace("'o'", "'p'"), v1);

            Shown byName = there.result(older, "tasks/get", "{'id':'" + name + "'}");
            assertThat(byName.at("metadata", "knowledgeChanges").size()).isEqualTo(2);
            Shown newest = there.result("/agents/knowing", "GetTask", "{'id':'" + name + "'}", v1);
            String id = newest.at("id").text();
            assertThat(there.result("/agents/knowing", "GetTask", "{'id':'" + id + "'}", v1)
                            .at("metadata", "knowledgeChanges")
                            .size())
                    .isEqualTo(2);
        }
    }
}
