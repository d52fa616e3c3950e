package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A hub whose database takes writes, but not those of a table that tasks need, is not ready and says why in each refusal; the fault of a
 * table of an extension is that of the extension. Both pass without a restart.
 */
@Timeout(120)
@Tag("heavy")
final class RefusedWritesTest {
    private static final String ADD =
            "{'mutations':[{'op':'add','statement':{'subject':{'id':'ex:s%d'},'predicate':{'id':'ex:p'},'object':{'value':'o'}}}]}";

    @TempDir
    private Path data = Path.of("");

    private int messages;

    enum Kind {
        SQLITE,
        POSTGRESQL
    }

    /** A change of the database by an operator, its reversal, and the words for it. */
    enum Fault {
        RENAMED_TASKS(
                Kind.SQLITE,
                "ALTER TABLE task RENAME TO elsewhere",
                "ALTER TABLE elsewhere RENAME TO task",
                "no such table: (main\\.)?task"),
        RENAMED_MESSAGES(
                Kind.SQLITE,
                "ALTER TABLE message RENAME TO elsewhere",
                "ALTER TABLE elsewhere RENAME TO message",
                "no such table: (main\\.)?message"),
        RENAMED_SUMS(
                Kind.SQLITE,
                "ALTER TABLE stored RENAME TO elsewhere",
                "ALTER TABLE elsewhere RENAME TO stored",
                "no such table: (main\\.)?stored"),
        TRIGGER(
                Kind.SQLITE,
                "CREATE TRIGGER closed BEFORE INSERT ON task BEGIN SELECT RAISE(ABORT, 'closed for today'); END",
                "DROP TRIGGER closed",
                "closed for today"),
        RENAMED_COLUMN(
                Kind.SQLITE,
                "ALTER TABLE task RENAME COLUMN context_id TO elsewhere",
                "ALTER TABLE task RENAME COLUMN elsewhere TO context_id",
                "context_id"),
        P_RENAMED_TASKS(
                Kind.POSTGRESQL,
                "ALTER TABLE task RENAME TO elsewhere",
                "ALTER TABLE elsewhere RENAME TO task",
                "relation \\\\\"task\\\\\" does not exist"),
        P_RENAMED_MESSAGES(
                Kind.POSTGRESQL,
                "ALTER TABLE message RENAME TO elsewhere",
                "ALTER TABLE elsewhere RENAME TO message",
                "relation \\\\\"message\\\\\" does not exist"),
        P_REVOKED(
                Kind.POSTGRESQL,
                "REVOKE INSERT ON task FROM parley_user",
                "GRANT INSERT ON task TO parley_user",
                "permission denied for table task"),
        P_TRIGGER(
                Kind.POSTGRESQL,
                "CREATE FUNCTION closed() RETURNS trigger LANGUAGE plpgsql AS"
                        + " 'BEGIN RAISE EXCEPTION USING MESSAGE = ''closed for today''; END';"
                        + " CREATE TRIGGER closed BEFORE INSERT ON task EXECUTE FUNCTION closed()",
                "DROP TRIGGER closed ON task",
                "closed for today"),
        P_CHECK(
                Kind.POSTGRESQL,
                "ALTER TABLE task ADD CONSTRAINT closed CHECK (false) NOT VALID",
                "ALTER TABLE task DROP CONSTRAINT closed",
                "violates check constraint"),
        P_NEW_COLUMN(
                Kind.POSTGRESQL,
                "ALTER TABLE audit_log ADD COLUMN note TEXT NOT NULL DEFAULT 'none';"
                        + " ALTER TABLE audit_log ALTER COLUMN note DROP DEFAULT",
                "ALTER TABLE audit_log DROP COLUMN note",
                "null value in column");

        private final Kind kind;
        private final String change;
        private final String reversal;
        private final String words;

        Fault(Kind kind, String change, String reversal, String words) {
            this.kind = kind;
            this.change = change;
            this.reversal = reversal;
            this.words = words;
        }
    }

    private @Nullable String url;

    private Hub hub(Kind kind) throws IOException, SQLException {
        HubBuilder builder = Hub.builder()
                .data(data)
                .port(0)
                .adminPort(0)
                .agents(Agent.named("echo", "Says it again")
                        .uses(SharedKnowledge.VIEW)
                        .handle((request, reply) -> reply.complete(request.text())));
        if (kind == Kind.POSTGRESQL) {
            url = PostgresqlServer.url();
            execute(
                    "DO $$ BEGIN CREATE ROLE parley_user LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
                    "DO $$ BEGIN EXECUTE 'ALTER SCHEMA ' || current_schema() || ' OWNER TO parley_user'; END $$");
            builder.database(url.replace("postgres@", "parley_user@"));
        }
        return builder.start();
    }

    private void execute(String... changes) throws SQLException {
        try (Connection connection = url == null
                        ? DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"))
                        : PostgresqlServer.connect(url);
                Statement statement = connection.createStatement()) {
            if (url == null) {
                statement.execute("PRAGMA busy_timeout=30000");
            }
            for (String change : changes) {
                statement.execute(change);
            }
        }
    }

    private String message() {
        return "{'message':{'messageId':'m" + ++messages + "','role':'ROLE_USER','parts':[{'text':'hello'}]}}";
    }

    private int send(Hub hub) throws Exception {
        return sendAll(hub).getFirst().statusCode();
    }

    private List<HttpResponse<String>> sendAll(Hub hub) throws Exception {
        var caller = new Outsider(hub.url());
        return List.of(
                caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'SendMessage','params':" + message() + "}",
                        "A2A-Version",
                        "1.0"),
                caller.post("/agents/echo/message:send", message(), "A2A-Version", "1.0"),
                caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'SendStreamingMessage','params':" + message() + "}",
                        "A2A-Version",
                        "1.0"),
                caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'message/send','params':{'message':{'messageId':'m"
                                + ++messages
                                + "','kind':'message','role':'user','parts':[{'kind':'text','text':'hello'}]}}}"),
                caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':{'id':'t" + ++messages
                                + "','message':{'role':'user','parts':[{'type':'text','text':'hello'}]}}}"));
    }

    private static Shown awaitReady(Hub hub, int status, String reason) throws Exception {
        String shown = new Outsider(hub.adminUrl()).awaitReady(status, reason);
        assertThat(new Outsider(hub.url()).get("/ready").statusCode()).isEqualTo(status);
        return Shown.of(shown);
    }

    @ParameterizedTest
    @EnumSource
    void aTableThatTasksNeedAndThatRefusesWritesMakesTheHubUnready(Fault fault) throws Exception {
        try (Hub hub = hub(fault.kind)) {
            assertThat(send(hub)).isEqualTo(200);
            execute(fault.change);

            for (HttpResponse<String> refused : sendAll(hub)) {
                assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
                assertThat(refused.headers().firstValue("Retry-After")).isPresent();
                assertThat(refused.body()).containsPattern(fault.words).doesNotContain("INSERT INTO", data.toString());
            }
            assertThat(awaitReady(hub, 503, "the database ").at("reason").text())
                    .containsPattern(fault.words.replace("\\\\", ""));
            assertThat(new Outsider(hub.url()).get("/health").statusCode()).isEqualTo(200);

            execute(fault.reversal);
            awaitReady(hub, 200, "ready"); // although nothing is sent
            assertThat(sendAll(hub)).extracting(HttpResponse::statusCode).containsOnly(200);
        }
    }

    static Stream<Kind> kinds() {
        return Stream.of(Kind.values());
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aTableOfAnExtensionThatRefusesWritesIsTheFaultOfTheExtensionOnly(Kind kind) throws Exception {
        try (Hub hub = hub(kind)) {
            var caller = new Outsider(hub.url());
            caller.result("/agents/echo", "knowledge/update", ADD.formatted(1), "A2A-Version", "1.0");
            execute("ALTER TABLE kg_change RENAME TO elsewhere");

            HttpResponse<String> refused = caller.post(
                    "/agents/echo",
                    "{'jsonrpc':'2.0','id':1,'method':'knowledge/update','params':" + ADD.formatted(2) + "}");
            assertThat(refused.body()).contains("kg_change").doesNotContain("INSERT INTO");
            assertThat(sendAll(hub)).extracting(HttpResponse::statusCode).containsOnly(200);
            assertThat(awaitReady(hub, 200, "kg_change").at("down", "knowledge").text())
                    .contains("the database refuses writes of knowledge", "kg_change");

            execute("ALTER TABLE elsewhere RENAME TO kg_change");
            Eventually.asserted(
                    "all parts are ready",
                    () -> assertThat(caller.get("/ready").body()).doesNotContain("down"));
            caller.result("/agents/echo", "knowledge/update", ADD.formatted(3), "A2A-Version", "1.0");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aWriteThatIsRefusedForItsValuesLeavesTheHubReady(Kind kind) throws Exception {
        try (Hub hub = hub(kind)) {
            var caller = new Outsider(hub.url());
            for (String id : List.of("x".repeat(9_000), "a\\u0000b")) {
                caller.post(
                        "/agents/echo",
                        "{'jsonrpc':'2.0','id':1,'method':'tasks/send','params':{'id':'" + id
                                + "','message':{'role':'user','parts':[{'type':'text','text':'hello'}]}}}");
            }

            awaitReady(hub, 200, "ready");
            assertThat(send(hub)).isEqualTo(200);
        }
    }
}
