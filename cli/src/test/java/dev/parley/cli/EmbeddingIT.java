package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.parley.cli.output.CliEnvironment;
import dev.parley.client.AgentClient;
import dev.parley.protocol.Task;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Projects outside the source tree that depend on Parley: the program of the README, what {@code parley init} creates. */
@Timeout(300)
@Tag("heavy")
class EmbeddingIT {
    private static final Path ROOT = Path.of("").toAbsolutePath().resolve("..").normalize();
    private static final Path DOCUMENT = ROOT.resolve("docs/embedding.md");
    private static final Path LIBRARIES = ROOT.resolve("docs/libraries.md");

    @TempDir
    static Path shared;

    @TempDir
    Path directory;

    private static ConsumerBuild maven;

    @BeforeAll
    static void install() throws IOException {
        maven = ConsumerBuild.create(shared, ROOT);
    }

    @Test
    void theProgramOfTheReadmeIsBuiltAndAnswers() throws Exception {
        String program =
                block(Files.readString(ROOT.resolve("README.md")), "java").replace("serve(8080", "serve(0");
        Files.writeString(directory.resolve("pom.xml"), pom(block(Files.readString(DOCUMENT), "xml")));
        Files.writeString(
                Files.createDirectories(directory.resolve("src/main/java")).resolve("Hello.java"), program);

        maven.run(directory, "compile");
        String answer = answer(
                List.of("--class-path", "target/classes" + File.pathSeparator + maven.classPath(directory), "Hello"));

        assertThat(answer).isEqualTo("Hello, world");
    }

    @Test
    void aNewProjectPassesItsTestAndAnswers() throws Exception {
        Shell.Ran ran = new Shell(directory).run("init", "price-list");
        Path project = directory.resolve("price-list");
        Path pom = project.resolve("pom.xml");
        Files.writeString(pom, Files.readString(pom).replace(CliEnvironment.version(), maven.version()));

        maven.run(project, "package");
        String answer =
                answer(List.of("-jar", project.resolve("target/price-list.jar").toString(), "0"));

        assertThat(ran.status()).isZero();
        assertThat(ran.out())
                .contains("Run: cd price-list && export JAVA_HOME=" + System.getProperty("java.home")
                        + " && mvn package && \"$JAVA_HOME/bin/java\" -jar target/price-list.jar");
        assertThat(project.resolve("target/surefire-reports/TEST-pricelist.PriceListAgentTest.xml"))
                .content()
                .contains("tests=\"1\"", "failures=\"0\"");
        assertThat(answer).isEqualTo("Hello, world");
    }

    @Test
    void aSingleFileWithAgentsRunsAndItsErrorsHaveLines() throws Exception {
        Path file = Files.writeString(directory.resolve("Hello.java"), """
                import dev.parley.engine.Agent;
                import dev.parley.hub.Parley;

                class Hello {
                    public static void main(String[] args) {
                        Parley.serve(Integer.parseInt(args[0]), agent("Hello"), agent("Goodbye"));
                    }

                    static Agent agent(String word) {
                        return Agent.named(word.toLowerCase(), "Says " + word)
                                .skill("say", "Says it", "greeting")
                                .handle((request, reply) -> reply.complete(word + ", " + request.text()));
                    }
                }
                """);
        Path broken = Files.writeString(directory.resolve("Broken.java"), "class Broken {\n    int x = ;\n}\n");
        List<String> run = List.of("-jar", System.getProperty("parley.program"), "run");

        assertThat(answer(with(run, file.toString(), "0"))).isEqualTo("Hello, world");
        Process refused = start(with(run, broken.toString()), ProcessBuilder.Redirect.PIPE);
        assertThat(new String(refused.getErrorStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8))
                .contains("Broken.java:2: error: illegal start of expression");
        assertThat(refused.waitFor()).isEqualTo(1);
    }

    /** The lists in the document; {@code -Dparley.docs.update=true} writes them. */
    @Test
    void theDocumentListsTheLibrariesOfAHostAndOfACaller() throws Exception {
        String document = Files.readString(LIBRARIES);
        String updated = document;
        for (String artifact : List.of("parley", "parley-client")) {
            Path project = Files.createDirectory(directory.resolve(artifact));
            Files.writeString(project.resolve("pom.xml"), pom("""
                    <dependency>
                      <groupId>dev.parley</groupId>
                      <artifactId>%s</artifactId>
                      <version>%s</version>
                    </dependency>
                    """.formatted(artifact, maven.version())));
            List<Path> libraries = Stream.of(maven.classPath(project).split(File.pathSeparator))
                    .map(Path::of)
                    .toList();
            updated = withList(updated, artifact, libraries);
        }
        if (Boolean.getBoolean("parley.docs.update")) {
            Files.writeString(LIBRARIES, updated);
        }

        // The sizes of our own artifacts change with every build, so the whole differs by little.
        assertThat(withoutSizes(document))
                .as("update with -Dparley.docs.update=true")
                .isEqualTo(withoutSizes(updated));
        List<Integer> sizes = sizes(updated);
        for (int i = 0; i < sizes.size(); i++) {
            assertThat(sizes(document).get(i)).isCloseTo(sizes.get(i), within(1));
        }
    }

    private static String withList(String document, String artifact, List<Path> libraries) throws IOException {
        long bytes = 0;
        for (Path library : libraries) {
            bytes += Files.size(library);
        }
        String list = "%d jars, %d MB:%n%n```%n%s%n```"
                .formatted(
                        libraries.size(),
                        Math.round(bytes / 1e6),
                        libraries.stream()
                                .map(library -> library.getFileName().toString())
                                .sorted()
                                .collect(Collectors.joining("\n")));
        return Pattern.compile("(<!-- jars of " + artifact + " -->\n).*?(\n<!-- end -->)", Pattern.DOTALL)
                .matcher(document)
                .replaceAll(found -> Matcher.quoteReplacement(found.group(1) + list + found.group(2)));
    }

    private static String withoutSizes(String document) {
        return document.replaceAll("\\d+ MB:", "MB:");
    }

    private static List<Integer> sizes(String document) {
        return Pattern.compile("(\\d+) MB:")
                .matcher(document)
                .results()
                .map(found -> Integer.valueOf(found.group(1)))
                .toList();
    }

    /** Starts a program that serves agents, and returns what its first agent answers to "world". */
    private String answer(List<String> arguments) throws IOException {
        Process host = start(arguments, ProcessBuilder.Redirect.INHERIT);
        try (BufferedReader out = host.inputReader()) {
            String url = out.readLine();
            assertThat(url).startsWith("http://");
            try (AgentClient client = AgentClient.connect(url)) {
                return ((Task) client.send("world")).text();
            }
        } finally {
            host.destroy();
        }
    }

    private Process start(List<String> arguments, ProcessBuilder.Redirect err) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1"));
        command.addAll(arguments);
        return new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectError(err)
                .start();
    }

    private static List<String> with(List<String> first, String... more) {
        return Stream.concat(first.stream(), Stream.of(more)).toList();
    }

    private static String block(String document, String language) {
        Matcher block =
                Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(document);
        assertThat(block.find()).as("a block of " + language).isTrue();
        return block.group(1);
    }

    private static String pom(String dependency) {
        return """
                <project xmlns="http://maven.apache.org/POM/4.0.0">
                  <modelVersion>4.0.0</modelVersion>
                  <groupId>com.example</groupId>
                  <artifactId>hello</artifactId>
                  <version>1</version>
                  <properties>
                    <maven.compiler.release>21</maven.compiler.release>
                    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
                  </properties>
                  <dependencies>
                %s
                  </dependencies>
                  <build>
                    <plugins>
                      <plugin>
                        <artifactId>maven-resources-plugin</artifactId>
                        <version>3.3.1</version>
                      </plugin>
                      <plugin>
                        <artifactId>maven-compiler-plugin</artifactId>
                        <version>3.16.0</version>
                      </plugin>
                      <plugin>
                        <artifactId>maven-dependency-plugin</artifactId>
                        <version>3.11.0</version>
                      </plugin>
                    </plugins>
                  </build>
                </project>
                """.formatted(dependency);
    }
}
