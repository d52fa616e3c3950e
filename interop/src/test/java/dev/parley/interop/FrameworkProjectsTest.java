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
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern PORT = Pattern.compile("Tomcat started on port ([0-9]+)");

    /** A local repository apart, kept on this machine: that of the user may have other builds of Parley. */
    private static final Path REPOSITORY = cache().resolve("parley-interop/maven");

    @TempDir
    Path directory;

    /** Directory for files that tests keep on this machine. */
    static Path cache() {
        String named = System.getenv("XDG_CACHE_HOME");
        return named == null ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(named);
    }

    /** Puts the artifacts of this build into the repository. */
    @BeforeAll
    static void install() throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.toList()) {
                Path pom = module.resolve("target/quick/.flattened-pom.xml");
                if (Files.exists(pom)) {
                    install(pom);
                }
            }
        }
    }

    private static void install(Path pom) throws IOException {
        String text = Files.readString(pom);
        String project = text.replaceFirst("(?s)<parent>.*?</parent>", "");
        String artifact = element(project, "artifactId");
        String version = element(text, "version");
        Path place = Files.createDirectories(
                REPOSITORY.resolve("dev/parley").resolve(artifact).resolve(version));
        Files.copy(pom, place.resolve(artifact + "-" + version + ".pom"), StandardCopyOption.REPLACE_EXISTING);
        Path jar = pom.resolveSibling(artifact + "-" + version + ".jar");
        if (Files.exists(jar)) {
            Files.copy(jar, place.resolve(jar.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static String element(String xml, String name) {
        Matcher found = Pattern.compile("<" + name + ">([^<]+)</" + name + ">").matcher(xml);
        assertThat(found.find()).as(name).isTrue();
        return found.group(1);
    }

    @ParameterizedTest(name = "Spring Boot {0}")
    @ValueSource(strings = {"4.1.2", "4.0.7"})
    void aProjectIsBuiltWithTheVersionsOfSpringBootAndItsAgentAnswers(String release) throws Exception {
        run(directory, McpHubs.program("init", "price-list", "--with", "spring"));
        Path project = directory.resolve("price-list");
        adapt(project.resolve("pom.xml"), release);

        run(project, List.of("mvn", "-B", "-q", "-Dmaven.repo.local=" + REPOSITORY, "package"));

        assertThat(project.resolve("target/surefire-reports/TEST-pricelist.PriceListApplicationTest.xml"))
                .content()
                .contains("tests=\"1\"", "failures=\"0\"", "errors=\"0\"");
        Process program = new ProcessBuilder(
                        java(), "-jar", "target/price-list.jar", "--server.port=0", "--parley.in-memory=true")
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
        run(directory, McpHubs.program("init", "price-list", "--with", "langchain4j"));
        Path project = directory.resolve("price-list");
        useThisBuild(project.resolve("pom.xml"));

        run(project, List.of("mvn", "-B", "-q", "-Dmaven.repo.local=" + REPOSITORY, "package"));

        assertThat(project.resolve("target/surefire-reports/TEST-pricelist.PriceListAgentTest.xml"))
                .content()
                .contains("tests=\"1\"", "failures=\"0\"", "errors=\"0\"");
    }

    @Test
    void theProgramsOfThePageOnAdkPassTheirTestWithAScriptedModel() throws Exception {
        Path source = Path.of("src/test/projects/adk");
        String page = Files.readString(ROOT.resolve("docs/adk.md"));
        for (String program : List.of("AdkHandler", "Shop")) {
            String text = Files.readString(source.resolve("src/main/java/shop/" + program + ".java"));
            assertThat(page).contains(text.substring(text.indexOf("import")).strip());
        }
        copy(source, directory);
        Path pom = directory.resolve("pom.xml");
        String dependencies = Files.readString(pom).replaceFirst("(?s).*(<groupId>com.google.adk.*?)</dep.*", "$1");
        assertThat(page.replaceAll("\\s+", "")).contains(dependencies.replaceAll("\\s+", ""));
        useThisBuild(pom);

        run(directory, List.of("mvn", "-B", "-q", "-Dmaven.repo.local=" + REPOSITORY, "package"));

        assertThat(directory.resolve("target/surefire-reports/TEST-shop.ShopTest.xml"))
                .content()
                .contains("tests=\"2\"", "failures=\"0\"", "errors=\"0\"");
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
    }

    /** Sets the version of this build in a project that imports its BOM. */
    private static void useThisBuild(Path pom) throws IOException {
        Files.writeString(
                pom,
                Files.readString(pom).replaceFirst("(parley-bom</artifactId>\\s*<version>)[^<]+", "$1" + version()));
    }

    /** The version of this build. */
    private static String version() throws IOException {
        return element(Files.readString(ROOT.resolve("cli/target/quick/.flattened-pom.xml")), "version");
    }

    /** Sets the version of this build, and the release of Spring Boot with what docs/spring.md asks for. */
    private static void adapt(Path pom, String release) throws IOException {
        String text = Files.readString(pom)
                .replaceFirst(
                        "(parley-spring-boot-starter</artifactId>\\s*<version>)[^<]+",
                        "$1"
                                + element(
                                        Files.readString(ROOT.resolve("cli/target/quick/.flattened-pom.xml")),
                                        "version"))
                .replaceFirst("(spring-boot-starter-parent</artifactId>\\s*<version>)[^<]+", "$1" + release);
        if (release.startsWith("4.0.")) {
            Matcher block = Pattern.compile("(?s)```xml\\n(<opentelemetry\\.version>.*?)```")
                    .matcher(Files.readString(ROOT.resolve("docs/spring.md")));
            assertThat(block.find()).isTrue();
            text = text.replace("<properties>", "<properties>\n" + block.group(1));
        }
        Files.writeString(pom, text);
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static void run(Path directory, List<String> command) throws IOException, InterruptedException {
        Path log = directory.resolve("output.log");
        var builder = new ProcessBuilder(new ArrayList<>(command))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(Map.of("JAVA_HOME", System.getProperty("java.home")));
        Process process = builder.start();
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        if (process.exitValue() != 0 && Files.readString(log).contains("Could not transfer artifact")) {
            Requirement.missing(Files.readString(log));
        }
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
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
