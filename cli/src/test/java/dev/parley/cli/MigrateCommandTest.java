package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import dev.parley.hub.Hub;
import dev.parley.protocol.support.Sha256;
import dev.parley.store.database.PostgresqlServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley migrate} with a hub that has everything on. */
@Tag("heavy")
@Timeout(300)
final class MigrateCommandTest {
    private static final Pattern TASK = Pattern.compile("\"id\":\"([0-9a-f-]{36})\"");
    private static final Pattern ENTRY = Pattern.compile("\"id\":\"urn:[^\"]+\"|\"created\":\"[^\"]+\"");
    private static final Pattern KEY = Pattern.compile("\"key\":\"([^\"]+)\"");

    @TempDir
    private Path directory;

    private RunningHub up(String data, Hub remote, String... more) throws InterruptedException {
        var args = new ArrayList<>(List.of(
                "--data",
                directory.resolve(data).toString(),
                "--encrypt-tasks",
                "--webhook-allow",
                "127.0.0.1",
                "--drain",
                "0s",
                "--mcp-servers",
                directory.resolve("servers.json").toString(),
                "--remote",
                "fixed=" + remote.agentUrl("far")));
        args.addAll(List.of(more));
        return new RunningHub(directory, Map.of(), args.toArray(String[]::new));
    }

    private Ran run(String... args) {
        return new Shell(directory).run(args);
    }

    private String done(String... args) {
        Ran ran = run(args);
        assertThat(ran.status())
                .as(String.join(" ", args) + ": " + ran.out() + ran.err())
                .isZero();
        return ran.out();
    }

    /** Answers of a hub that are the same after the move. */
    private Map<String, String> answers(RunningHub hub) throws IOException, InterruptedException {
        String url = hub.url();
        String echo = url + "/agents/echo";
        var answers = new LinkedHashMap<String, String>();
        for (String[] line : new String[][] {
            {"task", "list", "-a", echo, "-o", "json"},
            {"workflow", "list", "-a", url, "-o", "json"},
            {"gateway", "list", "-a", url, "-o", "json"},
            {"mcp", "tools", "-a", url, "-o", "json"},
            {"group", "list", "-a", url, "-o", "json"},
            {"key", "list", "-a", url, "--group", "acme", "-o", "json"},
            {"kg", "stats", "-a", echo, "-o", "json"},
            {"kg", "export", "-a", echo},
            {"kg", "review", "list", "-a", url, "-o", "json"},
        }) {
            answers.put(
                    String.join(" ", List.of(line).subList(0, 2)), done(line).replace(url, "URL"));
        }
        // Addresses in cards, and what probes have found, are of the new hub.
        answers.put(
                "entries",
                ENTRY.matcher(done("agent", "list", "-a", url, "-o", "json"))
                        .results()
                        .map(MatchResult::group)
                        .toList()
                        .toString());
        assertThat(answers.get("entries")).contains(":default:far");
        Matcher task = TASK.matcher(answers.getOrDefault("task list", ""));
        assertThat(task.find()).as(answers.toString()).isTrue();
        for (String after : List.of("0", "1")) {
            answers.put("events after " + after, events(echo, task.group(1), after));
        }
        return answers;
    }

    private static String events(String agent, String task, String after) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create(agent + "/tasks/" + task + ":subscribe"))
                                    .header("A2A-Version", "1.0")
                                    .header("Last-Event-ID", after)
                                    .POST(HttpRequest.BodyPublishers.noBody())
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    /** Numbers of rows of all tables of a data directory, but for those that a hub on PostgreSQL makes anew. */
    private static Map<String, Long> rows(Path data) throws SQLException {
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + data.resolve("parley.db"));
                ResultSet names = database.createStatement()
                        .executeQuery("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'view'"
                                + " AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'registry_search%'"
                                + " AND name NOT IN ('module_version', 'audit_end', 'registry_derived')")) {
            var tables = new TreeSet<String>();
            while (names.next()) {
                tables.add(names.getString(1));
            }
            return rows(tables, database);
        }
    }

    private static Map<String, Long> rows(Set<String> tables, String url) throws SQLException {
        try (Connection database = PostgresqlServer.connect(url)) {
            return rows(tables, database);
        }
    }

    private static Map<String, Long> rows(Set<String> tables, Connection database) throws SQLException {
        var rows = new TreeMap<String, Long>();
        for (String table : tables) {
            try (ResultSet count = database.createStatement().executeQuery("SELECT count(*) FROM " + table)) {
                count.next();
                rows.put(table, count.getLong(1));
            }
        }
        return rows;
    }

    private Map<String, String> files(Path data) throws IOException {
        var hashes = new TreeMap<String, String>();
        try (Stream<Path> all = Files.walk(data)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                hashes.put(
                        data.relativize(file).toString(),
                        Sha256.hex(Base64.getEncoder().encodeToString(Files.readAllBytes(file))));
            }
        }
        return hashes;
    }

    @Test
    void aHubOnPostgresqlHasAllThatItHadOnSqlite() throws Exception {
        Files.writeString(directory.resolve("servers.json"), "{\"mcpServers\":{}}");
        Path old = directory.resolve("old");
        Path moved = directory.resolve("moved dir");
        String database = PostgresqlServer.url();
        try (Hub remote = HubContents.remote()) {
            Map<String, String> before;
            String key;
            try (RunningHub hub = up("old", remote)) {
                HubContents.fill(directory, hub.url(), remote);
                Matcher created = KEY.matcher(
                        done("key", "create", "-a", hub.url(), "--group", "acme", "--principal", "bob", "-o", "json"));
                assertThat(created.find()).isTrue();
                key = created.group(1);
                before = answers(hub);
                Ran refused = run("migrate", "--data", old.toString(), "--to", database);
                assertThat(refused.status()).isOne();
                assertThat(refused.err()).contains("is in use by another hub");
            }
            Map<String, String> files = files(old);

            String report = done("migrate", "--data", old.toString(), "--to", database, "--new", moved.toString());

            assertThat(report).contains("parley up --data '" + moved + "'");
            assertThat(files(old)).isEqualTo(files);
            assertThat(files(moved).keySet())
                    .contains("database.url", "encryption.key", "token.secret", "webhook.master")
                    .doesNotContain("parley.db");
            Map<String, Long> rows = rows(old);
            assertThat(rows.keySet()).contains("task", "kg_statement", "registry_entry", "gateway_route", "trust_key");
            assertThat(rows(rows.keySet(), database)).isEqualTo(rows);
            assertThat(run("migrate", "--data", old.toString(), "--to", database, "--new", moved.toString())
                            .err())
                    .contains("it has tables of Parley");
            try (RunningHub hub = up("moved dir", remote)) {
                assertThat(hub.command.isDone())
                        .as(hub.err.toString(StandardCharsets.UTF_8))
                        .isFalse();
                assertThat(answers(hub)).isEqualTo(before);
                HubContents.send(directory, hub.url());
                assertThat(done("audit", "verify", "-a", hub.url())).contains("Chain: good");
            }
            try (RunningHub hub = up("moved dir", remote, "--auth", "required")) {
                Ran called = new Shell(directory)
                        .with("A2ACLI_API_KEY", key)
                        .run("send", "-a", hub.url() + "/agents/echo", "hello");
                assertThat(called.status()).as(called.err()).isZero();
            }
            assertThat(done("doctor", "--data", moved.toString())).doesNotContain("problem");
        }
    }

    @Test
    void aDatabaseWithTablesOfAnUnknownExtensionIsRefused() throws Exception {
        Path old = directory.resolve("old");
        try (RunningHub hub = new RunningHub(directory, Map.of(), "--data", old.toString())) {
            assertThat(hub.url()).isNotEmpty();
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + old.resolve("parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("INSERT INTO module_version (module, version) VALUES ('notes', 1)");
        }

        Ran ran = run("migrate", "--data", old.toString(), "--to", PostgresqlServer.url());

        assertThat(ran.status()).isOne();
        assertThat(ran.err()).contains("modules that this program does not know: notes");
        assertThat(directory.resolve("old-postgresql")).doesNotExist();
    }

    @Test
    void aFindingOfTheVerificationKeepsHubsOut() throws Exception {
        Path old = directory.resolve("old");
        try (RunningHub hub = new RunningHub(directory, Map.of(), "--data", old.toString())) {
            done("group", "create", "-a", hub.url(), "acme");
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + old.resolve("parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE audit SET target = 'other' WHERE action = 'group.created'");
        }

        Ran ran = run("migrate", "--data", old.toString(), "--to", PostgresqlServer.url());

        assertThat(ran.status()).isOne();
        assertThat(ran.err()).contains("no hub uses it", "audit: row ", "is not what was written");
        Ran hub = run(
                "up",
                "--port",
                "0",
                "--data",
                directory.resolve("old-postgresql").toString());
        assertThat(hub.status()).isOne();
        assertThat(hub.err()).contains("their move has not ended");
    }

    @Test
    void problemsThatTheDataHaveMoveWithThemIfTheOperatorAcceptsThem() throws Exception {
        Path old = directory.resolve("old");
        try (RunningHub hub = new RunningHub(directory, Map.of(), "--data", old.toString())) {
            done("group", "create", "-a", hub.url(), "acme");
            for (String principal : List.of("ann", "bob", "cid", "dan", "eve")) {
                done("key", "create", "-a", hub.url(), "--group", "acme", "--principal", principal);
            }
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + old.resolve("parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE audit SET target = 'other' WHERE action = 'group.created'");
            statement.execute("UPDATE trust_key SET scopes = 'a a'");
        }
        String url = PostgresqlServer.url();

        Ran refused = run("migrate", "--data", old.toString(), "--to", url);
        Ran partly = run("migrate", "--data", old.toString(), "--to", url, "--accept", "key");
        Ran moved = run("migrate", "--data", old.toString(), "--to", url, "--accept", " audit , key");

        assertThat(refused.status()).isOne();
        assertThat(refused.err())
                .contains("audit: row ", "; key: 5 problems, such as ")
                .containsOnlyOnce("Revoke the key and create another one.")
                .contains("Hint: ", "--accept audit,key");
        assertThat(partly.status()).isOne();
        assertThat(partly.err()).contains("audit: row ", "--accept audit,key").doesNotContain("key: ");
        assertThat(moved.status()).as(moved.err()).isZero();
        assertThat(moved.err()).contains("accepted: audit: row ", "accepted: key: 5 problems, such as ");
        try (RunningHub hub = new RunningHub(
                directory,
                Map.of(),
                "--data",
                directory.resolve("old-postgresql").toString())) {
            assertThat(done("group", "list", "-a", hub.url())).contains("acme");
        }
    }

    @Test
    void problemsOfSecretsCannotBeAccepted() throws Exception {
        Path old = directory.resolve("old");
        try (RunningHub hub = new RunningHub(directory, Map.of(), "--data", old.toString())) {
            done("group", "create", "-a", hub.url(), "acme");
        }
        try (Connection database = DriverManager.getConnection("jdbc:sqlite:" + old.resolve("parley.db"));
                Statement statement = database.createStatement()) {
            statement.execute("UPDATE audit SET target = 'other' WHERE action = 'group.created'");
        }
        Files.writeString(old.resolve("token.secret"), "short");
        String url = PostgresqlServer.url();

        Ran refused = run("migrate", "--data", old.toString(), "--to", url);
        Ran accepted = run("migrate", "--data", old.toString(), "--to", url, "--accept", "audit");

        assertThat(refused.err()).contains("audit: row ", "token.secret: ").containsPattern("--accept audit\\b(?!,)");
        assertThat(accepted.status()).isOne();
        assertThat(accepted.err()).contains("token.secret: ").doesNotContain("--accept", "audit: row ");
    }

    @Test
    void wrongOptionsAreRefusedBeforeAnythingIsWritten() throws IOException, SQLException {
        Path old = Files.createDirectory(directory.resolve("old"));
        Path full = Files.createDirectory(directory.resolve("full"));
        Files.writeString(full.resolve("notes.txt"), "mine");
        String database = PostgresqlServer.url();

        assertThat(run("migrate", "--data", old.toString()).status()).isEqualTo(2);
        assertThat(run("migrate", "--data", old.toString(), "--to", database, "--new", full.toString())
                        .err())
                .contains("it is not empty");
        assertThat(run(
                                "migrate",
                                "--data",
                                old.toString(),
                                "--to",
                                database,
                                "--new",
                                old.resolve("new").toString())
                        .err())
                .contains("it is in the earlier data directory");
        assertThat(run("migrate", "--data", old.toString(), "--to", database).err())
                .contains("no database of SQLite");
        assertThat(run("migrate", "--data", old.toString(), "--to", "mysql://host/name")
                        .status())
                .isEqualTo(2);
        for (String checks : List.of("disk", "database", "token.secret", "key,tusks")) {
            Ran ran = run("migrate", "--data", old.toString(), "--to", database, "--accept", checks);
            assertThat(ran.status()).as(checks).isEqualTo(2);
            assertThat(ran.err()).contains("expected: names out of audit, graph, key, ");
        }
        assertThat(files(old)).isEmpty();
        assertThat(directory.resolve("old-postgresql")).doesNotExist();
    }
}
