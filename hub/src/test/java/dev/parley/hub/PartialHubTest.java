package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Outsider.Shown;
import java.io.File;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A hub starts and serves its agents without the jars of the graph's query languages. */
@Timeout(120)
final class PartialHubTest {
    private static final Pattern GRAPHQL = Pattern.compile("^(graphql-java|java-dataloader|reactive-streams)");
    private static final Pattern RDF = Pattern.compile("^(jena-|titanium|parsson|jakarta\\.json)");

    private static final String UPDATE =
            "{'mutations':[{'op':'add','statement':{'subject':{'id':'ex:p1'},'predicate':{'id':'ex:status'},"
                    + "'object':{'value':'here'}}}]}";

    @TempDir
    private Path directory;

    @Test
    void aHubWithoutGraphQlAndRdfServesAgentsAndRefusesTheirLanguages() throws Exception {
        String classPath = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> {
                    String jar = Path.of(entry).getFileName().toString();
                    return !GRAPHQL.matcher(jar).find() && !RDF.matcher(jar).find();
                })
                .collect(Collectors.joining(File.pathSeparator));
        assertThat(classPath).doesNotContain("graphql-java", "jena-arq");
        Process hub = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classPath,
                        PartialHub.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (var output = hub.inputReader()) {
            String line = output.readLine();
            assertThat(line).startsWith("ready ");
            var caller = new Outsider(line.substring("ready ".length()));

            assertThat(caller.get("/ready").statusCode()).isEqualTo(200);
            assertThat(caller.result(
                                    "/agents/echo",
                                    "SendMessage",
                                    "{'message':{'messageId':'m1','role':'ROLE_USER','parts':[{'text':'hello'}]}}",
                                    "A2A-Version",
                                    "1.0")
                            .at("task", "status", "state")
                            .text())
                    .isEqualTo("TASK_STATE_COMPLETED");
            assertThat(caller.get("/agents/echo/.well-known/agent-card.json").body())
                    .contains("knowledge-graph")
                    .doesNotContain("queryLanguages", "schemaUrl");
            assertThat(caller.result("/agents/echo", "knowledge/update", UPDATE)
                            .at("success")
                            .value())
                    .isEqualTo(true);
            for (String language : new String[] {"graphql", "sparql"}) {
                Shown refused = caller.rpc(
                        "/agents/echo",
                        "knowledge/query",
                        "{'query':'{ graphs { name } }','queryLanguage':'" + language + "'}");
                assertThat(String.valueOf(refused.at("error", "code").value())).isEqualTo("-32602");
                assertThat(refused.toString()).contains("queryLanguage", language, "expected");
            }
            assertThat(String.valueOf(caller.code(
                            "/agents/echo",
                            "knowledge/subscribe",
                            "{'subscriptionQuery':'subscription { knowledgeChanged { op } }'}")))
                    .isIn("-32602", "-32004");
        } finally {
            hub.destroyForcibly();
            hub.onExit().join();
        }
    }
}
