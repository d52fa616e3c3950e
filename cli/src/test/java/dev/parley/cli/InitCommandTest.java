package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley init}, without building what it creates: {@link EmbeddingIT} does. */
class InitCommandTest {
    @TempDir
    Path directory;

    private Shell shell;

    @BeforeEach
    void start() {
        shell = new Shell(directory);
    }

    @Test
    void aGradleBuildNamesTheMainClassAndTheVersions() throws IOException {
        Shell.Ran ran = shell.run("init", "new", "--gradle");

        Path project = directory.resolve("new");
        assertThat(ran.status()).isZero();
        assertThat(ran.out())
                .contains("Run: cd new && export JAVA_HOME=" + System.getProperty("java.home") + " && gradle run");
        assertThat(ran.err()).contains("parley install");
        // A keyword is not a name of a package.
        assertThat(project.resolve("build.gradle")).content().contains("mainClass = 'newagent.NewAgent'");
        assertThat(project.resolve("settings.gradle")).content().contains("rootProject.name = 'new'");
        assertThat(project.resolve("src/main/java/newagent/NewAgent.java"))
                .content()
                .startsWith("package newagent;")
                .contains("public final class NewAgent {")
                .doesNotContain("@");
        assertThat(project.resolve("src/test/java/newagent/NewAgentTest.java")).exists();
        assertThat(project.resolve("pom.xml")).doesNotExist();
    }

    @Test
    void theBuildsAndTheirCommandsNameTheJavaThatTheyNeed() {
        Shell.Ran maven = shell.run("init", "hello");
        shell.run("init", "new", "--gradle");

        assertThat(maven.out())
                .contains("Run: cd hello && export JAVA_HOME=" + System.getProperty("java.home")
                        + " && mvn package && \"$JAVA_HOME/bin/java\" -jar target/hello.jar");
        assertThat(directory.resolve("hello/pom.xml")).content().contains("Java 21 or newer");
        assertThat(directory.resolve("new/build.gradle")).content().contains("Java 21 or newer");
        assertThat(shell.run("init", "--help").out()).contains("Java 21 or newer", "parley jdk");
    }

    @Test
    void anApplicationOfSpringBootHasTheReleaseWithWhichTheStarterIsTested() throws IOException {
        Shell.Ran ran = shell.run("init", "price-list", "--with", "spring");

        Path project = directory.resolve("price-list");
        assertThat(ran.status()).isZero();
        String starter = Files.readString(Path.of("../spring-boot-starter/pom.xml"));
        String release = starter.replaceFirst("(?s).*?<spring-boot.version>([^<]+)<.*", "$1");
        assertThat(project.resolve("pom.xml"))
                .content()
                .contains("<version>" + release + "</version>", "parley-spring-boot-starter");
        String grpc = Files.readString(Path.of("../pom.xml")).replaceFirst("(?s).*<grpc.version>([^<]+)<.*", "$1");
        assertThat(project.resolve("pom.xml"))
                .content()
                .contains("<grpc-java.version>" + grpc + "</grpc-java.version>");
        assertThat(project.resolve("src/main/java/pricelist/PriceListApplication.java"))
                .content()
                .contains("@SpringBootApplication", "Agent.named(\"price-list\"");
        assertThat(project.resolve("src/test/java/pricelist/PriceListApplicationTest.java"))
                .content()
                .contains("@ParleyTest");
        assertThat(project.resolve("src/main/resources/application.properties"))
                .hasContent("spring.application.name=price-list");
        assertThat(project.resolve("README.md"))
                .content()
                .contains("target/price-list.jar", "http://localhost:8080/a2a")
                .doesNotContainPattern("@[a-z]+@");
    }

    @Test
    void aProjectOfLangChain4jHasTheVersionWithWhichItsModuleIsTested() throws IOException {
        Shell.Ran ran = shell.run("init", "price-list", "--with", "langchain4j");

        Path project = directory.resolve("price-list");
        assertThat(ran.status()).isZero();
        String parent = Files.readString(Path.of("../pom.xml"));
        String version = parent.replaceFirst("(?s).*<langchain4j.version>([^<]+)<.*", "$1");
        assertThat(project.resolve("pom.xml"))
                .content()
                .contains("langchain4j-open-ai</artifactId>\n      <version>" + version + "<", "parley-langchain4j");
        assertThat(project.resolve("src/main/java/pricelist/PriceListAgent.java"))
                .content()
                .contains("ChatAgent.streaming", "Agent.named(\"price-list\"");
    }

    @Test
    void aProjectOfAModelHasOneForEachFormat() throws IOException {
        Shell.Ran ran = shell.run("init", "price-list", "--with", "model");

        Path project = directory.resolve("price-list");
        assertThat(ran.status()).isZero();
        assertThat(ran.out()).contains("File: src/test/java/pricelist/ModelServer.java");
        String parent = Files.readString(Path.of("../pom.xml"));
        String version = parent.replaceFirst("(?s).*<langchain4j.version>([^<]+)<.*", "$1");
        assertThat(project.resolve("pom.xml"))
                .content()
                .contains("langchain4j-open-ai</artifactId>\n      <version>" + version + "<", "langchain4j-ollama")
                .doesNotContain("@");
        assertThat(project.resolve("src/main/java/pricelist/Models.java"))
                .content()
                .contains("case \"ollama\"", "case \"openai\"");
        assertThat(project.resolve("README.md"))
                .content()
                .contains("`MODEL_FORMAT`")
                .doesNotContain("@");
    }

    @Test
    void aProjectForContainersHasAKeyOfItsOwnThatOnlyItsOwnerReads() throws IOException {
        Shell.Ran ran = shell.run("init", "price-list", "--with", "docker");
        shell.run("init", "other", "--with", "docker");

        Path project = directory.resolve("price-list");
        assertThat(ran.status()).isZero();
        assertThat(ran.out()).contains("mvn package && docker compose up --build --wait");
        Path key = project.resolve(".env");
        assertThat(key).content().containsPattern("(?m)^A2ACLI_API_KEY=[0-9a-f]{48}$");
        assertThat(key).content().isNotEqualTo(Files.readString(directory.resolve("other/.env")));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(key)))
                .isEqualTo("rw-------");
        assertThat(project.resolve(".gitignore")).content().contains("\n.env\n");
        assertThat(project.resolve("Containerfile"))
                .content()
                .contains("\nUSER 10001:10001\n", "\nHEALTHCHECK ", "/app/price-list.jar")
                .doesNotContain("@");
        assertThat(project.resolve("compose.yaml")).content().doesNotContain("@");
    }

    @Test
    void theHelpNamesEveryKindOfProject() {
        assertThat(shell.run("init", "--help").out().replaceAll("\\s+", " "))
                .contains("docker, langchain4j, model, spring");
    }

    @Test
    void aFrameworkThatIsUnknownOrHasNoGradleBuildIsAUsageError() {
        assertThat(shell.run("init", "hello", "--with", "sprng").err())
                .contains("--with sprng: unknown (expected: one of docker, langchain4j, model, spring)");
        assertThat(shell.run("init", "hello", "--with", "spring", "--gradle").err())
                .contains("--with and --gradle together");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void anExistingDirectoryIsLeftAsItIs() throws IOException {
        Path file = Files.writeString(
                Files.createDirectory(directory.resolve("hello")).resolve("pom.xml"), "mine");

        Shell.Ran ran = shell.run("init", "hello");

        assertThat(ran.status()).isEqualTo(2);
        assertThat(ran.err()).contains("hello: exists (nothing was changed)");
        assertThat(file).hasContent("mine");
    }

    @Test
    void aNameThatIsNoNameOfAProjectIsAUsageError() {
        for (String name : new String[] {"Hello", "../up", "a b", "a--b", "1a", "a".repeat(64)}) {
            assertThat(shell.run("init", name).status()).as(name).isEqualTo(2);
        }
        assertThat(directory).isEmptyDirectory();
    }
}
