package dev.parley.cli;

import dev.parley.cli.command.Command;
import dev.parley.cli.command.Invocation;
import dev.parley.cli.output.CliEnvironment;
import dev.parley.cli.output.Interruption;
import dev.parley.client.AgentClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;

/**
 * {@code parley warm-up}: runs {@code parley up} and a client once, and ends; the launcher has the JVM remember the
 * classes that this needed.
 */
final class WarmUpCommand {
    private static final String URL = "URL: ";
    private static final int PIPE_BYTES = 64 * 1024;

    private WarmUpCommand() {}

    static Command command() {
        return Command.of(WarmUpCommand::run).settings("output").hidden();
    }

    private static int run(Invocation call) throws InterruptedException {
        try {
            Path data = Files.createTempDirectory("parley");
            try {
                up(call.around(), data);
            } finally {
                delete(data);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        var unused = call.typed().commandSpec().root().commandLine().getUsageMessage();
        return 0;
    }

    /** Runs {@code parley up} as it is typed, without the settings of this machine, calls an agent, and stops it. */
    private static void up(CliEnvironment around, Path data) throws IOException, InterruptedException {
        var interruption = new Interruption();
        var end = new PipedOutputStream();
        try (var lines = new BufferedReader(
                new InputStreamReader(new PipedInputStream(end, PIPE_BYTES), StandardCharsets.UTF_8))) {
            var hub = Thread.ofPlatform().name("up").start(() -> {
                try (var out = new PrintStream(end, false, StandardCharsets.UTF_8)) {
                    Main.run(
                            new CliEnvironment(
                                    around.in(), out, around.err(), Map.of(), data, data, interruption, false),
                            "up",
                            "--port",
                            "0",
                            "--data",
                            data.resolve("hub").toString());
                }
            });
            try {
                call(lines);
            } finally {
                interruption.signal();
                hub.join();
            }
        }
    }

    private static void call(BufferedReader lines) throws IOException {
        String first = lines.readLine();
        if (first == null || !first.startsWith(URL)) {
            throw new IOException("first line of parley up: " + first + " (expected: " + URL + "…)");
        }
        try (AgentClient client = AgentClient.connect(first.substring(URL.length()) + "/agents/echo")) {
            client.send("hello");
            try (var events = client.stream("hello")) {
                events.forEachRemaining(event -> {});
            }
        }
    }

    private static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
