package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.TaskEvent.TaskEndedException;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Webhooks always leave rows in the audit, other calls that change nothing if the hub is set so. */
@Timeout(60)
class RecordedCallsTest {
    private static final String MESSAGE =
            "{'message':{'messageId':'NEW','role':'ROLE_USER','parts':[{'text':'TEXT'}]}MORE}";
    private static final String HOOK =
            "{'id':'chosen-by-caller','url':'http://hooks.example.com/path-s3cret','token':'t0k-s3cret'}";

    @TempDir
    Path data;

    private final BlockingQueue<Reply> lateReply = new LinkedBlockingQueue<>();

    private Hub hub(boolean all) {
        return Hub.builder()
                .data(data)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .auditCalls(all)
                .agents(Agent.named("echo", "Echoes")
                        .uses(SharedKnowledge.VIEW)
                        .method("books/find", (params, caller) -> Map.of())
                        .handle((request, reply) -> {
                            switch (request.text()) {
                                case "wait" -> reply.askForInput("What else?");
                                case "late" -> {
                                    reply.complete("done");
                                    emitMore(reply);
                                }
                                default -> reply.message("pong");
                            }
                        }))
                .start();
    }

    private static String message(String id, String text, String more) {
        return MESSAGE.replace("NEW", id).replace("TEXT", text).replace("MORE", more);
    }

    /** Rows of an action, which are written soon after it. */
    private static List<Shown> rows(Outsider outsider, String key, String action) throws Exception {
        Shown page = Shown.of(outsider.get("/admin/audit?action=" + action, "X-Api-Key", key)
                        .body())
                .at("rows");
        var rows = new ArrayList<Shown>();
        for (int i = 0; i < page.size(); i++) {
            rows.add(page.at(i));
        }
        return rows;
    }

    @Test
    @DisplayName(
            "ONE29: registering and deleting a webhook is recorded, without its secrets and ids of the caller's choice")
    void webhooksAreRecorded() throws Exception {
        try (Hub hub = hub(false)) {
            var outsider = new Outsider(hub.url());
            String key = hub.bootstrapKey().orElseThrow();
            String[] headers = {"X-Api-Key", key, "A2A-Version", "1.0"};
            String task = outsider.result("/agents/echo", "SendMessage", message("m1", "wait", ""), headers)
                    .at("task", "id")
                    .text();
            String config = HOOK.replaceFirst("\\{", "{'taskId':'" + task + "',");

            outsider.result("/agents/echo", "CreateTaskPushNotificationConfig", config, headers);
            outsider.result(
                    "/agents/echo",
                    "DeleteTaskPushNotificationConfig",
                    "{'taskId':'" + task + "','id':'chosen-by-caller'}",
                    headers);
            String second = outsider.result(
                            "/agents/echo",
                            "SendMessage",
                            message("m2", "wait", ",'configuration':{'taskPushNotificationConfig':" + HOOK + "}"),
                            headers)
                    .at("task", "id")
                    .text();
            String third;
            try (Outsider.Frames frames = outsider.stream(
                    "/agents/echo",
                    "SendStreamingMessage",
                    message("m3", "wait", ",'configuration':{'taskPushNotificationConfig':" + HOOK + "}"),
                    headers)) {
                third = requireNonNull(frames.next()).at("result", "task", "id").text();
            }

            List<Shown> created = rows(outsider, key, "webhook.created");
            assertThat(created.stream().map(row -> row.at("target").text())).containsExactly(task, second, third);
            assertThat(rows(outsider, key, "webhook.deleted").stream()
                            .map(row -> row.at("target").text()))
                    .containsExactly(task);
            assertThat(created.toString())
                    .contains("hooks.example.com", "actor=admin")
                    .doesNotContain("s3cret", "chosen-by-caller");
            assertThat(rows(outsider, key, "call.answered")).isEmpty();
        }
    }

    @Test
    @DisplayName(
            "ONE29, KG32: with the setting all, every call leaves a row: reads, messages, own methods, queries, subscriptions")
    void everyCallIsRecordedIfTheHubIsSetSo() throws Exception {
        try (Hub hub = hub(true)) {
            var outsider = new Outsider(hub.url());
            String key = hub.bootstrapKey().orElseThrow();
            String[] headers = {"X-Api-Key", key, "A2A-Version", "1.0"};

            outsider.result("/agents/echo", "SendMessage", message("m1", "ping", ""), headers);
            outsider.result("/agents/echo", "ListTasks", "{}", headers);
            outsider.rpc("/agents/echo", "GetTask", "{'id':'none'}", headers);
            outsider.result("/agents/echo", "books/find", "{}", headers);
            outsider.result(
                    "/agents/echo", "knowledge/query", "{'query':'{ __typename }','queryLanguage':'graphql'}", headers);
            try (Outsider.Frames changes = outsider.stream(
                    "/agents/echo",
                    "knowledge/subscribe",
                    "{'subscriptionQuery':'subscription { knowledgeChanged { op } }'}",
                    headers)) {
                assertThat(changes.status()).isEqualTo(200);
            }
            String list = Eventually.value(
                            "rows of six calls", () -> rows(outsider, key, "call.answered"), rows -> rows.size() >= 6)
                    .toString();

            assertThat(list)
                    .contains(
                            "operation=SendMessage",
                            "operation=ListTasks",
                            "operation=books/find",
                            "operation=knowledge/query",
                            "operation=knowledge/subscribe")
                    .contains("outcome=TASK_NOT_FOUND", "target=none");
        }
    }

    private void emitMore(Reply reply) {
        for (int i = 0; i < 1_000; i++) {
            assertThatThrownBy(() -> reply.artifact("late", "piece")).isInstanceOf(TaskEndedException.class);
        }
        lateReply.add(reply);
    }

    @Test
    @DisplayName("ONE29: events that an agent emits after the end of its task leave one row with their number")
    void eventsAfterTheEndLeaveOneRow() throws Exception {
        try (Hub hub = hub(false)) {
            var outsider = new Outsider(hub.url());
            String key = hub.bootstrapKey().orElseThrow();
            String[] headers = {"X-Api-Key", key, "A2A-Version", "1.0"};
            String task = outsider.result("/agents/echo", "SendMessage", message("m1", "late", ""), headers)
                    .at("task", "id")
                    .text();

            Reply late = lateReply.poll(30, TimeUnit.SECONDS);
            List<Shown> rows = Eventually.value(
                    "a row of dropped events", () -> rows(outsider, key, "task.dropped"), all -> !all.isEmpty());

            assertThat(rows).hasSize(1);
            assertThat(rows.getFirst().at("target").text()).isEqualTo(task);
            assertThat(rows.getFirst().at("actor").text()).isEqualTo("agent:echo");
            assertThat(rows.getFirst().at("outcome").text()).isEqualTo("COMPLETED");
            assertThat(rows.getFirst().at("detail", "events").value()).isEqualTo(1_000);

            for (int i = 0; i < 10; i++) {
                assertThatThrownBy(() -> requireNonNull(late).complete()).isInstanceOf(TaskEndedException.class);
            }
            Eventually.asserted(
                    "and one for all that follow",
                    () -> assertThat(rows(outsider, key, "task.dropped")).hasSize(2));
        }
    }
}
