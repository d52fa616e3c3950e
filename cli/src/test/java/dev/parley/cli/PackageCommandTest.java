package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.cli.Shell.Ran;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code parley package}. */
final class PackageCommandTest {
    @TempDir
    Path directory = Path.of("");

    private Shell shell = new Shell(directory);

    @BeforeEach
    void begin() {
        shell = new Shell(directory);
    }

    @Test
    @DisplayName("AV28 a project of init gets a Dockerfile without root, with a health check, and an ignore file")
    void maven() throws IOException {
        assertThat(shell.run("init", "price-list").status()).isZero();

        Ran ran = shell.run("package", "price-list", "--port", "9090");

        assertThat(ran.status()).as(ran.err()).isZero();
        assertThat(ran.out()).contains("Dockerfile", ".dockerignore", "docker build -t price-list .");
        assertThat(Files.readString(directory.resolve("price-list/Dockerfile")))
                .contains(
                        "FROM eclipse-temurin:",
                        "COPY target/lib /app/lib\nCOPY target/price-list.jar /app/price-list.jar\n",
                        "USER 10001:10001",
                        "EXPOSE 9090",
                        "HEALTHCHECK",
                        "GET /health",
                        "ENTRYPOINT [\"java\", \"-XX:MaxRAMPercentage=75\", \"-jar\", \"/app/price-list.jar\"]",
                        "CMD [\"9090\"]");
        assertThat(Files.readString(directory.resolve("price-list/.dockerignore")))
                .isEqualTo("# Only what the image needs.\n*\n!target/lib\n!target/price-list.jar\n");
    }

    @Test
    @DisplayName("AV28 existing files are overwritten with --force only, and links are replaced, not followed")
    void force() throws IOException {
        assertThat(shell.run("init", "hello", "--gradle").status()).isZero();
        Path outside = Files.writeString(directory.resolve("outside"), "mine");
        Files.createSymbolicLink(directory.resolve("hello/.dockerignore"), outside);

        Ran refused = shell.run("package", "hello");

        assertThat(refused.status()).isEqualTo(2);
        assertThat(refused.err()).contains(".dockerignore: exists (nothing was changed)", "--force");
        assertThat(directory.resolve("hello/Dockerfile")).doesNotExist();
        assertThat(shell.run("package", "hello", "--force").status()).isZero();
        assertThat(Files.readString(directory.resolve("hello/Dockerfile")))
                .contains("COPY build/install/hello /app", "ENTRYPOINT [\"/app/bin/hello\"]");
        assertThat(outside).hasContent("mine");
    }

    @Test
    void aDirectoryWithAJarIsPackagedAndOthersAreRefused() throws IOException {
        Files.createDirectory(directory.resolve("dist"));
        Ran none = shell.run("package", "dist");
        assertThat(none.status()).isEqualTo(2);
        assertThat(none.err()).contains("no project (expected: pom.xml, settings.gradle, or one jar");
        assertThat(shell.run("package", "nowhere").status()).isEqualTo(2);

        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "a.Main");
        new JarOutputStream(Files.newOutputStream(directory.resolve("dist/agent.jar")), manifest).close();

        assertThat(shell.run("package", "dist").status()).isZero();
        assertThat(Files.readString(directory.resolve("dist/Dockerfile"))).contains("COPY agent.jar /app/agent.jar");
    }

    @Test
    void aNameThatWouldAddLinesToADockerfileIsRefused() throws IOException {
        Files.createDirectory(directory.resolve("bad"));
        Files.writeString(
                directory.resolve("bad/settings.gradle"), "rootProject.name = 'a\nRUN curl http://example.com'");

        assertThat(shell.run("package", "bad").err()).contains("invalid (expected: A-Z");
    }
}
