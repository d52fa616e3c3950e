package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;

/**
 * Maven as the author of an agent has it, without the network: a local repository of its own that begins with what
 * this build would publish; everything else is copied from the local repository of this build.
 */
final class ConsumerBuild {
    private final Path repository;
    private final Path settings;
    private final String version;

    private ConsumerBuild(Path repository, Path settings, String version) {
        this.repository = repository;
        this.settings = settings;
        this.version = version;
    }

    /** @param root of the source tree, the modules of which are packaged */
    static ConsumerBuild create(Path directory, Path root) throws IOException {
        Path repository = directory.resolve("repository");
        // Beside the program is what was built with it, by the full build or by the quick one.
        Path target = root.resolve("cli")
                .relativize(Path.of(System.getProperty("parley.program")).resolve("../.."));
        String version = "";
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.toList()) {
                Path pom = module.resolve(target).normalize().resolve(".flattened-pom.xml");
                if (Files.exists(pom)) {
                    version = install(pom, repository);
                }
            }
        }
        Path settings = Files.writeString(directory.resolve("settings.xml"), """
                <settings>
                  <mirrors>
                    <mirror>
                      <id>here</id>
                      <mirrorOf>*</mirrorOf>
                      <url>%s</url>
                    </mirror>
                  </mirrors>
                </settings>
                """.formatted(
                        Path.of(System.getProperty("parley.repository")).toUri()));
        return new ConsumerBuild(repository, settings, version);
    }

    private static String install(Path pom, Path repository) throws IOException {
        Element project = read(pom);
        String artifact = child(project, "artifactId");
        String version = child(project, "version");
        Path place = Files.createDirectories(repository
                .resolve(child(project, "groupId").replace('.', '/'))
                .resolve(artifact)
                .resolve(version));
        Files.copy(pom, place.resolve(artifact + "-" + version + ".pom"));
        Path jar = pom.resolveSibling(artifact + "-" + version + ".jar");
        if (Files.exists(jar)) {
            Files.copy(jar, place.resolve(jar.getFileName()));
        }
        return version;
    }

    private static Element read(Path pom) throws IOException {
        try {
            return DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(pom.toFile())
                    .getDocumentElement();
        } catch (org.xml.sax.SAXException | javax.xml.parsers.ParserConfigurationException broken) {
            throw new IOException(pom + ": " + broken.getMessage(), broken);
        }
    }

    private static String child(Element parent, String name) {
        for (var node = parent.getFirstChild(); node != null; node = node.getNextSibling()) {
            if (node.getNodeName().equals(name)) {
                return node.getTextContent();
            }
        }
        throw new IllegalArgumentException(name + ": missing");
    }

    /** The version of the artifacts of this build. */
    String version() {
        return version;
    }

    void run(Path project, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("parley.maven"),
                "-B",
                "-q",
                "-s",
                settings.toString(),
                "-Dmaven.repo.local=" + repository));
        command.addAll(List.of(arguments));
        File log = project.resolve("maven.log").toFile();
        var builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        assertThat(process.waitFor(180, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(() -> text(log)).isZero();
    }

    /** The class path of the dependencies of a project at run time. */
    String classPath(Path project) throws IOException, InterruptedException {
        Path file = project.resolve("class-path");
        run(project, "dependency:build-classpath", "-Dmdep.includeScope=runtime", "-Dmdep.outputFile=" + file);
        return Files.readString(file).strip();
    }

    private static String text(File log) {
        try {
            return Files.readString(log.toPath());
        } catch (IOException failure) {
            return failure.toString();
        }
    }
}
