package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The Helm chart of {@code deploy/}, rendered by Helm and checked by kubeconform. The schemas of Kubernetes are those of the Python
 * package kubernetes-validate, made from the published OpenAPI documents; their references name a server of that package, and are
 * replaced here. Nothing is installed into a cluster. When it is skipped is as with {@link InteropTest}.
 */
@Timeout(600) // Helm is compiled once
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ChartTest {
    private static final String CHART = Path.of("..", "deploy", "helm", "parley")
            .toAbsolutePath()
            .normalize()
            .toString();
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final Pattern SETTINGS = Pattern.compile("(?m)^  parley\\.yaml: \\|\\n((?:    .*\\n)+)");
    private static final Pattern SETTING = Pattern.compile("(?m)^    ([a-z][a-z0-9-]*):");

    @TempDir
    private static Path directory;

    @BeforeAll
    void install() {
        try {
            ForeignSdk.CHARTS.install();
        } catch (IOException failure) {
            Requirement.missing(String.valueOf(failure.getMessage()));
        }
    }

    @ParameterizedTest
    @CsvSource({"minimal,1.28", "minimal,1.37", "full,1.28", "full,1.37"})
    void theObjectsAreThoseOfKubernetes(String values, String version) throws IOException {
        Path objects = Files.writeString(directory.resolve(values + ".yaml"), render(values, version));

        List<String> output = kubeconform(objects, version);

        assertThat(output.getLast())
                .contains("Invalid: 0, Errors: 0, Skipped: 0")
                .doesNotContain(" Valid: 0");
    }

    @Test
    void anUnknownMemberIsFound() throws IOException {
        String objects = render("minimal", "1.37").replace("readinessProbe", "readyProbe");
        Path file = Files.writeString(directory.resolve("unknown.yaml"), objects);

        assertThatThrownBy(() -> kubeconform(file, "1.37")).hasMessageContaining("ended with 1");
    }

    @ParameterizedTest
    @CsvSource({
        "image.repository=,repository",
        "publicUrl=http://agents.example.com,publicUrl",
        "secrets.existingSecret=,existingSecret",
        "database.url=postgresql://host/name,database",
        "auth=none,auth",
        "settings.cluster=false,cluster",
        "replicaCount=3,replicaCount",
        "strategy.maxUnavailable=true,maxUnavailable",
        "podDisruptionBudget.maxUnavailable=50%,maxUnavailable"
    })
    void wrongValuesAreRefused(String value, String named) {
        assertThatThrownBy(() -> render("minimal", "1.37", "--set", value))
                .hasMessageContaining("values don't meet the specifications of the schema")
                .hasMessageContaining(named);
    }

    /** A pod of the old release is stopped when one of the new release is ready; hubs that take turns need another strategy. */
    @Test
    void anUpgradeExchangesPodsOneByOne() throws IOException {
        assertThat(render("minimal", "1.37")).contains("maxSurge: 1\n      maxUnavailable: 0");
        assertThat(render(
                        "minimal", "1.37", "--set", "strategy.maxSurge=100%", "--set", "strategy.maxUnavailable=100%"))
                .contains("maxSurge: 100%\n      maxUnavailable: 100%");
        assertThat(render("minimal", "1.37", "--set", "podDisruptionBudget.maxUnavailable=2"))
                .contains("maxUnavailable: 2");
    }

    @Test
    void helmFindsNothingAmiss() throws IOException {
        List<String> output = run("./helm", "lint", "--strict", "--values", values("full"), CHART);

        assertThat(output.getLast()).contains("1 chart(s) linted, 0 chart(s) failed");
    }

    @Test
    void aHubHasEachSettingOfTheChart() throws Exception {
        var settings = SETTINGS.matcher(render("full", "1.37"));
        assertThat(settings.find()).isTrue();
        List<String> names = SETTING.matcher(settings.group(1))
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();
        Process help = new ProcessBuilder(McpHubs.program("up", "--help")).start();
        String flags = new String(help.getInputStream().readAllBytes(), UTF_8);

        assertThat(names).contains("cluster", "encrypt-tasks");
        assertThat(names).allSatisfy(name -> assertThat(flags).containsPattern("--" + name + "[=\\[ ]"));
        assertThat(help.waitFor()).isZero();
    }

    private static String render(String values, String version, String... more) throws IOException {
        var command = new ArrayList<>(
                List.of("./helm", "template", "parley", CHART, "--kube-version", version, "--values", values(values)));
        command.addAll(List.of(more));
        return String.join("\n", run(command.toArray(String[]::new))) + "\n";
    }

    private static String values(String name) {
        return Path.of(CHART, "ci", name + "-values.yaml").toString();
    }

    private static List<String> kubeconform(Path objects, String version) throws IOException {
        return run(
                "./kubeconform",
                "-strict",
                "-summary",
                "-schema-location",
                schemas(version) + "/{{ .ResourceKind }}{{ .KindSuffix }}.json",
                objects.toString());
    }

    /** Returns a directory of schemas whose references name files. */
    private static Path schemas(String version) throws IOException {
        Path copies = directory.resolve("schemas-" + version);
        if (Files.exists(copies)) {
            return copies;
        }
        Files.createDirectory(copies);
        try (Stream<Path> all = Files.walk(ForeignSdk.CHARTS.directory().resolve("venv"))) {
            Path from = all.filter(path -> path.endsWith("v" + version + ".0-local-strict"))
                    .min(Comparator.naturalOrder())
                    .orElseThrow();
            try (Stream<Path> schemas = Files.list(from)) {
                for (Path schema : schemas.toList()) {
                    Files.writeString(
                            copies.resolve(schema.getFileName()),
                            Files.readString(schema)
                                    .replace("\"/api/_definitions.json", "\"" + copies.toUri() + "_definitions.json"));
                }
            }
        }
        return copies;
    }

    private static List<String> run(String... command) throws IOException {
        return ForeignSdk.execute(ForeignSdk.CHARTS.directory(), LIMIT, List.of(command), command[0].substring(2));
    }
}
