package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hub with a group that has it compute and write as much as it can, and a neighbour: a caller of another group. */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("heavy")
@Tag("measured") // with nothing beside it: .ci/run
final class HostileGroupTest {
    private static final int AT_ONCE = 3;
    private static final int OPEN_STREAMS = 20;
    /** Latency that other processes of the machine cause: a thread of Linux waits for up to 3 ms for each that computes. */
    private static final double NOISE_MS = 20;

    private static final Duration MEASURED = Duration.ofMillis(1_200);

    /** Windows of a measurement, each with one of the control right before or after it. */
    private static final int WINDOWS = 5;

    private static final Duration SEND_BOUND = Duration.ofMillis(500);
    private static final Duration HEALTH_BOUND = Duration.ofMillis(200);
    private static final Duration DEADLINE = Duration.ofSeconds(60);

    /** A request body whose end is the same each time, so that this process collects no garbage while it measures. */
    private record Body(String begin, byte[] rest) {
        static Body of(Map<String, ?> body) {
            return new Body("", Json.write(body));
        }

        static Body message(List<String> texts) {
            String rest =
                    texts.stream().map(text -> "{\"text\":\"" + text + "\"}").collect(Collectors.joining(","));
            return new Body(
                    "{\"message\":{\"role\":\"ROLE_USER\",\"messageId\":\"ID\",\"parts\":[",
                    (rest + "]}}").getBytes(StandardCharsets.UTF_8));
        }

        static Body update(String subject, int statements) {
            String rest = IntStream.range(0, statements)
                    .mapToObj(i -> "{\"op\":\"add\",\"statement\":{\"subject\":{\"id\":\"" + subject + i
                            + "\"},\"predicate\":{\"id\":\"ex:status\"},\"object\":{\"value\":\"new " + i + "\"}}}")
                    .collect(Collectors.joining(","));
            return new Body(
                    "{\"justification\":\"ID\",\"mutations\":[", (rest + "]}").getBytes(StandardCharsets.UTF_8));
        }

        BodyPublisher publisher() {
            return BodyPublishers.concat(
                    BodyPublishers.ofString(
                            begin.replace("ID", UUID.randomUUID().toString())),
                    BodyPublishers.ofByteArray(rest));
        }
    }

    private static final String QUERY = "/kg:query";
    private static final String UPDATE = "/kg:update";
    private static final String SEND = "/message:send";

    /** Requests of the hostile group. */
    @SuppressWarnings("ImmutableEnumChecker") // nothing changes the bytes of a body
    enum Hostile {
        SPARQL_PATHS(QUERY, sparql("SELECT (COUNT(*) AS ?n) { ?x (<p>*/<p>*/<p>*/<p>*)* ?y . ?y (<p>*/<p>*)* ?z }")),
        SPARQL_REPLACE(
                QUERY,
                sparql("SELECT (COUNT(*) AS ?n) { ?x <ex:text> ?t . ?y <ex:text> ?u FILTER(REPLACE(CONCAT(?t, ?u),"
                        + " \"(t*e*x*t*)*b\", \"x\") = \"b\") }")),
        SPARQL_LONG_TEXT(QUERY, sparql("SELECT (REPLACE(\"" + "a".repeat(20_000) + "\", \"(a*)*b\", \"x\") AS ?x) {}")),
        SPARQL_JOIN(
                QUERY, sparql("SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c = ?f && ?f = ?i) }")),
        SPARQL_SORT(QUERY, sparql("SELECT ?c ?f { ?a <ex:text> ?c . ?d <ex:text> ?f } ORDER BY DESC(?f) ?c LIMIT 5")),
        SPARQL_NESTING(QUERY, sparql("SELECT * { " + "{".repeat(2_000) + " ?s ?p ?o " + "}".repeat(2_000) + " }")),
        GRAPHQL_TEXT(
                QUERY,
                graphql(IntStream.range(0, 30)
                        .mapToObj(i -> "a" + i + ": entities(text: \"nothing has this " + i
                                + "\", orderBy: \"ex:text\", first: 1) { nodes { id } } ")
                        .collect(Collectors.joining()))),
        GRAPHQL_DEPTH(
                QUERY,
                graphql(IntStream.range(0, 50)
                        .mapToObj(i -> "a" + i + ": entity(id: \"ex:n" + (i + 5) + "\") "
                                + "{ incoming(first: 4) { nodes { subject ".repeat(3)
                                + "{ types }"
                                + " } } }".repeat(3))
                        .collect(Collectors.joining()))),
        GRAPHQL_NESTING(QUERY, graphql("a" + "{a".repeat(4_900) + "}".repeat(4_900))),
        SHACL(UPDATE, Body.update("ex:n", 1)),
        LARGE_UPDATE(UPDATE, Body.update("ex:s", 1_000)),
        LARGE_MESSAGE(SEND, Body.message(List.of("x".repeat(9 << 20)))),
        MANY_PARTS(
                SEND,
                Body.message(IntStream.range(0, 150_000).mapToObj(i -> "" + i).toList())),
        /** Answers of 18 MB. */
        LARGE_ANSWERS(SEND, Body.message(List.of("x".repeat(9 << 20)))),
        /** Streams of 1 MB of which the client reads nothing. */
        UNREAD_STREAMS("/message:stream", Body.message(List.of("x".repeat(1 << 20)))),
        /** HTTP/2 requests without credentials, whose bodies do not come. */
        UNFINISHED_REQUESTS(SEND, Body.message(List.of())),
        /** Requests without credentials, whose bodies go on after the refusal. */
        ENDLESS_BODIES(SEND, Body.message(List.of()));

        private final String path;
        private final Body body;

        Hostile(String path, Body body) {
            this.path = path;
            this.body = body;
        }

        /**
         * Whether the neighbour's 99th percentile stays within twice its value without it, also on a busy machine. Otherwise it stays
         * within twice its value with the load on another hub.
         */
        private boolean isBoundedByRatio() {
            return switch (this) {
                case SPARQL_SORT, SPARQL_NESTING, GRAPHQL_TEXT, GRAPHQL_NESTING, SHACL -> true;
                default -> false;
            };
        }
    }

    private static Body sparql(String text) {
        return Body.of(Map.of("query", text, "queryLanguage", "sparql"));
    }

    private static Body graphql(String text) {
        return Body.of(Map.of("query", "{ " + text + " }", "queryLanguage", "graphql"));
    }

    /** A {@link SharedHub} in a process of its own. */
    private record HubProcess(Process process, String url) {
        static HubProcess start(Path data) throws IOException {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:+UseSerialGC",
                            "-Xmx1g",
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            SharedHub.class.getName(),
                            data.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String url = output.lines()
                    .filter(line -> line.startsWith("ready "))
                    .findFirst()
                    .orElseThrow()
                    .substring("ready ".length());
            return new HubProcess(process, url);
        }

        void stop() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }
    }

    private Path directory;
    private boolean isWarm;
    private HubProcess hub;
    private HttpClient http;

    /** Client with a connection of its own, on which no answers of the hostile group come first. */
    private HttpClient neighbour;

    /** Hub that takes the load while the neighbour's hub has none: what the two share then are processors and disk only. */
    private @Nullable HubProcess otherHub;

    @BeforeAll
    void start(@TempDir Path data) throws IOException {
        directory = data;
        hub = HubProcess.start(data.resolve("hub"));
        http = HttpClient.newHttpClient();
        neighbour = HttpClient.newHttpClient();
    }

    /** Compiles what the neighbour uses. */
    private void warmUp() throws IOException, InterruptedException {
        if (!isWarm) {
            measured(MEASURED.multipliedBy(2));
            isWarm = true;
        }
    }

    @AfterAll
    void stop() throws InterruptedException {
        http.shutdownNow();
        neighbour.shutdownNow();
        hub.stop();
        if (otherHub != null) {
            otherHub.stop();
        }
    }

    private static HttpRequest request(HubProcess hub, String path, BodyPublisher body, String key) {
        return HttpRequest.newBuilder(URI.create(hub.url + "/agents/echo" + path))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .header("X-Api-Key", key)
                .timeout(DEADLINE)
                .POST(body)
                .build();
    }

    private int health(HttpClient client) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(URI.create(hub.url + "/health"))
                                .timeout(DEADLINE)
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    private int sendAsNeighbour(HttpClient client) throws IOException, InterruptedException {
        Body hello = Body.message(List.of("hello"));
        return client.send(request(hub, SEND, hello.publisher(), SharedHub.ORDINARY_KEY), BodyHandlers.discarding())
                .statusCode();
    }

    /** A connection of HTTP/2 that begins 1,000 requests. */
    private static byte[] unfinishedRequests() {
        var head = new ByteArrayOutputStream();
        Map.of(":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/agents/echo" + SEND)
                .forEach((name, value) -> {
                    head.write(0); // a literal without index
                    for (String text : List.of(name, value)) {
                        head.write(text.length());
                        head.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
                    }
                });
        var requests = new ByteArrayOutputStream();
        requests.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        requests.writeBytes(HexFormat.of().parseHex("000000040000000000"));
        for (int i = 0; i < 1000; i++) {
            requests.writeBytes(ByteBuffer.allocate(9)
                    .putInt(head.size() << 8 | 1)
                    .put((byte) 4)
                    .putInt(2 * i + 1)
                    .array());
            requests.writeBytes(head.toByteArray());
        }
        return requests.toByteArray();
    }

    /** Sends requests one after the other, until it is closed. */
    private final class Attack implements AutoCloseable {
        private final HubProcess hub;
        private final Hostile kind;
        private final List<Thread> threads = new ArrayList<>();
        private final @Nullable HttpRequest large;

        Attack(HubProcess hub, Hostile kind) throws IOException, InterruptedException {
            this.hub = hub;
            this.kind = kind;
            this.large = kind == Hostile.LARGE_ANSWERS ? getOfLargeTask() : null;
            for (int i = 0; i < AT_ONCE; i++) {
                threads.add(Thread.ofPlatform().daemon().start(this::run));
            }
        }

        private void run() {
            try {
                switch (kind) {
                    case LARGE_ANSWERS -> {
                        while (!Thread.currentThread().isInterrupted()) {
                            http.send(large, BodyHandlers.discarding());
                        }
                    }
                    case UNREAD_STREAMS -> openStreams();
                    case UNFINISHED_REQUESTS -> beginRequests();
                    case ENDLESS_BODIES -> sendEndlessly();
                    default -> {
                        while (!Thread.currentThread().isInterrupted()) {
                            http.send(
                                    request(hub, kind.path, kind.body.publisher(), SharedHub.HOSTILE_KEY),
                                    BodyHandlers.discarding());
                        }
                    }
                }
            } catch (InterruptedException closed) {
                Thread.currentThread().interrupt();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        /** Makes a task of 18 MB, which is no part of the attack, and returns the request that reads it. */
        private HttpRequest getOfLargeTask() throws IOException, InterruptedException {
            String answer = http.send(
                            request(hub, kind.path, kind.body.publisher(), SharedHub.HOSTILE_KEY),
                            BodyHandlers.ofString())
                    .body();
            int id = answer.indexOf("\"id\":\"") + 6;
            return HttpRequest.newBuilder(
                            request(
                                    hub,
                                    "/tasks/" + answer.substring(id, answer.indexOf('"', id)),
                                    BodyPublishers.noBody(),
                                    SharedHub.HOSTILE_KEY),
                            (name, value) -> true)
                    .GET()
                    .build();
        }

        private Socket connect() throws IOException {
            URI address = URI.create(hub.url);
            var socket = new Socket(address.getHost(), address.getPort());
            socket.setSoTimeout((int) DEADLINE.toMillis());
            return socket;
        }

        private void openStreams() throws IOException {
            var open = new ArrayDeque<Socket>();
            try {
                while (!Thread.currentThread().isInterrupted()) {
                    var socket = connect();
                    open.add(socket);
                    OutputStream out = socket.getOutputStream();
                    String begin =
                            kind.body.begin().replace("ID", UUID.randomUUID().toString());
                    out.write(("POST /agents/echo" + kind.path
                                    + " HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\nX-Api-Key: "
                                    + SharedHub.HOSTILE_KEY + "\r\nContent-Type: application/json\r\nContent-Length: "
                                    + (begin.length() + kind.body.rest().length) + "\r\n\r\n" + begin)
                            .getBytes(StandardCharsets.US_ASCII));
                    out.write(kind.body.rest());
                    assertThat(socket.getInputStream().read()).isPositive();
                    if (open.size() > OPEN_STREAMS) {
                        open.remove().close();
                    }
                }
            } finally {
                for (Socket socket : open) {
                    socket.close();
                }
            }
        }

        private void beginRequests() throws IOException {
            byte[] requests = unfinishedRequests();
            while (!Thread.currentThread().isInterrupted()) {
                try (var socket = connect()) {
                    socket.getOutputStream().write(requests);
                    var unused = socket.getInputStream().read();
                } catch (SocketException ended) {
                    // by the server, which may
                }
            }
        }

        private void sendEndlessly() throws IOException {
            byte[] block = new byte[1 << 20];
            while (!Thread.currentThread().isInterrupted()) {
                try (var socket = connect()) {
                    OutputStream out = socket.getOutputStream();
                    out.write(("POST /agents/echo" + kind.path + " HTTP/1.1\r\nHost: localhost\r\nA2A-Version: 1.0\r\n"
                                    + "Content-Type: application/json\r\nContent-Length: " + Long.MAX_VALUE
                                    + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
                    while (!Thread.currentThread().isInterrupted()) {
                        out.write(block);
                    }
                } catch (SocketException ended) {
                    // by the server, after a while
                }
            }
        }

        @Override
        public void close() throws InterruptedException {
            threads.forEach(Thread::interrupt);
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void aNeighbourIsServedWhileTheHubComputesForAnotherGroup(Hostile kind) throws Exception {
        try (var unused = new Attack(hub, kind)) {
            for (int i = 0; i < 5; i++) {
                assertThat(sendAsNeighbour(http)).isEqualTo(200);
                assertThat(health(http)).isEqualTo(200);
            }
        }
    }

    @Test
    @Tag("heavy") // waits for the time-out of 10 s
    void theTimeOutEndsHostileWorkAndFreesItsThreads() throws Exception {
        var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
        for (Hostile kind : List.of(Hostile.SPARQL_PATHS, Hostile.SPARQL_REPLACE, Hostile.SPARQL_JOIN, Hostile.SHACL)) {
            answers.add(http.sendAsync(
                    request(hub, kind.path, kind.body.publisher(), SharedHub.HOSTILE_KEY), BodyHandlers.ofString()));
        }

        for (var answer : answers) {
            assertThat(answer.join().body()).containsAnyOf("timeout", "busy", "too-much");
        }
        Body cheap = sparql("ASK { <ex:n1> <p> ?o }");
        assertThat(http.send(request(hub, QUERY, cheap.publisher(), SharedHub.HOSTILE_KEY), BodyHandlers.ofString())
                        .body())
                .contains("true");
    }

    @Tag("heavy")
    @ParameterizedTest
    @EnumSource
    void aNeighbourWaitsForNoMoreThanTheBound(Hostile kind) throws Exception {
        warmUp();
        var controls = new ArrayList<Times>();
        var all = new ArrayList<Times>();
        for (int window = 0; window < WINDOWS; window++) {
            if (window % 2 == 0) {
                controls.add(control(kind));
            }
            all.add(measuredBeside(hub, kind));
            if (window % 2 != 0) {
                controls.add(control(kind));
            }
            report(kind, controls.getLast(), all.getLast());
        }

        // A machine that is busy with something else lengthens the times of the control, too, unless it is so for one
        // window.
        List<Duration> control = withoutSlowest(controls);
        List<Duration> beside = withoutSlowest(all);
        assertThat(p99(beside)).isLessThanOrEqualTo(Math.max(NOISE_MS, 2 * p99(control)));
        assertThat(least(all, Times::sends)).isLessThanOrEqualTo(SEND_BOUND);
        assertThat(least(all, Times::healths)).isLessThanOrEqualTo(HEALTH_BOUND);
    }

    /** How long calls took, the longest last. */
    private record Times(List<Duration> sends, List<Duration> healths) {}

    private Times control(Hostile kind) throws Exception {
        return kind.isBoundedByRatio() ? measured(MEASURED.dividedBy(2)) : measuredBeside(otherHub(), kind);
    }

    /** The messages of all windows but the one with the greatest 99th percentile: the few slowest calls of one window tell little. */
    private static List<Duration> withoutSlowest(List<Times> windows) {
        return windows.stream()
                .sorted(Comparator.comparingDouble(window -> p99(window.sends())))
                .limit(windows.size() - 1)
                .flatMap(window -> window.sends().stream())
                .sorted()
                .toList();
    }

    /** The longest call of the best window: other processes of the machine only lengthen it. */
    private static Duration least(List<Times> windows, Function<Times, List<Duration>> calls) {
        return windows.stream()
                .map(window -> calls.apply(window).getLast())
                .min(Duration::compareTo)
                .orElseThrow();
    }

    private static void report(Hostile kind, Times alone, Times beside) {
        System.out.printf(
                "%s: SendMessage p99 %.1f ms alone, %.1f ms beside, %d ms at worst; /health p99 %.1f ms alone, %.1f ms beside,"
                        + " %d ms at worst%n",
                kind,
                p99(alone.sends()),
                p99(beside.sends()),
                beside.sends().getLast().toMillis(),
                p99(alone.healths()),
                p99(beside.healths()),
                beside.healths().getLast().toMillis());
    }

    private HubProcess otherHub() throws IOException {
        if (otherHub == null) {
            otherHub = HubProcess.start(directory.resolve("other-hub"));
        }
        return otherHub;
    }

    private Times measuredBeside(HubProcess loaded, Hostile kind) throws Exception {
        try (var unused = new Attack(loaded, kind)) {
            return measured(MEASURED);
        }
    }

    /** Sends messages and asks for the health in turn, and returns how long each of them took. */
    private Times measured(Duration time) throws IOException, InterruptedException {
        var sends = new ArrayList<Duration>();
        var healths = new ArrayList<Duration>();
        for (long end = System.nanoTime() + time.toNanos(); System.nanoTime() - end < 0; ) {
            sends.add(timed(this::sendAsNeighbour));
            healths.add(timed(this::health));
        }
        sends.sort(null);
        healths.sort(null);
        return new Times(sends, healths);
    }

    private static double p99(List<Duration> sorted) {
        return sorted.get(sorted.size() * 99 / 100).toNanos() / 1e6;
    }

    @FunctionalInterface
    private interface Exchange {
        int answer(HttpClient client) throws IOException, InterruptedException;
    }

    private Duration timed(Exchange exchange) throws IOException, InterruptedException {
        long begun = System.nanoTime();
        assertThat(exchange.answer(neighbour)).isEqualTo(200);
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
