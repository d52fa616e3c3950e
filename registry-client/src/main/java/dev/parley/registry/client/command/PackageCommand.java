package dev.parley.registry.client.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.command.CommandCall;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.command.Parameters;
import dev.parley.command.ProgramCommand;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;

/** {@code parley package}: writes a Dockerfile and a .dockerignore for the jar of an agent. */
final class PackageCommand implements ProgramCommand {
    private static final int PORT = 8080;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");
    private static final Pattern IN_POM =
            Pattern.compile("<(finalName|artifactId)>\\s*([^<$\\s]+)\\s*</", Pattern.CASE_INSENSITIVE);
    private static final Pattern IN_GRADLE = Pattern.compile("rootProject\\.name\\s*=\\s*['\"]([^'\"]+)['\"]");

    /** Needs no program that the image may lack. */
    @SuppressWarnings("InlineFormatString") // beside the file that it is part of
    private static final String HEALTH = "exec 3<>/dev/tcp/127.0.0.1/%1$d && printf"
            + " 'GET /health HTTP/1.1\\\\r\\\\nHost: 127.0.0.1\\\\r\\\\nConnection: close\\\\r\\\\n\\\\r\\\\n' >&3 &&"
            + " grep -q ' 200 ' <&3";

    @SuppressWarnings("InlineFormatString") // a file reads better by itself
    private static final String DOCKERFILE = """
            # %1$s
            FROM eclipse-temurin:%2$d-jre

            # Tasks are kept in /data/.parley.
            RUN mkdir /data && chown 10001:10001 /data
            WORKDIR /data
            %3$s
            USER 10001:10001
            VOLUME /data
            EXPOSE %4$d
            HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \\
                CMD ["bash", "-c", "%5$s"]
            ENTRYPOINT [%6$s]
            CMD ["%4$d"]
            """;

    /** @param copies sources in the project, and their places in the image */
    private record Project(String built, Map<String, String> copies, List<String> start) {}

    @Override
    public Target target() {
        return Target.ADMINISTRATION;
    }

    @Override
    public void describe(CommandSpec spec) {
        spec.addPositional(Parameters.argument(
                0,
                true,
                "DIR",
                "Project of Maven or Gradle, as \"parley init\" makes one, or a directory with a jar."));
        spec.addOption(
                Parameters.option("--port", "PORT", "Port of the agent, its first argument; default: " + PORT + "."));
        spec.addOption(Parameters.flag("--force", "Overwrite a Dockerfile and a .dockerignore that exist."));
    }

    @Override
    public int run(CommandCall call) {
        Path directory = call.path(call.requiredArgument(0));
        Integer typed = call.number("--port", 1, 65_535);
        int port = typed == null ? PORT : typed;
        try {
            Project project = project(directory);
            var copies = new StringBuilder();
            var kept = new StringBuilder("# Only what the image needs.\n*\n");
            project.copies().forEach((from, to) -> {
                copies.append("COPY ").append(from).append(' ').append(to).append('\n');
                kept.append('!').append(from).append('\n');
            });
            String start = String.join(
                    ", ", project.start().stream().map(word -> '"' + word + '"').toList());
            String health = HEALTH.formatted(port);
            Map<Path, String> files = new LinkedHashMap<>();
            files.put(
                    directory.resolve("Dockerfile"),
                    DOCKERFILE.formatted(
                            project.built(),
                            Math.max(21, Runtime.version().feature()),
                            copies.toString().strip(),
                            port,
                            health,
                            start));
            files.put(directory.resolve(".dockerignore"), kept.toString());
            write(files, call.has("--force"));
            String name = directory.toRealPath().getFileName().toString().toLowerCase(Locale.ROOT);
            report(call, files.keySet(), name);
            return 0;
        } catch (IOException failed) {
            throw CommandException.of(Kind.INTERNAL, "cannot package " + directory + ": " + failed, null, failed);
        }
    }

    private static void report(CommandCall call, Iterable<Path> files, String name) {
        var names = new ArrayList<String>();
        files.forEach(file -> names.add(file.toString()));
        String build = "docker build -t " + name + " .";
        call.output().result(() -> Json.write(Map.of("files", names, "build", build)), page -> {
            names.forEach(file -> page.field("File", file));
            page.field("Build", build);
        });
        call.output()
                .note("Parley.serve listens on the loopback interface only: run the image with --network host, or bind"
                        + " 0.0.0.0 with TLS and authentication (docs/deployment.md).");
    }

    private static void write(Map<Path, String> files, boolean force) throws IOException {
        for (Path file : files.keySet()) {
            if (!force && Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
                throw CommandException.usage(file + ": exists (nothing was changed)", "--force overwrites it");
            }
        }
        for (Map.Entry<Path, String> file : files.entrySet()) {
            if (force) {
                Files.deleteIfExists(file.getKey()); // a link is replaced, not followed
            }
            Files.writeString(file.getKey(), file.getValue(), UTF_8, StandardOpenOption.CREATE_NEW);
        }
    }

    private static Project project(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw CommandException.usage(directory + ": no directory (expected: the project of an agent)", null);
        }
        if (Files.isRegularFile(directory.resolve("pom.xml"))) {
            String jar =
                    jar(directory.resolve("target")).orElse(name(IN_POM, directory.resolve("pom.xml"), 2) + ".jar");
            return ofJar(
                    "Build the jar first: mvn package",
                    "target/",
                    jar,
                    Files.isDirectory(directory.resolve("target/lib")) || !isBuilt(directory));
        }
        if (Files.isRegularFile(directory.resolve("settings.gradle"))) {
            String name = name(IN_GRADLE, directory.resolve("settings.gradle"), 1);
            return new Project(
                    "Build the distribution first: gradle installDist",
                    Map.of("build/install/" + name, "/app"),
                    List.of("/app/bin/" + name));
        }
        return ofJar(
                "The jar starts the agent; its first argument is the port.",
                "",
                jar(directory)
                        .orElseThrow(() -> CommandException.usage(
                                directory
                                        + ": no project (expected: pom.xml, settings.gradle, or one jar with a Main-Class)",
                                "parley init creates a project")),
                Files.isDirectory(directory.resolve("lib")));
    }

    private static boolean isBuilt(Path directory) {
        return Files.isDirectory(directory.resolve("target"));
    }

    private static Project ofJar(String built, String below, String jar, boolean libraries) {
        var copies = new LinkedHashMap<String, String>();
        if (libraries) {
            copies.put(below + "lib", "/app/lib");
        }
        copies.put(below + jar, "/app/" + jar);
        return new Project(built, copies, List.of("java", "-XX:MaxRAMPercentage=75", "-jar", "/app/" + jar));
    }

    /** The name of the only jar of a directory that can be started. */
    private static Optional<String> jar(Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return Optional.empty();
        }
        try (Stream<Path> files = Files.list(directory)) {
            List<String> jars = files.filter(file -> file.toString().endsWith(".jar") && starts(file))
                    .map(file -> checked(file.getFileName().toString()))
                    .toList();
            return jars.size() == 1 ? Optional.of(jars.getFirst()) : Optional.empty();
        }
    }

    private static boolean starts(Path file) {
        try (var jar = new JarFile(file.toFile())) {
            return jar.getManifest() != null
                    && jar.getManifest().getMainAttributes().containsKey(Attributes.Name.MAIN_CLASS);
        } catch (IOException broken) {
            return false;
        }
    }

    /** The name of a project in its build file: of several matches the last {@code finalName}, else the first outside of a parent. */
    private static String name(Pattern pattern, Path file, int group) throws IOException {
        String text = Files.readString(file).replaceAll("(?s)<parent>.*?</parent>|<dependenc.*|<!--.*?-->", "");
        Matcher matcher = pattern.matcher(text);
        String found = null;
        while (matcher.find()) {
            if (found == null || matcher.group(1).equals("finalName")) {
                found = matcher.group(group);
            }
        }
        return checked(
                found == null
                        ? String.valueOf(requireNonNull(file.toAbsolutePath().getParent())
                                .getFileName())
                        : found);
    }

    /** Refuses a name that would be more than a word in a Dockerfile. */
    private static String checked(@Nullable String name) {
        if (name == null || !NAME.matcher(name).matches()) {
            throw CommandException.usage(
                    "name \"" + name + "\" of the jar: invalid (expected: A-Z, 0-9, . _ and -)", null);
        }
        return name;
    }
}
