package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard.Interface;
import dev.parley.protocol.Part;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.trust.Authentication;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Quotas of groups: 100 KB for T1, none for the others. */
@Timeout(120)
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class QuotaTest {
    private static final int LIMIT = 100 << 10;
    private static final String ECHO = "/agents/echo";

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    private Path data;

    private Hub hub;
    private Outsider outsider;
    private String admin;
    private String alice;
    private String bob;

    @BeforeEach
    void start() throws Exception {
        if (kind == DatabaseKind.POSTGRESQL) {
            Database.name(data, PostgresqlServer.url());
        }
        open();
        admin = hub.bootstrapKey().orElseThrow();
        alice = key("T1", "alice");
        bob = key("T2", "bob");
    }

    private void open() {
        hub = Hub.builder()
                .data(data)
                .port(0)
                .set("group-quota", "T1=100KB")
                .set("grpc-on-cards", "true")
                .authentication(Authentication.named(List.of("required")))
                .agents(
                        Agent.named("echo", "Returns the message as an artifact")
                                .inputModes("*/*")
                                .handle((request, reply) -> {
                                    if (request.text().startsWith("wait")) {
                                        reply.askForInput("What else?");
                                    } else if (request.text().startsWith("message")) {
                                        reply.message("no task");
                                    } else {
                                        reply.complete("done");
                                    }
                                }),
                        Agent.named("writer", "Writes the number of kilobytes that the message names")
                                .handle((request, reply) -> {
                                    var stream = reply.stream("pages");
                                    for (int i = 0; i < Integer.parseInt(request.text()); i++) {
                                        stream.append(Part.text("x".repeat(1_000)));
                                    }
                                    stream.last("the end");
                                    reply.complete();
                                }))
                .start();
        outsider = new Outsider(hub.url());
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    private String key(String group, String principal, String... scopes) throws Exception {
        String quoted = scopes.length == 0 ? "" : "'" + String.join("','", scopes) + "'";
        String body = "{'group':'" + group + "','principal':'" + principal + "','scopes':[" + quoted + "]}";
        return Shown.of(outsider.post("/admin/keys", body, "X-Api-Key", admin).body())
                .at("key")
                .text();
    }

    private static String message(String text, String more) {
        return "{'message':{'messageId':'" + UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'" + text
                + "'}]" + more + "}}";
    }

    private HttpResponse<String> post(String path, String body, String key) throws Exception {
        return outsider.post(path, body, "X-Api-Key", key, "A2A-Version", "1.0");
    }

    private HttpResponse<String> say(String key, String text) throws Exception {
        return post(ECHO + "/message:send", message(text, ""), key);
    }

    private Shown usage(String group) throws Exception {
        Shown all =
                Shown.of(outsider.get("/admin/groups/usage", "X-Api-Key", admin).body());
        for (int i = 0; i < all.at("groups").size(); i++) {
            if (all.at("groups", i, "group").text().equals(group)) {
                return all.at("groups", i);
            }
        }
        throw new AssertionError(group + " is not in " + all);
    }

    private long used() throws Exception {
        return requireNonNull((Number) usage("T1").at("bytes").value()).longValue();
    }

    /** Has alice send messages until one does not fit, and returns its refusal. */
    private Shown fill() throws Exception {
        for (int i = 0; i < 200; i++) {
            HttpResponse<String> answer = say(alice, "x".repeat(3_000));
            if (answer.statusCode() != 200) {
                assertThat(answer.statusCode()).as(answer.body()).isEqualTo(507);
                return Shown.of(answer.body());
            }
        }
        throw new AssertionError("200 messages of 3,000 characters fit into " + LIMIT);
    }

    @Test
    @DisplayName("T2: over its quota a group gets no new work, in its dialect's words; others are served")
    void aFullGroupIsRefusedInEachDialect() throws Exception {
        String waiting = Shown.of(say(alice, "wait").body()).at("task", "id").text();
        String first = message("hello", "");
        String known = Shown.of(post(ECHO + "/message:send", first, alice).body())
                .at("task", "id")
                .text();

        Shown refusal = fill();

        assertThat(refusal.at("error", "message").text())
                .matches("The data of group \"T1\" take \\d+ of 102400 bytes, and \\d+ more do not fit"
                        + " \\(expected: data of the group erased or ended tasks removed by --retention, or a larger"
                        + " --group-quota\\)");
        assertThat(refusal.at("error", "details", 0, "reason").text()).isEqualTo("QUOTA_EXCEEDED");
        assertThat(used()).isBetween((long) LIMIT - 10_000, (long) LIMIT);
        String large = "x".repeat(9_000);

        HttpResponse<String> v1 = post(
                ECHO, "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':" + message(large, "") + "}", alice);
        assertThat(v1.statusCode()).isEqualTo(507);
        assertThat(Shown.of(v1.body()).at("error", "code").value()).isEqualTo(-32603);
        HttpResponse<String> streamed = post(ECHO + "/message:stream", message(large, ""), alice);
        assertThat(streamed.statusCode()).isEqualTo(507);
        String kind = "'parts':[{'kind':'text','text':'" + large + "'}]";
        assertThat(rpc(
                        ECHO,
                        "message/send",
                        "{'message':{'messageId':'m1','role':'user','kind':'message'," + kind + "}}"))
                .isEqualTo("507 -32603");
        String type = "'parts':[{'type':'text','text':'" + large + "'}]";
        assertThat(rpc(ECHO + "/kernel", "tasks/send", "{'id':'t1','message':{'role':'user'," + type + "}}"))
                .isEqualTo("507 -32603");
        assertThat(rpc(
                        ECHO + "/agentvault",
                        "tasks/send",
                        "{'message':{'role':'user','parts':[{'type':'text','content':'" + large + "'}]}}"))
                .isEqualTo("507 -32000");
        try (AgentClient client =
                AgentClient.builder().apiKey(alice).prefer(Interface.GRPC).connect(hub.agentUrl("echo"))) {
            assertThatThrownBy(() -> client.send(large))
                    .isInstanceOfSatisfying(
                            A2AException.class, full -> assertThat(full.error()).isEqualTo(A2AError.QUOTA_EXCEEDED));
        }

        // A message to an open task, and a file, are new work, too; a message that came before is not.
        assertThat(post(ECHO + "/message:send", message(large, ",'taskId':'" + waiting + "'"), alice)
                        .statusCode())
                .isEqualTo(507);
        String file = Base64.getEncoder().encodeToString(new byte[9_000]);
        assertThat(post(
                                ECHO + "/message:send",
                                "{'message':{'messageId':'f','role':'ROLE_USER','parts':[{'raw':'" + file
                                        + "','mediaType':'application/pdf'}]}}",
                                alice)
                        .statusCode())
                .isEqualTo(507);
        HttpResponse<String> again = post(ECHO + "/message:send", first, alice);
        assertThat(Shown.of(again.body()).at("task", "id").text()).isEqualTo(known);

        assertThat(get(ECHO + "/tasks/" + known).statusCode()).isEqualTo(200);
        assertThat(get(ECHO + "/tasks").statusCode()).isEqualTo(200);
        assertThat(post(ECHO + "/tasks/" + waiting + ":cancel", "{}", alice).statusCode())
                .isEqualTo(200);
        assertThat(say(bob, large).statusCode()).isEqualTo(200);
        assertThat(usage("T2").has("limitBytes")).isFalse();
    }

    private HttpResponse<String> get(String path) throws Exception {
        return outsider.get(path, "X-Api-Key", alice, "A2A-Version", "1.0");
    }

    private String rpc(String path, String method, String params) throws Exception {
        HttpResponse<String> answer = outsider.post(
                path, "{'jsonrpc':'2.0','id':1,'method':'" + method + "','params':" + params + "}", "X-Api-Key", alice);
        return answer.statusCode() + " "
                + Shown.of(answer.body()).at("error", "code").text();
    }

    @Test
    @DisplayName("T2: what a group keeps is the same after a restart, and removed data make room")
    void bytesAreKeptOverARestartAndFreedByAnErasure() throws Exception {
        fill();
        long before = used();
        assertThat(usage("T1").at("limitBytes").value()).isEqualTo(LIMIT);
        assertThat(outsider.get("/metrics", "X-Api-Key", key("T2", "scraper", "metrics"))
                        .body())
                .contains(
                        "parley_stored_bytes{group=\"T1\",kind=\"tasks\"} " + (double) before,
                        "parley_stored_bytes_limit{group=\"T1\"} " + (double) LIMIT);

        hub.close();
        open();
        assertThat(used()).isEqualTo(before);
        assertThat(say(alice, "x".repeat(3_000)).statusCode()).isEqualTo(507);

        outsider.post("/admin/privacy/erase?group=T1&principal=alice", "{}", "X-Api-Key", admin);
        assertThat(used()).isZero();
        alice = key("T1", "alice");
        assertThat(say(alice, "x".repeat(3_000)).statusCode()).isEqualTo(200);
    }

    @Test
    @DisplayName("T2: a task whose output does not fit fails with that reason, and harms no other")
    void anAgentThatWritesTooMuchFailsItsTask() throws Exception {
        String waiting = Shown.of(say(alice, "wait").body()).at("task", "id").text();
        String small = write(alice, 5);
        Shown failed = Shown.of(post("/agents/writer/message:send", message("500", ""), alice)
                        .body())
                .at("task");

        assertThat(failed.at("status", "state").text()).isEqualTo("TASK_STATE_FAILED");
        assertThat(failed.at("status", "message", "parts", 0, "text").text())
                .startsWith("The data of group \"T1\" take ")
                .contains("of 102400 bytes");
        assertThat(used()).isLessThan(LIMIT + 3_000);
        assertThat(get("/agents/writer/tasks/" + small).body()).contains("TASK_STATE_COMPLETED", "the end");
        assertThat(get(ECHO + "/tasks/" + waiting).body()).contains("TASK_STATE_INPUT_REQUIRED");
        write(bob, 500);
    }

    private String write(String key, int kilobytes) throws Exception {
        Shown task = Shown.of(post("/agents/writer/message:send", message("" + kilobytes, ""), key)
                        .body())
                .at("task");
        assertThat(task.at("status", "state").text()).isEqualTo("TASK_STATE_COMPLETED");
        return task.at("id").text();
    }

    @Test
    @DisplayName(
            "T2: messages that come together are let in up to the quota, and answers without a task reserve nothing")
    void messagesThatComeTogetherDoNotExceedTheQuota() throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(say(alice, "message" + "x".repeat(20_000)).statusCode()).isEqualTo(200);
        }
        var calls = new ArrayList<Callable<Integer>>();
        for (int i = 0; i < 30; i++) {
            calls.add(() -> say(alice, "x".repeat(9_000)).statusCode());
        }
        var statuses = new ArrayList<Integer>();
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<Integer> status : threads.invokeAll(calls)) {
                statuses.add(status.get(Duration.ofMinutes(1).toSeconds(), TimeUnit.SECONDS));
            }
        }

        assertThat(statuses).containsOnly(200, 507);
        assertThat(used()).isLessThan(LIMIT + 5_000);
        while (say(alice, "x".repeat(9_000)).statusCode() == 200) {
            assertThat(used()).isLessThan(LIMIT + 2_000);
        }
        assertThat(used()).isGreaterThan(LIMIT - 12_000);
    }
}
