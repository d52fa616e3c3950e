package dev.parley.cli.host;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.dialect.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.lang.model.SourceVersion;

/** {@code parley init}: creates a project with an agent, its test and the command that runs it. */
public final class InitCommand {
    private InitCommand() {}

    public static Command command() {
        return Command.of(InitCommand::run)
                .argument("NAME", "Name of the agent and of the directory: a-z, 0-9 and -, as in price-list.")
                .flag("--gradle", "Create a build for Gradle, in place of one for Maven.")
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
        boolean gradle = call.has("--gradle");
        Path directory = call.path(name);
        Map<String, String> files = files(name, gradle);
        try {
            write(directory, files);
        } catch (FileAlreadyExistsException exists) {
            throw CommandException.of(
                    Kind.USAGE, exists.getFile() + ": exists (nothing was changed)", "choose another name", exists);
        } catch (IOException failure) {
            throw CommandException.of(Kind.INTERNAL, "cannot create " + directory + ": " + failure, null, failure);
        }
        String run = run(name, gradle);
        call.output()
                .result(
                        () -> Json.write(Map.of(
                                "directory", directory.toString(), "files", List.copyOf(files.keySet()), "run", run)),
                        page -> {
                            page.field("Directory", directory);
                            files.keySet().forEach(file -> page.field("File", file));
                            page.field("Run", run);
                        });
        if (!isInstalled(call.around())) {
            call.output()
                    .note("Parley " + CliEnvironment.version()
                            + " is not in the local Maven repository: run parley install in its source tree first.");
        }
        return 0;
    }

    /** The commands that build and run the project, with the JDK of this program: the default one may be too old. */
    private static String run(String name, boolean gradle) {
        String jdk = Invocation.quoted(System.getProperty("java.home"));
        return "cd " + name + " && export JAVA_HOME=" + jdk + " && "
                + (gradle ? "gradle run" : "mvn package && \"$JAVA_HOME/bin/java\" -jar target/" + name + ".jar");
    }

    private static Map<String, String> files(String name, boolean gradle) {
        String plain = name.replace("-", "");
        String inPackage = SourceVersion.isKeyword(plain) ? plain + "agent" : plain;
        String inClass = Stream.of(name.split("-"))
                        .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                        .collect(Collectors.joining())
                + "Agent";
        Map<String, String> templates = new LinkedHashMap<>();
        if (gradle) {
            templates.put("settings.gradle", "settings.gradle");
            templates.put("build.gradle", "build.gradle");
        } else {
            templates.put("pom.xml", "pom.xml");
        }
        templates.put("src/main/java/" + inPackage + "/" + inClass + ".java", "Agent.java");
        templates.put("src/test/java/" + inPackage + "/" + inClass + "Test.java", "AgentTest.java");
        templates.put(".gitignore", "gitignore");
        templates.replaceAll((file, template) -> template(template)
                .replace("@name@", name)
                .replace("@package@", inPackage)
                .replace("@Class@", inClass)
                .replace("@version@", CliEnvironment.version()));
        return templates;
    }

    private static String template(String name) {
        try (InputStream in = InitCommand.class.getResourceAsStream("init/" + name + ".txt")) {
            if (in == null) {
                throw new IllegalStateException("no template " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException failure) {
            throw new IllegalStateException("unreadable template " + name, failure);
        }
    }

    private static void write(Path directory, Map<String, String> files) throws IOException {
        Files.createDirectory(directory);
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = directory.resolve(file.getKey());
            Files.createDirectories(path.getParent() == null ? directory : path.getParent());
            Files.writeString(path, file.getValue());
        }
    }

    private static boolean isInstalled(CliEnvironment around) {
        return Files.isDirectory(around.home().resolve(".m2/repository/dev/parley/parley/" + CliEnvironment.version()));
    }
}
