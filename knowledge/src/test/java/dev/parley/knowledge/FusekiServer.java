package dev.parley.knowledge;

import dev.parley.knowledge.model.SparqlService;
import dev.parley.knowledge.remote.RemoteServer;
import dev.parley.knowledge.remote.SparqlClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;

/** Apache Jena Fuseki in a process of its own, with an empty data set in memory. */
public final class FusekiServer implements AutoCloseable {
    private static final Pattern STARTED = Pattern.compile("http=(\\d+)");

    private final Process process;
    private final URI dataset;

    /** @param arguments of the server, before those of the data set */
    public FusekiServer(Path directory, String... arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path jar = Path.of("..", "knowledge", "target", "fuseki", "fuseki-server.jar")
                .toAbsolutePath();
        var builder = new ProcessBuilder(
                        java, "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", jar.toString())
                .directory(directory.toFile())
                .redirectErrorStream(true);
        builder.command().add("org.apache.jena.fuseki.main.cmds.FusekiMainCmd");
        builder.command().add("--localhost");
        builder.command().addAll(List.of(arguments));
        if (List.of(arguments).stream().noneMatch(argument -> argument.startsWith("--port"))) {
            builder.command().add("--port=0");
        }
        if (List.of(arguments).stream().noneMatch(argument -> argument.startsWith("--loc"))) {
            builder.command().add("--mem");
        } else {
            builder.command().add("--update");
        }
        builder.command().add("/kg");
        builder.environment().put("FUSEKI_BASE", directory.resolve("fuseki").toString());
        process = builder.start();
        dataset = URI.create("http://127.0.0.1:" + port(process.inputReader()) + "/kg");
    }

    private static String port(BufferedReader output) throws IOException {
        for (String line = output.readLine(); line != null; line = output.readLine()) {
            var started = STARTED.matcher(line);
            if (started.find()) {
                // The server would block on a full pipe.
                Thread.ofVirtual().start(() -> drain(output));
                return started.group(1);
            }
        }
        throw new IOException("the server has not started");
    }

    private static void drain(BufferedReader output) {
        try {
            output.lines().forEach(ignored -> {});
        } catch (UncheckedIOException ended) {
            // The process was destroyed.
        }
    }

    /** Address of queries and updates. */
    public URI dataset() {
        return dataset;
    }

    /** Removes everything. */
    public void clear() {
        try (var http = new RemoteServer(service())) {
            new SparqlClient(http, Duration.ofSeconds(30)).change("DROP ALL");
        }
    }

    public SparqlService service() {
        return new SparqlService(dataset, dataset, () -> "");
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
