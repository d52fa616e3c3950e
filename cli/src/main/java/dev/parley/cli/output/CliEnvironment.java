package dev.parley.cli.output;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Everything outside the program that a command uses; tests pass another one.
 *
 * @param directory the working directory, absolute
 * @param home of the user, for {@code ~}
 * @param interruption handler of Ctrl-C and SIGTERM
 * @param terminal whether {@code err} is a terminal, so that progress and colour make sense there
 */
public record CliEnvironment(
        InputStream in,
        PrintStream out,
        PrintStream err,
        Map<String, String> environment,
        Path directory,
        Path home,
        Interruption interruption,
        boolean terminal) {
    public CliEnvironment {
        environment = Map.copyOf(environment);
    }

    /** Resolves a path that the user typed: {@code ~} and relative paths. */
    public Path path(Path typed) {
        String text = typed.toString();
        if (text.equals("~")) {
            return home;
        }
        return text.startsWith("~/") ? home.resolve(text.substring(2)) : directory.resolve(typed);
    }

    public Path path(String typed) {
        return path(Path.of(typed));
    }

    /** True if the output may have colours. Source: no-color.org. */
    boolean colour() {
        return terminal && environment.getOrDefault("NO_COLOR", "").isEmpty();
    }

    /**
     * Whether a stream of the process is a terminal: 0, 1 or 2. Java knows it only of all three together; Linux also of each.
     */
    @SuppressWarnings("SystemConsoleNull") // it is null without a terminal, once java.base is the one to make it
    public static boolean isTerminal(int descriptor) {
        try {
            String device = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException elsewhere) {
            System.setProperty("jdk.console", "java.base");
            return System.console() != null;
        }
    }

    /** The version that the build gave this program. */
    public static String version() {
        String version = CliEnvironment.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
