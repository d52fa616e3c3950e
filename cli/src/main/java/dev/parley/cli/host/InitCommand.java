package dev.parley.cli.host;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import dev.parley.protocol.support.OwnersOnly;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.SourceVersion;
import org.jspecify.annotations.Nullable;

/** {@code parley init}: creates a project with an agent, its test and the command that runs it. */
public final class InitCommand {
    private InitCommand() {}

    public static Command command() {
        return Command.of(InitCommand::run)
                .argument("NAME", "Name of the agent and of the directory: a-z, 0-9 and -, as in price-list.")
                .flag("--gradle", "Create a build for Gradle, in place of one for Maven.")
                .option(
                        "--with",
                        "KIND",
                        "Create a project with a framework, a model or a container: " + Template.words() + ".")
                .settings("output")
                .footer(
                        "Maven, Gradle and the agent need Java 21 or newer; parley jdk prints the JDK to use. For"
                                + " example:",
                        "export JAVA_HOME=$(parley jdk) && parley init hello && cd hello && mvn package",
                        "\"$JAVA_HOME/bin/java\" -jar target/hello.jar");
    }

    private static int run(Invocation call) {
        String name = call.requiredArgument(0);
        if (!name.matches("[a-z][a-z0-9]*(-[a-z0-9]+)*") || name.length() > 63) {
            throw CommandException.usage(
                    "project name \"" + name + "\": invalid (expected: a-z, 0-9 and single -, at most 63 characters)",
                    "parley init price-list");
        }
        var project = new Project(name, template(call));
        Path directory = call.path(name);
        Map<String, String> files = project.files();
        try {
            write(directory, files);
        } catch (FileAlreadyExistsException exists) {
            throw CommandException.of(
                    Kind.USAGE, exists.getFile() + ": exists (nothing was changed)", "choose another name", exists);
        } catch (IOException failure) {
            throw CommandException.of(Kind.INTERNAL, "cannot create " + directory + ": " + failure, null, failure);
        }
        String run = "cd " + name + " && export JAVA_HOME=" + Invocation.quoted(System.getProperty("java.home"))
                + " && " + project.template.run(name);
        call.output()
                .result(
                        () -> Json.write(Map.of(
                                "directory", directory.toString(), "files", List.copyOf(files.keySet()), "run", run)),
                        page -> {
                            page.field("Directory", directory);
                            files.keySet().forEach(file -> page.field("File", file));
                            page.field("Run", run);
                        });
        if (!isInstalled(call.around(), project.template.artifact)) {
            call.output()
                    .note("Parley " + CliEnvironment.version()
                            + " is not in the local Maven repository: run parley install in its source tree first.");
        }
        return 0;
    }

    private static Template template(Invocation call) {
        String with = call.option("--with");
        if (with == null) {
            return call.has("--gradle") ? Template.GRADLE : Template.MAVEN;
        }
        if (call.has("--gradle")) {
            throw CommandException.usage(
                    "--with and --gradle together (expected: one of them)", "projects of --with are built by Maven");
        }
        return Template.ofWith()
                .filter(template -> template.word().equals(with))
                .findFirst()
                .orElseThrow(() -> CommandException.usage(
                        "--with " + with + ": unknown (expected: one of " + Template.words() + ")",
                        "parley init hello --with spring"));
    }

    /** Build tool, library or way to run for which a project is made. */
    private enum Template {
        MAVEN("parley", "Agent", "http://127.0.0.1:8080"),
        GRADLE("parley", "Agent", "http://127.0.0.1:8080"),
        DOCKER("parley", "Agent", "http://localhost:8080"),
        LANGCHAIN4J("parley-langchain4j", "Agent", "http://127.0.0.1:8080"),
        MODEL("parley-langchain4j", "Agent", "http://127.0.0.1:8080"),
        SPRING("parley-spring-boot-starter", "Application", "http://localhost:8080/a2a");

        private final String artifact;
        private final String role;
        private final String url;

        /**
         * @param artifact of Parley that the project needs
         * @param role end of the name of the main class
         * @param url of the agent
         */
        Template(String artifact, String role, String url) {
            this.artifact = artifact;
            this.role = role;
            this.url = url;
        }

        /** Files besides those of a project of Maven. */
        List<String> more() {
            return switch (this) {
                case DOCKER ->
                    List.of(
                            "src/main/java/@package@/Health.java",
                            "Containerfile",
                            "compose.yaml",
                            ".dockerignore",
                            ".env");
                case MODEL ->
                    List.of("src/main/java/@package@/Models.java", "src/test/java/@package@/ModelServer.java");
                case SPRING -> List.of("src/main/resources/application.properties");
                default -> List.of();
            };
        }

        String word() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Stream<Template> ofWith() {
            return Stream.of(values()).filter(template -> template != MAVEN && template != GRADLE);
        }

        static String words() {
            return ofWith().map(Template::word).collect(Collectors.joining(", "));
        }

        /** The commands that build and run a project, in its directory. */
        String run(String name) {
            return switch (this) {
                case GRADLE -> "gradle run";
                case DOCKER -> "mvn package && docker compose up --build --wait";
                default -> "mvn package && \"$JAVA_HOME/bin/java\" -jar target/" + name + ".jar";
            };
        }

        /** Text of a file: that of this template, or else the one that several have. */
        String text(String file) {
            String own = InitCommand.text(word() + "/" + file);
            String text = own == null ? InitCommand.text(file) : own;
            if (text == null) {
                throw new IllegalStateException("no template " + file);
            }
            return text;
        }
    }

    private record Project(String name, Template template) {
        /** The contents of all files by their paths below the directory of the project. */
        Map<String, String> files() {
            String plain = name.replace("-", "");
            String inPackage = SourceVersion.isKeyword(plain) ? plain + "agent" : plain;
            String inClass = Stream.of(name.split("-"))
                            .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                            .collect(Collectors.joining())
                    + template.role;
            String key = key();
            Map<String, String> templates = new LinkedHashMap<>();
            if (template == Template.GRADLE) {
                templates.put("settings.gradle", "settings.gradle");
                templates.put("build.gradle", "build.gradle");
            } else {
                templates.put("pom.xml", "pom.xml");
            }
            templates.put("src/main/java/" + inPackage + "/" + inClass + ".java", template.role + ".java");
            for (String file : template.more()) {
                String last = file.substring(file.lastIndexOf('/') + 1);
                templates.put(file.replace("@package@", inPackage), last.startsWith(".") ? last.substring(1) : last);
            }
            templates.put("src/test/java/" + inPackage + "/" + inClass + "Test.java", template.role + "Test.java");
            templates.put("README.md", "README.md");
            templates.put(".gitignore", "gitignore");
            templates.replaceAll((file, source) -> template.text(source)
                    .replace("@dependencies@", template.text("dependencies"))
                    .replace("@name@", name)
                    .replace("@package@", inPackage)
                    .replace("@Class@", inClass)
                    .replace("@build@", template.run(name))
                    .replace("@url@", template.url)
                    .replace("@key@", key)
                    .replace("@version@", CliEnvironment.version()));
            return templates;
        }

        /** A new API key. */
        private static String key() {
            var bytes = new byte[24];
            new SecureRandom().nextBytes(bytes);
            return HexFormat.of().formatHex(bytes);
        }
    }

    private static @Nullable String text(String name) {
        try (InputStream in = InitCommand.class.getResourceAsStream("init/" + name + ".txt")) {
            return in == null ? null : new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new IllegalStateException("unreadable template " + name, failure);
        }
    }

    private static void write(Path directory, Map<String, String> files) throws IOException {
        Files.createDirectory(directory);
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = directory.resolve(file.getKey());
            Files.createDirectories(path.getParent() == null ? directory : path.getParent());
            if (path.endsWith(".env")) {
                OwnersOnly.file(path);
            }
            Files.writeString(path, file.getValue());
        }
    }

    private static boolean isInstalled(CliEnvironment around, String artifact) {
        return Files.isDirectory(
                around.home().resolve(".m2/repository/dev/parley/" + artifact + "/" + CliEnvironment.version()));
    }
}
