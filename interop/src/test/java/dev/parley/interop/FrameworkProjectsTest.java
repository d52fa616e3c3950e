package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.protocol.Task;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Projects of {@code parley init --with} and of the documents, outside the source tree: Maven takes Parley from artifacts, and all else from the registry, in the
 * versions that Spring Boot manages. When it is skipped is as with {@link InteropTest}.
 */
@Timeout(600)
final class FrameworkProjectsTest {
    private static final Pattern PORT = Pattern.compile("Tomcat started on port ([0-9]+)");

    @TempDir
    Path directory;

    @BeforeAll
    static void install() throws IOException {
        OutsideBuild.install();
    }

    @ParameterizedTest(name = "Spring Boot {0}")
    @ValueSource(strings = {"4.1.2", "4.0.7"})
    void aProjectIsBuiltWithTheVersionsOfSpringBootAndItsAgentAnswers(String release) throws Exception {
        Path project = project("spring");
        adapt(project.resolve("pom.xml"), release);

        OutsideBuild.run(project, OutsideBuild.maven("package"));

        assertPassed(project, "pricelist.PriceListApplicationTest", 1);
        Process program = new ProcessBuilder(
                        OutsideBuild.java(),
                        "-jar",
                        "target/price-list.jar",
                        "--server.port=0",
                        "--parley.in-memory=true")
                .directory(project.toFile())
                .redirectErrorStream(true)
                .start();
        try {
            String port = port(program).get(2, TimeUnit.MINUTES);
            try (AgentClient client = AgentClient.connect("http://localhost:" + port + "/a2a")) {
                assertThat(client.card().name()).isEqualTo("price-list");
                assertThat(((Task) client.send("world")).text()).isEqualTo("Hello, world");
            }
        } finally {
            program.destroy();
            program.onExit().get(1, TimeUnit.MINUTES);
        }
    }

    @Test
    void aProjectOfLangChain4jPassesItsTestWithAScriptedModel() throws Exception {
        Path project = project("langchain4j");
        OutsideBuild.useThisBuild(project.resolve("pom.xml"));

        OutsideBuild.run(project, OutsideBuild.maven("package"));

        assertPassed(project, "pricelist.PriceListAgentTest", 1);
    }

    @Test
    void aProjectOfAModelAnswersByServersOfBothFormats() throws Exception {
        Path project = project("model");
        OutsideBuild.useThisBuild(project.resolve("pom.xml"));

        OutsideBuild.run(project, OutsideBuild.maven("package"));

        assertPassed(project, "pricelist.PriceListAgentTest", 2);
        try (var server = new ModelServer(request -> new ModelServer.Answer.Text("You said: " + request.last()))) {
            for (String format : List.of("ollama", "openai")) {
                var program = new ProcessBuilder(OutsideBuild.java(), "-jar", "target/price-list.jar", "0")
                        .directory(project.toFile())
                        .redirectError(directory.resolve("program.log").toFile());
                program.environment().putAll(server.environment(format));
                try (ParleyProgram agent = ParleyProgram.start(program, "price-list");
                        AgentClient client = AgentClient.connect(agent.url())) {
                    assertThat(((Task) client.send("a pear, " + format)).text())
                            .isEqualTo("You said: a pear, " + format);
                }
            }
            assertThat(server.requests())
                    .extracting(ModelServer.Request::path)
                    .containsExactly("/api/chat", "/v1/chat/completions");
        }
    }

    @Test
    void theProgramsOfThePageOnAdkPassTheirTestWithAScriptedModel() throws Exception {
        Path source = Path.of("src/test/projects/adk");
        String page = Files.readString(OutsideBuild.ROOT.resolve("docs/adk.md"));
        for (String program : List.of("AdkHandler", "Shop")) {
            String text = Files.readString(source.resolve("src/main/java/shop/" + program + ".java"));
            assertThat(page).contains(text.substring(text.indexOf("import")).strip());
        }
        OutsideBuild.copy(source, directory);
        Path pom = directory.resolve("pom.xml");
        String dependencies = Files.readString(pom).replaceFirst("(?s).*(<groupId>com.google.adk.*?)</dep.*", "$1");
        assertThat(page.replaceAll("\\s+", "")).contains(dependencies.replaceAll("\\s+", ""));
        OutsideBuild.useThisBuild(pom);

        OutsideBuild.run(directory, OutsideBuild.maven("package"));

        assertPassed(directory, "shop.ShopTest", 2);
    }

    /** Makes the project {@code price-list}, and returns its directory. */
    private Path project(String framework) throws Exception {
        OutsideBuild.run(directory, McpHubs.program("init", "price-list", "--with", framework));
        return directory.resolve("price-list");
    }

    private static void assertPassed(Path project, String test, int count) {
        assertThat(project.resolve("target/surefire-reports/TEST-" + test + ".xml"))
                .content()
                .contains("tests=\"" + count + "\"", "failures=\"0\"", "errors=\"0\"");
    }

    /** Sets the version of this build, and the release of Spring Boot with what docs/spring.md asks for. */
    private static void adapt(Path pom, String release) throws IOException {
        String text = Files.readString(pom)
                .replaceFirst(
                        "(parley-spring-boot-starter</artifactId>\\s*<version>)[^<]+", "$1" + OutsideBuild.version())
                .replaceFirst("(spring-boot-starter-parent</artifactId>\\s*<version>)[^<]+", "$1" + release);
        if (release.startsWith("4.0.")) {
            Matcher block = Pattern.compile("(?s)```xml\\n(<opentelemetry\\.version>.*?)```")
                    .matcher(Files.readString(OutsideBuild.ROOT.resolve("docs/spring.md")));
            assertThat(block.find()).isTrue();
            text = text.replace("<properties>", "<properties>\n" + block.group(1));
        }
        Files.writeString(pom, text);
    }

    /** The port of a program, once it says that all of it has started. */
    private static CompletableFuture<String> port(Process program) {
        var port = new CompletableFuture<String>();
        Thread.startVirtualThread(() -> {
            var log = new StringBuilder();
            try (BufferedReader output = program.inputReader(UTF_8)) {
                for (String line = output.readLine(); line != null && !port.isDone(); line = output.readLine()) {
                    log.append(line).append('\n');
                    Matcher opened = PORT.matcher(log);
                    if (line.contains("Started PriceListApplication in ") && opened.find()) {
                        port.complete(opened.group(1));
                    }
                }
                port.completeExceptionally(new IOException("the program ended:\n" + log));
                output.transferTo(Writer.nullWriter());
            } catch (IOException failure) {
                port.completeExceptionally(failure);
            }
        });
        return port;
    }
}
