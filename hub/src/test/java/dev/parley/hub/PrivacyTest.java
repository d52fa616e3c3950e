package dev.parley.hub;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.store.spi.DatabaseKind;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What a hub holds about somebody, as its operator saves and removes it. */
@ParameterizedClass
@EnumSource(DatabaseKind.class)
final class PrivacyTest {
    private static final String ALICE = "/admin/privacy/erase?group=T1&principal=alice-liddell";

    @Parameter
    private DatabaseKind kind = DatabaseKind.SQLITE;

    @TempDir
    private Path data;

    private String database = "";

    private Hub hub;
    private Outsider outsider;
    private String admin;
    private String alice;
    private String bob;

    @BeforeEach
    void start() throws Exception {
        if (kind == DatabaseKind.POSTGRESQL) {
            database = PostgresqlServer.url();
            Database.name(data, database);
        }
        open();
        admin = hub.bootstrapKey().orElseThrow();
        alice = key("alice-liddell");
        bob = key("bob");
    }

    private void open() {
        hub = Hub.builder()
                .data(data)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(Agent.named("echo", "Keeps what it hears")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> {
                            if (request.text().equals("sign in")) {
                                if (request.credential().equals(Optional.of("open sesame"))) {
                                    reply.complete("signed in");
                                } else {
                                    reply.askForCredentials("Who are you there?");
                                }
                            } else if (request.text().startsWith("wait")) {
                                reply.askForInput("What else?");
                            } else {
                                if (request.text().startsWith("note")) {
                                    request.memory().orElseThrow().write("noted: " + request.text());
                                }
                                reply.complete(request.text());
                            }
                        }))
                .start();
        outsider = new Outsider(hub.url());
    }

    @AfterEach
    void stop() {
        hub.close();
    }

    private String key(String principal) throws Exception {
        String body = "{'group':'T1','principal':'" + principal + "','scopes':[]}";
        return Shown.of(outsider.post("/admin/keys", body, "X-Api-Key", admin).body())
                .at("key")
                .text();
    }

    private Shown say(String key, String text, String more) throws Exception {
        String body = "{'message':{'messageId':'" + UUID.randomUUID() + "','role':'ROLE_USER','parts':[{'text':'" + text
                + "'}]" + more + "}}";
        return Shown.of(outsider.post("/agents/echo/message:send", body, "X-Api-Key", key, "A2A-Version", "1.0")
                        .body())
                .at("task");
    }

    private HttpResponse<String> task(String key, String id) throws Exception {
        return outsider.get("/agents/echo/tasks/" + id, "X-Api-Key", key, "A2A-Version", "1.0");
    }

    private String onDisk() throws IOException, SQLException {
        var all = new StringBuilder(database.isEmpty() ? "" : PostgresqlServer.rows(database));
        try (Stream<Path> files = Files.list(data)) {
            for (Path file : files.toList()) {
                all.append(Files.readString(file, ISO_8859_1));
            }
        }
        return all.toString();
    }

    private boolean isChainGood() throws Exception {
        return Boolean.TRUE.equals(
                Shown.of(outsider.get("/admin/audit/verify", "X-Api-Key", admin).body())
                        .at("good")
                        .value());
    }

    @Test
    @DisplayName("ONE31: what an agent has in mind is in no card, task, audit, log or file")
    void whatAnAgentRemembersStaysWithIt() throws Exception {
        String secret = "in-mind-" + UUID.randomUUID();
        String note = "note-" + UUID.randomUUID();
        var memory = new ArrayList<>(List.of(secret));
        hub.host(Agent.named("remembers", "Keeps things to itself")
                .skill("remember", "Remembers what it is told", "memory")
                .handle((request, reply) -> {
                    memory.add(secret + " and " + request.text());
                    if (memory.size() % 2 == 0) {
                        reply.complete("I know " + memory.size() + " things");
                    } else {
                        reply.askForInput("And?");
                    }
                }));
        var logged = new ConcurrentLinkedQueue<String>();
        var log = new Handler() {
            @Override
            public void publish(LogRecord message) {
                logged.add(new SimpleFormatter().format(message));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger root = Logger.getLogger("");
        root.addHandler(log);
        try {
            var told = new StringBuilder();
            String[] headers = {"X-Api-Key", alice, "A2A-Version", "1.0"};
            for (int i = 0; i < 4; i++) {
                String message =
                        "{'message':{'messageId':'" + note + i + "','role':'ROLE_USER','parts':[{'text':'hello'}]}}";
                told.append(
                        outsider.post("/agents/remembers/message:" + (i % 2 == 0 ? "stream" : "send"), message, headers)
                                .body());
            }
            told.append(outsider.get("/agents/remembers/tasks?includeArtifacts=true", headers)
                    .body());
            told.append(outsider.get("/agents/remembers/.well-known/agent-card.json")
                    .body());
            told.append(
                    outsider.get("/agents/remembers/extendedAgentCard", headers).body());
            told.append(outsider.get("/admin/audit", "X-Api-Key", admin).body());

            assertThat(told).contains("I know 2 things", note, "Remembers what it is told", "task.created");
            assertThat(told + onDisk() + String.join("", logged)).doesNotContain(secret);
        } finally {
            root.removeHandler(log);
        }
    }

    @Test
    @DisplayName("ONE32, S79: what somebody said, its keys and its name are gone for good, and the audit is whole")
    void whoIsErasedIsGone() throws Exception {
        String done = say(alice, "down the rabbit hole", "").at("id").text();
        String waiting = say(alice, "wait for the hatter", ",'contextId':'tea-party'")
                .at("id")
                .text();
        String his = say(bob, "I stay", "").at("id").text();
        Shown held = Shown.of(outsider.get("/admin/privacy/tasks?group=T1&principal=alice-liddell", "X-Api-Key", admin)
                .body());
        assertThat(held.at("tasks", 0, "id").text()).isEqualTo(done);
        assertThat(held.at("tasks", 1, "id").text()).isEqualTo(waiting);
        // A page of another site has a browser ask, and cannot read the answer: that is not a reading, and leaves no
        // row.
        assertThat(outsider.get(
                                "/admin/privacy/tasks?group=T1&principal=alice-liddell",
                                "X-Api-Key",
                                admin,
                                "Sec-Fetch-Site",
                                "cross-site")
                        .statusCode())
                .isEqualTo(403);
        outsider.get("/admin/privacy/tasks?group=T1&principal=alice-liddell&after=" + done, "X-Api-Key", admin);
        outsider.get("/admin/privacy/statements?group=T1&principal=alice-liddell", "X-Api-Key", admin);
        key("carol"); // What is written next comes after the rows.
        Shown read =
                Shown.of(outsider.get("/admin/audit?action=privacy.read&subject=T1/alice-liddell", "X-Api-Key", admin)
                        .body());
        assertThat(read.at("rows").size()).isEqualTo(3);
        assertThat(read.at("rows", 0, "target").text()).isEqualTo("T1");
        assertThat(read.at("rows", 0, "detail", "what").text()).isEqualTo("tasks");
        assertThat(read.at("rows", 2, "detail", "what").text()).isEqualTo("statements");
        assertThat(onDisk()).contains("rabbit hole", "hatter", "alice-liddell");

        assertThat(outsider.post(ALICE, "{}", "X-Api-Key", bob).statusCode()).isEqualTo(403);
        Shown erased = Shown.of(outsider.post(ALICE, "{}", "X-Api-Key", admin).body());

        assertThat(erased.at("tasks").value()).isEqualTo(2);
        assertThat(erased.at("keys").value()).isEqualTo(1);
        assertThat(task(alice, done).statusCode()).isEqualTo(401);
        assertThat(task(bob, his).statusCode()).isEqualTo(200);
        String again = key("alice-liddell");
        assertThat(task(again, done).statusCode()).isEqualTo(404);
        assertThat(task(again, waiting).statusCode()).isEqualTo(404);
        outsider.post(ALICE, "{}", "X-Api-Key", admin);
        outsider.get("/admin/privacy/tasks?group=T1&principal=alice-liddell", "X-Api-Key", admin);
        key("dora"); // What is written next comes after the row of who looked whether something is left.
        assertThat(onDisk())
                .doesNotContain("rabbit hole", "hatter", "alice-liddell", "tea-party")
                .contains("I stay");
        assertThat(isChainGood()).isTrue();
        assertThat(outsider.get("/admin/audit?subject=T1/alice-liddell&action=privacy.erased", "X-Api-Key", admin)
                        .body())
                .contains("sha256:");
    }

    @Test
    @DisplayName("S79: an erasure reaches what is left of somebody without tasks")
    void whoHasNoTasksLeftIsErasedToo() throws Exception {
        hub.close();
        // As releases left it that registered webhooks before there was a task.
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                PreparedStatement webhook = connection.prepareStatement(
                        "INSERT INTO webhook (task_id, config_id, lane_no, made_ms, config, dialect, delivered, attempts)"
                                + " SELECT 'gone', 'hook', lane_no, 0, ?, '1.0', 0, 0 FROM lane WHERE agent = 'gone'")) {
            statement.execute("INSERT INTO lane (group_id, owner, agent) VALUES ('T1', 'alice-liddell', 'gone')");
            webhook.setBytes(1, "{\"url\":\"https://hers.example\"}".getBytes(UTF_8));
            webhook.execute();
        }
        open();
        assertThat(onDisk()).contains("alice-liddell");
        assertThat(webhooks()).isOne();

        Shown erased = Shown.of(outsider.post(ALICE, "{}", "X-Api-Key", admin).body());

        assertThat(erased.at("tasks").value()).isEqualTo(0);
        key("carol"); // What is written next comes after the row of the erasure.
        assertThat(onDisk()).doesNotContain("alice-liddell");
        assertThat(webhooks()).isZero();
    }

    private Connection connect() throws SQLException {
        return database.isEmpty()
                ? DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"))
                : PostgresqlServer.connect(database);
    }

    private int webhooks() throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT count(*) FROM webhook")) {
            row.next();
            return row.getInt(1);
        }
    }

    @Test
    @DisplayName("S79: a context is erased, and nothing else")
    void aContextIsErased() throws Exception {
        Shown first = say(alice, "secret plan", ",'contextId':'the-plan-of-alice'");
        String context = first.at("contextId").text();
        String other = say(alice, "harmless", "").at("id").text();

        Shown erased =
                Shown.of(outsider.post("/admin/privacy/erase?group=T1&contextId=" + context, "{}", "X-Api-Key", admin)
                        .body());

        assertThat(erased.at("tasks").value()).isEqualTo(1);
        assertThat(task(alice, first.at("id").text()).statusCode()).isEqualTo(404);
        assertThat(task(alice, other).statusCode()).isEqualTo(200);
        assertThat(onDisk()).doesNotContain("secret plan", "the-plan-of-alice").contains("harmless");
        assertThat(isChainGood()).isTrue();
        for (String empty : List.of(
                "group=T1&principal=alice-liddell&contextId=",
                "group=T1&principal=&contextId=" + context,
                "group=&principal=alice-liddell",
                "group=T1&principal=alice-liddell&contextId=&contextId=" + context,
                "group=T1&principal=alice-liddell&context_id=a&contextId=" + context)) {
            var refused = outsider.post("/admin/privacy/erase?" + empty, "{}", "X-Api-Key", admin);
            assertThat(refused.statusCode()).as(empty + refused.body()).isEqualTo(400);
        }
        assertThat(outsider.post("/admin/privacy/erase", "{}", "X-Api-Key", admin)
                        .statusCode())
                .isEqualTo(400);
    }

    @Test
    @DisplayName(
            "S79: the memories of agents about a principal, or in a context, are listed in pages, and each read is audited")
    void memoriesAreListed() throws Exception {
        say(alice, "note the hatter", ",'contextId':'c1'");
        say(alice, "note the dormouse", ",'contextId':'c2'");
        say(bob, "note the hare", ",'contextId':'c2'");
        String path = "/admin/privacy/memories?group=T1&principal=alice-liddell&limit=1";

        Shown first = Shown.of(outsider.get(path, "X-Api-Key", admin).body());
        String next = first.at("next").text();
        Shown second = Shown.of(
                outsider.get(path + "&after=" + next, "X-Api-Key", admin).body());
        Shown end = Shown.of(outsider.get(path + "&after=" + second.at("next").text(), "X-Api-Key", admin)
                .body());
        Shown shared = Shown.of(outsider.get("/admin/privacy/memories?group=T1&contextId=c2", "X-Api-Key", admin)
                .body());

        assertThat(first.at("memories", 0, "text").text()).isEqualTo("noted: note the hatter");
        assertThat(first.at("memories", 0, "contextId").text()).isEqualTo("c1");
        assertThat(first.at("memories").size()).isEqualTo(1);
        assertThat(second.at("memories", 0, "text").text()).isEqualTo("noted: note the dormouse");
        assertThat(end.at("memories").size()).isZero();
        assertThat(shared.at("memories").size()).isEqualTo(2);
        assertThat(outsider.get(path, "X-Api-Key", bob).statusCode()).isEqualTo(403);
        assertThat(outsider.get("/admin/privacy/memories?group=T1&principal=bob&after=" + next, "X-Api-Key", admin)
                        .statusCode())
                .isEqualTo(400);
        key("carol"); // What is written next comes after the rows.
        Shown read =
                Shown.of(outsider.get("/admin/audit?action=privacy.read&subject=T1/alice-liddell", "X-Api-Key", admin)
                        .body());
        assertThat(read.at("rows").size()).isEqualTo(3);
        assertThat(read.at("rows", 0, "detail", "what").text()).isEqualTo("memories");
    }

    private Shown tell(String key, String subject, String value, String more) throws Exception {
        String body = "{'mutations':[{'op':'add','statement':{'subject':{'id':'" + subject
                + "'},'predicate':{'id':'ex:says'},'object':{'value':'" + value + "'}}}]" + more + "}";
        return Shown.of(
                outsider.post("/agents/echo/kg:update", body, "X-Api-Key", key).body());
    }

    private String ask(String query) throws Exception {
        return outsider.post("/agents/echo/kg:query", "{'query':'" + query + "'}", "X-Api-Key", bob)
                .body();
    }

    @Test
    @DisplayName(
            "ONE32, S79: the knowledge graph forgets who has told it what, and if it shall, what they alone have said")
    void whoIsErasedIsForgottenByTheGraph() throws Exception {
        String task = say(alice, "down the rabbit hole", "").at("id").text();
        tell(alice, "ex:hatter", "mad as a hatter", ",'justification':'said alice-liddell','taskId':'" + task + "'");
        tell(alice, "ex:cat", "grinning", "");
        outsider.post(
                "/agents/echo/kg:query",
                "{'query':'{ graphs { name } } # asked by alice-liddell'}",
                "X-Api-Key",
                alice);
        tell(bob, "ex:cat", "grinning", "");
        String about = "group=T1&principal=alice-liddell";
        Shown said = Shown.of(outsider.get("/admin/privacy/statements?" + about, "X-Api-Key", admin)
                .body());
        assertThat(said.at("statements", 0, "object", "value").text()).isEqualTo("mad as a hatter");
        assertThat(said.at("statements", 1, "object", "value").text()).isEqualTo("grinning");
        assertThat(outsider.get("/admin/privacy/questions?" + about, "X-Api-Key", admin)
                        .body())
                .contains("knowledge/query", "asked by alice-liddell");
        assertThat(outsider.get("/admin/audit?action=knowledge.updated&actor=alice-liddell", "X-Api-Key", admin)
                        .body())
                .contains("said alice-liddell");
        assertThat(outsider.get("/admin/privacy/reviews?" + about, "X-Api-Key", admin)
                        .body())
                .contains("[]");

        outsider.post(ALICE, "{}", "X-Api-Key", admin);

        assertThat(onDisk()).doesNotContain("alice-liddell").contains("mad as a hatter");
        String all = ask("{ statements { nodes { subject { id } object { value } provenance } } }");
        assertThat(all).contains("mad as a hatter", "grinning", "sha256:").doesNotContain("alice-liddell", task);

        String again = key("alice-liddell");
        tell(again, "ex:queen", "off with their heads", "");
        tell(again, "ex:cat", "grinning", "");
        Shown erased = Shown.of(outsider.post(ALICE + "&statements=true", "{}", "X-Api-Key", admin)
                .body());

        assertThat(erased.at("statements").value()).isEqualTo(2);
        assertThat(onDisk())
                .doesNotContain("alice-liddell", "off with their heads")
                .contains("grinning");
        assertThat(ask("{ statements { nodes { object { value } } } }")).contains("mad as a hatter", "grinning");
    }

    private Shown authorize(String key, String id, String credential) throws Exception {
        String params = "{'taskId':'" + id + "','credential':'" + credential + "'}";
        return outsider.rpc("/agents/echo", "parley/authorizeTask", params, "X-Api-Key", key, "A2A-Version", "1.0");
    }

    @Test
    @DisplayName("GEM22: a task asks for a credential, goes on once it is handed over, and it is kept nowhere")
    void aCredentialIsHandedOverOutOfBand() throws Exception {
        Shown task = say(alice, "sign in", "");
        String id = task.at("id").text();
        assertThat(task.at("status", "state").text()).isEqualTo("TASK_STATE_AUTH_REQUIRED");

        assertThat(authorize(bob, id, "open sesame").at("error", "code").value())
                .isEqualTo(-32001);
        assertThat(authorize(alice, id, "").at("error", "code").value()).isEqualTo(-32602);
        String subscribe = "{'id':'" + id + "'}";
        try (var events = outsider.stream(
                "/agents/echo", "SubscribeToTask", subscribe, "X-Api-Key", alice, "A2A-Version", "1.0")) {
            events.next();
            authorize(alice, id, "open up");
            assertThat(String.valueOf(events.next())).contains("TASK_STATE_WORKING");
            assertThat(String.valueOf(events.next())).contains("TASK_STATE_AUTH_REQUIRED");
            assertThat(authorize(alice, id, "open sesame")
                            .at("result", "taskId")
                            .text())
                    .isEqualTo(id);
            assertThat(String.valueOf(events.next())).contains("TASK_STATE_WORKING");
            assertThat(String.valueOf(events.next())).contains("signed in");
        }
        assertThat(authorize(alice, id, "open sesame").at("error", "code").value())
                .isEqualTo(-32004);
        assertThat(task(alice, id).body()).contains("TASK_STATE_COMPLETED").doesNotContain("sesame");
        assertThat(onDisk()).contains("sign in").doesNotContain("open sesame", "open up");
    }
}
