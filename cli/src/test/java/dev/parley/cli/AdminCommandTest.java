package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.hub.Hub;
import dev.parley.hub.admin.AdminOperations;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands that are derived from the operations of the administration. */
@Timeout(90)
final class AdminCommandTest {
    @TempDir
    private Path directory;

    private Shell shell;

    @BeforeEach
    void start() {
        shell = new Shell(directory);
    }

    private String run(String line) {
        Shell.Ran ran = shell.run((line + " --data data").split(" ", -1));
        assertThat(ran.status()).as(line + ran.err()).isZero();
        return ran.out();
    }

    private Map<?, ?> json(String line) {
        return Json.read(run(line + " -o json").getBytes(StandardCharsets.UTF_8), Map.class);
    }

    @Test
    void groupsAndUsersAreManagedInADataDirectory() {
        assertThat(run("group create sales")).startsWith("ID: sales\nMade: ");
        assertThat(run("group archive sales")).contains("ID: sales\n", "Archived: ");
        assertThat(run("group restore sales")).doesNotContain("Archived");
        assertThat(run("user create sales ann")).startsWith("Group: sales\nName: ann\nMade: ");
        assertThat(run("user disable sales ann")).contains("Disabled: ");
        assertThat(run("user enable sales ann")).doesNotContain("Disabled");
        assertThat(run("user list --group sales")).contains("Name: ann\n").endsWith("Total-Size: 1\n");
        assertThat(run("user list --group other")).isEqualTo("Total-Size: 0\n");
        assertThat(json("group list").get("groups"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .anySatisfy(group -> assertThat(((Map<?, ?>) group).get("id")).isEqualTo("sales"));
    }

    @Test
    void aKeyIsCreatedRotatedAndRevoked() {
        Map<?, ?> made = json("key create --group sales --principal ann --scope a --scope b --expires 90d");
        assertThat(made.get("scopes")).isEqualTo(List.of("a", "b"));
        assertThat(made.get("expires")).isInstanceOf(String.class);
        assertThat(String.valueOf(made.get("key"))).startsWith("parley_" + made.get("id"));

        Map<?, ?> successor = json("key rotate " + made.get("id") + " --overlap 1h");
        assertThat(successor.get("key")).isNotEqualTo(made.get("key"));
        assertThat(run("key list")).contains("Scopes: a b\n", "Successor: ").endsWith("Total-Size: 2\n");
        assertThat(run("key revoke " + successor.get("id"))).contains("ID: ", "Revoked: ");
        assertThat(json("key create --group g --principal p --expires 2999-01-31")
                        .get("expires"))
                .isEqualTo("2999-01-31T00:00:00Z");
    }

    @Test
    void theAuditIsReadFiltered() throws Exception {
        run("group create sales");
        run("user create sales ann");

        assertThat(run("audit tail -n 1")).contains("user.created").doesNotContain("group.created");
        assertThat(run("audit query --action group.created"))
                .contains("group.created")
                .doesNotContain("user.created");
        assertThat(run("audit verify")).startsWith("Chain: good\nRows: ");
        assertThat(json("audit verify").get("good")).isEqualTo(true);
        assertThat(run("audit export rows.jsonl --group default"))
                .startsWith("File: ")
                .contains("Rows: 2\n");
        assertThat(Files.readString(directory.resolve("rows.jsonl"))).hasLineCount(2);
    }

    @Test
    void aHubIsListedCheckedDrainedAndResumed() {
        try (Hub hub = Hub.builder().inMemory().port(0).start()) {
            assertThat(ask("hub list", hub)).startsWith("ID: this\n").contains("Running: 0\n", "Total-Size: 1\n");
            assertThat(ask("hub check this", hub))
                    .contains("memory: warning, the hub keeps its data in memory. Start the hub with --data DIR")
                    .contains("queue: ok, 0 tasks wait");
            assertThat(ask("hub drain this", hub)).contains("Drained: ");
            assertThat(ask("hub resume this", hub)).startsWith("ID: this\n").doesNotContain("Drained");
        }
    }

    private String ask(String line, Hub hub) {
        Shell.Ran ran = shell.run((line + " --url " + hub.url()).split(" ", -1));
        assertThat(ran.status()).as(line + ran.err()).isZero();
        return ran.out();
    }

    @Test
    void whatIsMissingOrWrongIsAUsageError() {
        run("group create sales");
        Map.of(
                        "key create --principal ann --data data", "missing --group",
                        "key create --group g --principal ann --expires soon --data data",
                                "invalid --expires: soon (expected: such as 90d, 2027-01-31 or",
                        "key rotate id --overlap long --data data", "invalid --overlap: long (expected: a duration",
                        "group create --data data", "GROUP",
                        "user list --data data --url http://127.0.0.1:1", "--data and --url together",
                        "privacy erase --subject ann", "an erasure cannot be undone (expected: --yes)",
                        "privacy erase --yes", "no subject (expected: --subject NAME or --context ID)",
                        "audit query --since yesterday --data data", "since",
                        "audit query --since 2020 --data data", "invalid --since: 2020 (expected: such as 90d")
                .forEach((line, expected) -> {
                    Shell.Ran ran = shell.run(line.split(" ", -1));
                    assertThat(ran.status()).as(line + ran.err()).isEqualTo(2);
                    assertThat(ran.err()).as(line).contains(expected);
                });
    }

    @Test
    void aDurationBeforeNowIsATimeOfThePast() {
        run("group create sales");

        assertThat(run("audit query --since 1h")).contains("group.created");
    }

    @Test
    void helpIsThatOfTheRow() {
        String help = shell.run("key", "create", "--help").out();

        assertThat(help)
                .contains("Create a key; it is shown once.")
                .contains("--scope=SCOPE", "Repeatable.")
                .contains("--expires=WHEN", "A duration such as 90d, or a date or time; default: never.")
                .contains("--data=DIR", "-a, --url, --agent-card=HUB");
        assertThat(shell.run("push", "secret", "--help").out())
                .contains("Show the secret that signs a group's webhooks.", "--group=GROUP");
        assertThat(shell.run("group", "--help").out()).contains("archive", "Disable all members of a group.");
        assertThat(AdminOperations.names()).contains("admin/keys/create");
    }
}
