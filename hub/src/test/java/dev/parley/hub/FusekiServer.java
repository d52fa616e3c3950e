package dev.parley.hub;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Apache Jena Fuseki in a process of its own, with an empty data set in memory. */
final class FusekiServer implements AutoCloseable {
    private static final Pattern STARTED = Pattern.compile("http=(\\d+)");

    private final Process process;
    private final URI dataset;

    FusekiServer(Path directory, int port) throws IOException {
        var builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx512m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        Path.of("..", "knowledge", "target", "fuseki", "fuseki-server.jar")
                                .toAbsolutePath()
                                .toString(),
                        "org.apache.jena.fuseki.main.cmds.FusekiMainCmd",
                        "--localhost",
                        "--port=" + port,
                        "--mem",
                        "/kg")
                .directory(directory.toFile())
                .redirectErrorStream(true);
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
    URI dataset() {
        return dataset;
    }

    /** Removes everything. */
    void clear() throws IOException, InterruptedException {
        try (var http = HttpClient.newHttpClient()) {
            int status = http.send(
                            HttpRequest.newBuilder(dataset)
                                    .header("Content-Type", "application/sparql-update")
                                    .POST(HttpRequest.BodyPublishers.ofString("DROP ALL"))
                                    .build(),
                            BodyHandlers.discarding())
                    .statusCode();
            if (status / 100 != 2) {
                throw new IOException("HTTP status " + status);
            }
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
