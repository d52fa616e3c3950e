package dev.parley.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Builds of projects outside the source tree: Maven takes Parley from the artifacts of this build, and all else from the registry. */
final class OutsideBuild {
    static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** A local repository apart, kept on this machine: that of the user may have other builds of Parley. */
    static final Path REPOSITORY = cache().resolve("parley-interop/maven");

    private OutsideBuild() {}

    /** Directory for files that tests keep on this machine. */
    static Path cache() {
        String named = System.getenv("XDG_CACHE_HOME");
        return named == null ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(named);
    }

    /** Puts the artifacts of this build into the repository. */
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
        replace(pom, place.resolve(artifact + "-" + version + ".pom"));
        Path jar = pom.resolveSibling(artifact + "-" + version + ".jar");
        if (Files.exists(jar)) {
            replace(jar, place.resolve(jar.getFileName()));
        }
    }

    /** Copies a file as a whole: builds of another process may read it. */
    private static void replace(Path from, Path to) throws IOException {
        Path copy = Files.createTempFile(to.getParent(), "copy", ".tmp");
        Files.copy(from, copy, StandardCopyOption.REPLACE_EXISTING);
        Files.move(copy, to, StandardCopyOption.ATOMIC_MOVE);
    }

    private static String element(String xml, String name) {
        Matcher found = Pattern.compile("<" + name + ">([^<]+)</" + name + ">").matcher(xml);
        assertThat(found.find()).as(name).isTrue();
        return found.group(1);
    }

    /** The version of this build. */
    static String version() throws IOException {
        return element(Files.readString(ROOT.resolve("cli/target/quick/.flattened-pom.xml")), "version");
    }

    /** Sets the version of this build in a project that imports its BOM. */
    static void useThisBuild(Path pom) throws IOException {
        Files.writeString(
                pom,
                Files.readString(pom).replaceFirst("(parley-bom</artifactId>\\s*<version>)[^<]+", "$1" + version()));
    }

    static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = to.resolve(from.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Command of Maven with the repository of these tests. */
    static List<String> maven(String goal) {
        return List.of("mvn", "-B", "-q", "-Dmaven.repo.local=" + REPOSITORY, goal);
    }

    /** Runs a command to its end, which has to be a success. */
    static void run(Path directory, List<String> command) throws IOException, InterruptedException {
        run(directory, command, Map.of());
    }

    /**
     * Runs a command to its end, which has to be a success, and returns its output.
     *
     * @param environment variables besides those of this process
     */
    static String run(Path directory, List<String> command, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path log = directory.resolve("output.log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String output = Files.readString(log);
        if (process.exitValue() != 0 && output.contains("Could not transfer artifact")) {
            Requirement.missing(output);
        }
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
