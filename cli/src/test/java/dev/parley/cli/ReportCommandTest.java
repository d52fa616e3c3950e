package dev.parley.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.Shell.Ran;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley report …} of a hub. */
@Timeout(120)
final class ReportCommandTest {
    @TempDir
    Path directory = Path.of("");

    private Hub hub(boolean keys) {
        HubBuilder hub = Hub.builder()
                .agents(DemoAgents.all().toArray(Agent[]::new))
                .data(directory.resolve("data"))
                .port(0)
                .drain(Duration.ofMillis(200));
        return (keys ? hub.set("auth", "required") : hub).start();
    }

    @Test
    @DisplayName("GEM32 the use of each agent and caller is reported as text, CSV and JSON, also after a restart")
    void usage() {
        try (Hub hub = hub(false)) {
            Shell shell = new Shell(directory);
            for (int i = 0; i < 3; i++) {
                assertThat(shell.run("send", "-a", hub.agentUrl("echo"), "hello")
                                .status())
                        .isZero();
            }
            assertThat(shell.run("task", "get", "-a", hub.agentUrl("echo"), "unknown")
                            .status())
                    .isNotZero();
        }
        try (Hub hub = hub(false)) {
            Shell shell = new Shell(directory);
            assertThat(shell.run("send", "-a", hub.agentUrl("echo"), "hello").status())
                    .isZero();

            Map<?, ?> echo = row(report(shell, hub, "usage", "-o", "json", "--by", "agent,caller,group,skill,day"));

            assertThat(echo.get("caller")).isEqualTo("anonymous");
            assertThat(echo.get("group")).isEqualTo("default");
            assertThat(echo.get("skill")).isEqualTo("");
            assertThat(number(echo, "calls")).isEqualTo(5);
            assertThat(number(echo, "errors")).isEqualTo(1);
            assertThat(number(echo, "success")).isEqualTo(80);
            assertThat(number(echo, "tasks")).isEqualTo(number(echo, "tasksCompleted"));
            assertThat(number(echo, "bytesReceived")).isGreaterThan(4 * 5);
            assertThat(number(echo, "bytesSent")).isGreaterThan(4 * 5);
            assertThat(number(echo, "p95Millis")).isGreaterThanOrEqualTo(number(echo, "p50Millis"));
            assertThat(number(echo, "p50Millis")).isPositive();
            assertThat(report(shell, hub, "usage", "--since", "1h", "-o", "csv").lines())
                    .first()
                    .asString()
                    .startsWith("agent,calls,errors,success,");
            assertThat(report(shell, hub, "reliability")).contains("TASK_NOT_FOUND:1");
            assertThat(report(shell, hub, "series", "--agent", "echo", "--since", "10m", "-o", "json"))
                    .containsPattern("\"operation\":\"Send[A-Za-z]+\",\"calls\":1,\"errors\":0,\"p50Millis\":[0-9.]+");
            assertThat(report(shell, hub, "usage", "--until", "2020-01-31", "--since", "2020-01-01"))
                    .isBlank();
        }
    }

    @Test
    @DisplayName("GEM32 an administrator of a group sees the calls of its group only, and no other operation")
    void groups() {
        try (Hub hub = hub(true)) {
            String admin = hub.bootstrapKey().orElseThrow();
            Shell operator = new Shell(directory).with("A2ACLI_API_KEY", admin);
            for (String group : List.of("red", "blue")) {
                Shell member = new Shell(directory).with("A2ACLI_API_KEY", key(operator, hub, group, "ann"));
                assertThat(member.run("send", "-a", hub.agentUrl("echo"), "hello")
                                .status())
                        .isZero();
                Ran refused = member.run("report", "usage", "--url", hub.url());
                assertThat(refused.status()).isEqualTo(4);
            }
            Shell red = new Shell(directory)
                    .with("A2ACLI_API_KEY", key(operator, hub, "red", "boss", "--scope", "group-admin"));

            assertThat(report(operator, hub, "usage", "--by", "group")).contains("red", "blue");
            assertThat(report(operator, hub, "usage", "--by", "group", "--group", "blue"))
                    .contains("blue")
                    .doesNotContain("red");
            assertThat(report(red, hub, "usage", "--by", "group,caller"))
                    .contains("red", "ann")
                    .doesNotContain("blue");
            assertThat(red.run("report", "usage", "--url", hub.url(), "--group", "blue")
                            .err())
                    .contains("group", "expected: red");
            for (String other : List.of("key list", "user list", "audit verify", "group list", "report series")) {
                Ran refused = red.run((other + " --url " + hub.url()).split(" ", -1));
                assertThat(refused.status()).as(other).isEqualTo(4);
            }
        }
    }

    @Test
    @DisplayName("GEM32 the name of an erased principal is not in reports, its calls are")
    void erasure() {
        try (Hub hub = hub(true)) {
            Shell operator = new Shell(directory)
                    .with("A2ACLI_API_KEY", hub.bootstrapKey().orElseThrow());
            Shell member = new Shell(directory).with("A2ACLI_API_KEY", key(operator, hub, "red", "ann"));
            assertThat(member.run("send", "-a", hub.agentUrl("echo"), "hello").status())
                    .isZero();
            Ran exported = operator.run(
                    "privacy", "export", "ann.jsonl", "--subject", "ann", "--group", "red", "--url", hub.url());
            assertThat(exported.out()).as(exported.err()).contains("Measures: 1");

            Ran erased =
                    operator.run("privacy", "erase", "--yes", "--subject", "ann", "--group", "red", "--url", hub.url());

            assertThat(erased.out()).as(erased.err()).contains("Measures: 1");
            String report = report(operator, hub, "usage", "--by", "caller", "--group", "red");
            assertThat(report).doesNotContain("ann").contains("erased-");
        }
    }

    @Test
    void aWrongReportIsAUsageError() {
        Shell shell = new Shell(directory);
        assertThat(shell.run("report", "usage", "-o", "xml").err()).contains("expected: text, csv or json");
        assertThat(shell.run("report", "usage", "--since", "soon").err()).contains("invalid --since: soon");
    }

    private static String key(Shell operator, Hub hub, String group, String name, String... more) {
        var line = new ArrayList<>(
                List.of("key", "create", "--group", group, "--principal", name, "--url", hub.url(), "-o", "json"));
        line.addAll(List.of(more));
        Ran made = operator.run(line.toArray(String[]::new));
        assertThat(made.status()).as(made.err()).isZero();
        return String.valueOf(Json.read(made.out().getBytes(StandardCharsets.UTF_8), Map.class)
                .get("key"));
    }

    private static String report(Shell shell, Hub hub, String kind, String... more) {
        var line = new ArrayList<>(List.of("report", kind, "--url", hub.url()));
        line.addAll(List.of(more));
        Ran ran = shell.run(line.toArray(String[]::new));
        assertThat(ran.status()).as(ran.err()).isZero();
        return ran.out();
    }

    private static Map<?, ?> row(String json) {
        List<?> rows = (List<?>) requireNonNull(
                Json.read(json.getBytes(StandardCharsets.UTF_8), Map.class).get("rows"));
        return (Map<?, ?>) rows.stream()
                .filter(row -> "echo".equals(((Map<?, ?>) row).get("agent")))
                .findFirst()
                .orElseThrow();
    }

    private static double number(Map<?, ?> row, String name) {
        return ((Number) requireNonNull(row.get(name))).doubleValue();
    }
}
