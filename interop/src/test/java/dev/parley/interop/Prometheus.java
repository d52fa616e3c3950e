package dev.parley.interop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.testkit.Eventually;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A Prometheus that reads the metrics of a hub each second, with its files in a directory. */
final class Prometheus implements AutoCloseable {
    /** A line of an answer: its labels and its number. */
    record Sample(Map<String, String> labels, double value) {}

    private final Process process;
    private final String url;
    private final HttpClient http = HttpClient.newHttpClient();

    private Prometheus(Process process, String url) {
        this.process = process;
        this.url = url;
    }

    /**
     * Starts Prometheus, and waits until it answers. It ends when its input does, so also should this process die.
     *
     * @param hub its address
     * @throws IOException if it is not installed
     */
    static Prometheus start(Path directory, String hub) throws Exception {
        if (!Files.isExecutable(Path.of("/usr/bin/prometheus"))) {
            throw new IOException("/usr/bin/prometheus is not installed");
        }
        Files.writeString(directory.resolve("prometheus.yml"), """
                global:
                  scrape_interval: 1s
                scrape_configs:
                  - job_name: parley
                    static_configs:
                      - targets: ["%s"]
                """.formatted(hub.replaceFirst("^http://", "")));
        String address = "127.0.0.1:" + Nginx.freePort();
        String command = "prometheus --config.file=prometheus.yml --storage.tsdb.path=series --web.listen-address="
                + address + " & trap \"kill $!\" EXIT; cat";
        Process process = new ProcessBuilder("sh", "-c", command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("prometheus.log").toFile())
                .start();
        var prometheus = new Prometheus(process, "http://" + address);
        Eventually.holds("Prometheus answers", prometheus::isReady);
        return prometheus;
    }

    private boolean isReady() throws IOException, InterruptedException {
        try {
            return get("/-/ready").statusCode() == 200;
        } catch (ConnectException notYet) {
            return false;
        }
    }

    /**
     * Returns the present answer to an expression.
     *
     * @throws AssertionError if Prometheus refuses the expression
     */
    List<Sample> query(String expression) throws IOException, InterruptedException {
        HttpResponse<byte[]> answer = get("/api/v1/query?query=" + URLEncoder.encode(expression, UTF_8));
        if (answer.statusCode() != 200) {
            throw new AssertionError(expression + ": " + new String(answer.body(), UTF_8));
        }
        var data = (Map<?, ?>) member(Json.read(answer.body(), Map.class), "data");
        return ((List<?>) member(data, "result"))
                .stream().map(Prometheus::sample).toList();
    }

    private static Sample sample(Object result) {
        var labels = new LinkedHashMap<String, String>();
        ((Map<?, ?>) member((Map<?, ?>) result, "metric"))
                .forEach((name, value) -> labels.put(String.valueOf(name), String.valueOf(value)));
        String value = String.valueOf(((List<?>) member((Map<?, ?>) result, "value")).get(1));
        return new Sample(labels, value.endsWith("Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(value));
    }

    private static Object member(Map<?, ?> in, String name) {
        return requireNonNull(in.get(name), name);
    }

    private HttpResponse<byte[]> get(String path) throws IOException, InterruptedException {
        return http.send(HttpRequest.newBuilder(URI.create(url + path)).build(), BodyHandlers.ofByteArray());
    }

    @Override
    public void close() {
        http.close();
        try {
            process.getOutputStream().close();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        process.onExit().join();
    }
}
