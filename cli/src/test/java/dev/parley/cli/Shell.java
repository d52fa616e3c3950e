package dev.parley.cli;

import dev.parley.cli.output.CliEnvironment;
import dev.parley.cli.output.Interruption;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Runs command lines in this process, with surroundings of its own. */
final class Shell {
    /** What a command left behind. */
    record Ran(int status, String out, String err) {}

    private final Map<String, String> environment = new HashMap<>();
    private final Path directory;
    private final Path home;
    private final Interruption interruption = new Interruption();
    private String input = "";
    private boolean terminal;

    /** @param directory the working directory; the user's home is {@code home} in it */
    Shell(Path directory) {
        this.directory = directory;
        this.home = directory.resolve("home");
    }

    Shell with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    Shell typing(String standardInput) {
        this.input = standardInput;
        return this;
    }

    Shell atTerminal() {
        this.terminal = true;
        return this;
    }

    Path home() {
        return home;
    }

    /** What Ctrl-C would reach. */
    Interruption interruption() {
        return interruption;
    }

    Ran run(String... args) {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        int status = run(out, err, args);
        return new Ran(status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** Runs with streams that can be read while it goes on. */
    int run(ByteArrayOutputStream out, ByteArrayOutputStream err, String... args) {
        var around = new CliEnvironment(
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                environment,
                directory,
                home,
                interruption,
                terminal);
        return Main.run(around, args);
    }
}
