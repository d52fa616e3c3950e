package dev.parley.cli.host;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.Interruption;
import dev.parley.command.CommandException;
import dev.parley.command.CommandException.Kind;
import dev.parley.hub.HubBuilder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * {@code parley run}: runs one source file with the class path of Parley in a process of its own; or a task of an agent, as
 * the command {@code run} of AgentVault does.
 */
public final class RunCommand {
    private RunCommand() {}

    public static Command command() {
        return AgentRun.describe(Command.of(call -> AgentRun.isMeant(call) ? AgentRun.run(call) : run(call))
                        .optional("FILE", "Java source file with a main method that starts agents."))
                .rest("ARGUMENT", "Arguments of the main method; after -- if they begin with -.")
                .settings("output", "agent-card", "registry", "key-service", "ca", "insecure", "timeout")
                .footer(
                        "For example, a file with: Parley.serve(8080, Agent.named(…).handle(…), …)",
                        "or a task of an agent: parley run -a org/agent -i \"Hello\" --output-artifacts DIR",
                        "Exit status of a task: 0 completed, 1 failed, 2 canceled or waiting for input.");
    }

    private static int run(Invocation call) throws InterruptedException {
        String name = call.argument(0);
        if (name == null) {
            throw CommandException.usage(
                    "no source file and no input (expected: FILE, or -a AGENT -i TEXT)", "parley run Hello.java");
        }
        Path file = call.path(name);
        if (Files.isDirectory(file)) {
            throw CommandException.usage(
                    "source file \"" + name + "\": is a directory (expected: a file such as Hello.java)",
                    "parley run Hello.java; a project of parley init runs by mvn package and java -jar"
                            + " target/NAME.jar");
        }
        if (!Files.isRegularFile(file)) {
            throw CommandException.usage("source file \"" + name + "\": not found", "parley run Hello.java");
        }
        Process process = start(call, file);
        call.around().interruption().react(() -> {
            process.destroy();
            await(process);
            return Interruption.BY_SIGNAL;
        });
        return process.waitFor();
    }

    private static Process start(Invocation call, Path file) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xss512k",
                "--enable-native-access=ALL-UNNAMED",
                "-D" + HubBuilder.DATA + "=" + data(file),
                "--class-path",
                classPath(),
                SourceProgram.class.getName(),
                file.toString()));
        PositionalParamSpec arguments = call.typed().matchedPositional(1);
        if (arguments != null) {
            command.addAll(arguments.<List<String>>getValue());
        }
        try {
            return new ProcessBuilder(command)
                    .directory(call.around().directory().toFile())
                    .inheritIO()
                    .start();
        } catch (IOException failure) {
            throw CommandException.of(Kind.INTERNAL, "cannot start Java: " + failure.getMessage(), null, failure);
        }
    }

    /** Each source file has a directory of its own, which is not one of {@code parley up} in the home directory. */
    private static Path data(Path file) {
        return Path.of(".parley", "run", file.getFileName().toString().replaceFirst("\\.java$", ""));
    }

    /** The class path of this process, which is relative to where it was started. */
    private static String classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static void await(Process process) {
        try {
            process.waitFor();
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        }
    }
}
