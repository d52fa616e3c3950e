package dev.parley.cli.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The programs of Debian's packages of PostgreSQL and PgBouncer, which do not run as root, and a directory that both users can
 * reach. The directory is removed, and daemons are ended, when the virtual machine ends.
 */
final class DebianPostgresql {
    private static final Path PACKAGES = Path.of("/usr/lib/postgresql");
    private static final String USER = "postgres";
    private static final boolean IS_ROOT = System.getProperty("user.name").equals("root");
    private static final int COMMAND_SECONDS = 60;

    private static @Nullable DebianPostgresql shared;

    private final Path programs;
    private final Path directory;
    private final List<Path> running = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();

    private DebianPostgresql(Path programs, Path directory) {
        this.programs = programs;
        this.directory = directory;
    }

    /** Returns the installation, with an empty cluster to be copied. */
    static synchronized DebianPostgresql shared() throws IOException {
        DebianPostgresql made = shared;
        if (made == null) {
            Path directory = Files.createTempDirectory("parley-postgresql");
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
            made = new DebianPostgresql(newest(), directory);
            Runtime.getRuntime().addShutdownHook(new Thread(made::end));
            made.run(
                    "initdb",
                    "-D",
                    made.template(),
                    "-U",
                    USER,
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                    "--no-locale",
                    "--no-sync");
            shared = made;
        }
        return made;
    }

    private static Path newest() throws IOException {
        if (!Files.isDirectory(PACKAGES)) {
            throw new IOException("no server in " + PACKAGES + " (expected: that of Debian's package postgresql)");
        }
        try (Stream<Path> versions = Files.list(PACKAGES)) {
            return versions.max(Comparator.comparingInt(
                            version -> Integer.parseInt(version.getFileName().toString())))
                    .orElseThrow(() -> new IOException("no server in " + PACKAGES))
                    .resolve("bin");
        }
    }

    private String template() {
        return directory.resolve("template").toString();
    }

    /** Returns a new path of the directory. */
    Path path(String name) throws IOException {
        Path path = Files.createTempDirectory(directory, name);
        Files.delete(path); // initdb and pg_basebackup make it for their user
        return path;
    }

    /** Copies the empty cluster. */
    void copyTemplate(Path to) throws IOException {
        run("cp", "-a", template(), to.toString());
    }

    /** Runs a program to its end, as a user that is not root. */
    void run(String... command) throws IOException {
        File output = Files.createTempFile(directory, "run", ".log").toFile();
        Process process = new ProcessBuilder(asUser(command))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        try {
            if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IOException(String.join(" ", command) + ": not within " + COMMAND_SECONDS + " s");
            }
        } catch (InterruptedException stopped) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", stopped);
        }
        if (process.exitValue() != 0) {
            throw new IOException(String.join(" ", command) + ": " + Files.readString(output.toPath(), UTF_8));
        }
    }

    /** Starts a program that runs until it is ended, at the latest with the virtual machine. */
    synchronized Process begin(String... command) throws IOException {
        Process process = new ProcessBuilder(asUser(command))
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(Files.createTempFile(directory, "run", ".log").toFile())
                .start();
        processes.add(process);
        return process;
    }

    private List<String> asUser(String... command) {
        var words = new ArrayList<String>();
        if (IS_ROOT) {
            words.addAll(List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups"));
        }
        words.addAll(List.of(command));
        int program = words.size() - command.length;
        if (Files.isExecutable(programs.resolve(command[0]))) {
            words.set(program, programs.resolve(command[0]).toString());
        }
        return words;
    }

    synchronized void started(Path data) {
        running.add(data);
    }

    synchronized void stopped(Path data) {
        running.remove(data);
    }

    private synchronized void end() {
        processes.forEach(Process::destroyForcibly);
        for (Path data : running) {
            try {
                run("pg_ctl", "stop", "-D", data.toString(), "-m", "immediate");
            } catch (IOException gone) {
                // it has ended by itself
            }
        }
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .forEach(file -> file.toFile().delete());
        } catch (IOException failure) {
            System.err.println("could not remove " + directory + ": " + failure);
        }
    }

    static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
