package dev.parley.cli.postgresql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A hub that {@code parley up} runs in a process of its own. */
final class HubProcess implements AutoCloseable {
    private static final Pattern URL = Pattern.compile("^URL: (\\S+)$", Pattern.MULTILINE);

    private final Path out;
    private final Path err;
    private final Process process;

    private HubProcess(Path directory, int port, List<String> arguments) throws IOException {
        this(System.getProperty("java.class.path"), directory, port, arguments, Map.of());
    }

    private HubProcess(
            String classPath, Path directory, int port, List<String> arguments, Map<String, String> environment)
            throws IOException {
        this.out = Files.createTempFile(directory, "hub", ".out");
        this.err = Files.createTempFile(directory, "hub", ".err");
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-Duser.home=" + directory,
                "-cp",
                classPath,
                "dev.parley.cli.Main",
                "up",
                "--port",
                Integer.toString(port),
                "--data",
                directory.resolve("data").toString()));
        command.addAll(arguments);
        var builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectOutput(out.toFile())
                .redirectError(err.toFile());
        builder.environment().keySet().removeIf(name -> name.matches("(A2ACLI|PARLEY|JAVA)_.*|JDK_JAVA_OPTIONS"));
        builder.environment().putAll(environment);
        this.process = builder.start();
    }

    /** Starts a hub that may refuse to run. */
    static HubProcess launch(Path directory, String database, String... more) throws IOException {
        Files.createDirectories(directory);
        var arguments = new ArrayList<>(List.of("--database", database));
        arguments.addAll(List.of(more));
        return new HubProcess(directory, 0, arguments);
    }

    /** Starts a hub and waits until it answers. */
    static HubProcess start(Path directory, String database, String... more) throws IOException {
        return listening(launch(directory, database, more));
    }

    private static HubProcess listening(HubProcess hub) throws IOException {
        Eventually.holds(
                "the hub listens", () -> !hub.isAlive() || hub.announcement().find());
        assertThat(hub.isAlive()).as(hub.log()).isTrue();
        return hub;
    }

    /** Starts a hub on the SQLite database in its directory, and waits until it answers. */
    static HubProcess startWithSqlite(Path directory, String... more) throws IOException {
        Files.createDirectories(directory);
        return listening(new HubProcess(directory, 0, List.of(more)));
    }

    /** Starts a hub that shares its database at a port, with the secrets in a directory. It may wait for its turn. */
    static HubProcess share(Path directory, Path secrets, String database, int port, String... more)
            throws IOException {
        return share(System.getProperty("java.class.path"), directory, secrets, database, port, more);
    }

    /** @param classPath of another release of the program */
    static HubProcess share(String classPath, Path directory, Path secrets, String database, int port, String... more)
            throws IOException {
        return share(classPath, directory, secrets, database, port, Map.of(), more);
    }

    /** @param environment variables of the process in addition to those of this one */
    static HubProcess share(
            Path directory, Path secrets, String database, int port, Map<String, String> environment, String... more)
            throws IOException {
        return share(System.getProperty("java.class.path"), directory, secrets, database, port, environment, more);
    }

    private static HubProcess share(
            String classPath,
            Path directory,
            Path secrets,
            String database,
            int port,
            Map<String, String> environment,
            String... more)
            throws IOException {
        copySecrets(secrets, directory.resolve("data"));
        var arguments = new ArrayList<>(List.of("--database", database, "--cluster"));
        arguments.addAll(List.of(more));
        return new HubProcess(classPath, directory, port, arguments, environment);
    }

    /** Copies the secrets in a directory into a data directory, which is made if it is missing. */
    static void copySecrets(Path secrets, Path data) throws IOException {
        Files.createDirectories(data);
        for (String name : List.of("token.secret", "webhook.master", "encryption.key")) {
            if (Files.exists(secrets.resolve(name)) && Files.notExists(data.resolve(name))) {
                Files.copy(secrets.resolve(name), data.resolve(name), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    /** Sends a signal to the process. */
    void signal(String name) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
    }

    /** Returns its calls. */
    HubCalls calls() throws IOException {
        return new HubCalls(url());
    }

    /** The address that it has announced. */
    String url() throws IOException {
        Matcher url = announcement();
        assertThat(url.find()).as(log()).isTrue();
        return url.group(1);
    }

    private Matcher announcement() throws IOException {
        return URL.matcher(Files.readString(out));
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end of the process and returns its status. */
    int exitStatus() {
        Eventually.holds("the hub ends", () -> !process.isAlive());
        return process.exitValue();
    }

    /** Returns the standard output of the process until now. */
    String output() throws IOException {
        return Files.readString(out);
    }

    /** Returns the standard error of the process until now. */
    String log() {
        try {
            return Files.readString(err);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** Kills the process: none of these tests is about its end. */
    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
