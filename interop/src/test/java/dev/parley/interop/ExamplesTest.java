package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Main;
import dev.parley.interop.ModelServer.Answer;
import dev.parley.interop.ModelServer.Request;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each of {@code examples/} by the command of its page, in a copy outside the source tree, with the artifacts of this build and a model
 * whose answers are a script. When it is skipped is as with {@link InteropTest}.
 */
@Timeout(300)
final class ExamplesTest {
    /** One for all tests, as a second run of an example has the libraries of the first one. */
    @TempDir
    static Path directory;

    @BeforeAll
    static void install() throws IOException {
        OutsideBuild.install();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ollama", "openai"})
    void theResearchAssistantAnswersFromWhatTheOtherAgentFinds(String format) throws Exception {
        try (var model = new ModelServer(ExamplesTest::research)) {
            String output = run("research-assistant", "./run", model.environment(format), "Why do bearings wear out?");

            assertThat(output)
                    .contains("library: searches bearings", "Found: bearings: Bearings of pumps", "COMPLETED")
                    .doesNotContain("seals:");
            assertThat(model.requests()).extracting(Request::tools).containsOnly(List.of("library"));
        }
    }

    /** Searches, then repeats the result. */
    private static Answer research(Request request) {
        return request.hasResult()
                ? new Answer.Text("Found: " + request.last())
                : new Answer.Call("library", Map.of("message", "bearings"));
    }

    @Test
    void aModelHasAllAgentsOfAHubAsTools() throws Exception {
        try (var model = new ModelServer(ExamplesTest::tools)) {
            String output =
                    run("agents-as-mcp-tools", "uv", model.environment("openai"), "run", "ask.py", "Count to 3");

            assertThat(output)
                    .contains("counter__count {\"message\":\"3\"}: Counted to 3.", "The counter says: Counted to 3.");
            assertThat(model.requests().getFirst().tools())
                    .contains(
                            "analyst__describe", "counter__count", "echo__echo", "interview__interview", "ping__ping");
        }
    }

    private static Answer tools(Request request) {
        return request.hasResult()
                ? new Answer.Text("The counter says: " + request.last())
                : new Answer.Call("counter__count", Map.of("message", "3"));
    }

    @Test
    void aTeamOfThreeFrameworksWorksOnOneTaskThroughAHub() throws Exception {
        try (var model = new ModelServer(ExamplesTest::team)) {
            String output = run("team-of-three", "./run", model.environment("openai"), "Write about pumps");

            assertThat(output).contains("editor: Pumps move water, say FACTS and the critic: TOO SHORT");
            assertThat(model.requests()).hasSizeGreaterThanOrEqualTo(5);
        }
    }

    /** Members are told apart by their instructions; the editor asks the others in turn. */
    private static Answer team(Request request) {
        String all = request.all();
        if (all.contains("You are a researcher.")) {
            return new Answer.Text("FACTS on " + request.last());
        }
        if (all.contains("You are a critic.")) {
            return new Answer.Call("final_answer", Map.of("response", "TOO SHORT: " + request.last()));
        }
        if (!request.hasResult()) {
            return new Answer.Call("researcher", Map.of("message", "pumps"));
        }
        return all.contains("TOO SHORT")
                ? new Answer.Text("Pumps move water, say FACTS and the critic: TOO SHORT")
                : new Answer.Call("critic", Map.of("message", request.last()));
    }

    /** Runs a command in a copy of an example, with {@code parley} on the path, and this build in the local repository. */
    private String run(String example, String command, Map<String, String> model, String... arguments)
            throws Exception {
        Path project = directory.resolve(example);
        if (Files.notExists(project)) {
            OutsideBuild.copy(OutsideBuild.ROOT.resolve("examples").resolve(example), project);
            if (Files.exists(project.resolve("pom.xml"))) {
                OutsideBuild.useThisBuild(project.resolve("pom.xml"));
            }
        }
        Path programs = Files.createDirectories(directory.resolve("bin"));
        Path parley = Files.writeString(programs.resolve("parley"), """
                #!/bin/sh
                exec '%s' -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED -cp '%s' %s "$@"
                """.formatted(
                        OutsideBuild.java(), System.getProperty("java.class.path"), Main.class.getName()));
        Files.setPosixFilePermissions(parley, PosixFilePermissions.fromString("rwx------"));
        ForeignSdk.UV.install();
        Path uv = ForeignSdk.UV.directory().resolve("venv/bin").toAbsolutePath();
        var environment = new HashMap<>(model);
        environment.put("PATH", programs + File.pathSeparator + uv + File.pathSeparator + System.getenv("PATH"));
        environment.put("MAVEN_OPTS", "-XX:TieredStopAtLevel=1 -Dmaven.repo.local=" + OutsideBuild.REPOSITORY);
        environment.put("UV_SYSTEM_CERTS", "true");
        return OutsideBuild.run(
                project,
                Stream.concat(Stream.of("env", command), Stream.of(arguments)).toList(), // finds it on the new path
                environment);
    }
}
