package dev.parley.bench;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.dialect.Json;
import dev.parley.knowledge.Graph;
import dev.parley.knowledge.api.Statement;
import dev.parley.knowledge.api.Term.Literal;
import dev.parley.knowledge.api.Term.Resource;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.CallContext.Scope;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Measures the duration of one caller's SendMessage beside another group that has the hub compute, write or answer as much as it can,
 * and without it.
 *
 * <p>Two loads are not requests and answers: {@code heads}, HTTP/2 requests without credentials and without their bodies, and
 * {@code unread}, streams of 1 MB that their client does not read.
 *
 * <p>Arguments: {@code fill DATA}, before the hub starts; or the address of an agent with a knowledge graph, a directory for the
 * documents, the seconds for each measurement, and names of kinds of load, none for all. Two callers have the keys
 * {@code key-of-the-noisy-group} and {@code key-of-the-quiet-group}.
 */
public final class Neighbour {
    private static final String NOISY = "key-of-the-noisy-group";
    private static final String QUIET = "key-of-the-quiet-group";
    private static final String QUERY = "/kg:query";
    private static final String UPDATE = "/kg:update";
    private static final String SEND = "/message:send";
    private static final int LARGE = 9 << 20;
    private static final int DEADLINE_MS = 60_000;

    private static final String SHAPES = """
            @prefix sh: <http://www.w3.org/ns/shacl#> .
            <ex:Shape> a sh:NodeShape ; sh:targetSubjectsOf <p> ; sh:property <ex:P1> .
            <ex:P1> sh:path [ sh:zeroOrMorePath <p> ] ; sh:node [ sh:property <ex:P2> ] .
            <ex:P2> sh:path [ sh:zeroOrMorePath <p> ] ; sh:node [ sh:property <ex:P3> ] .
            <ex:P3> sh:path [ sh:zeroOrMorePath <p> ] ; sh:maxCount 100000 .
            """;

    /** HTTP/2 requests that a connection of the load {@code heads} begins. */
    private static final int HEADS = 1_000;

    /** Streams that a connection of the load {@code unread} leaves open behind it. */
    private static final int STREAMS = 20;

    /**
     * The load of the noisy group.
     *
     * @param connections number of threads that make such connections, one after the other
     */
    private record Load(int connections, Client client) {}

    @FunctionalInterface
    private interface Client {
        void run(Runnable answered) throws IOException;
    }

    private final URI agent;
    private final Map<String, Load> loads;

    private Neighbour(URI agent) throws IOException {
        this.agent = agent;
        byte[] graphQl = graphQl(IntStream.range(0, 50)
                .mapToObj(i -> "a" + i + ": entity(id: \"ex:n" + (i + 5) + "\") "
                        + "{ incoming(first: 4) { nodes { subject ".repeat(3)
                        + "{ types }"
                        + " } } }".repeat(3))
                .collect(Collectors.joining()));
        byte[] pattern = graphQl(IntStream.range(0, 30)
                .mapToObj(i -> "a" + i + ": entities(text: \"nothing has this " + i
                        + "\", orderBy: \"ex:text\", first: 1) { nodes { id } } ")
                .collect(Collectors.joining()));
        byte[] sparql = query(
                "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c = ?f && ?f = ?i) }", "sparql");
        byte[] parts = IntStream.range(0, 150_000)
                .mapToObj(i -> "{\"text\":\"" + i + "\"}")
                .collect(Collectors.joining(","))
                .getBytes(US_ASCII);
        byte[] text = ("{\"text\":\"" + "x".repeat(LARGE) + "\"}").getBytes(US_ASCII);
        byte[] hello = "{\"text\":\"hello\"}".getBytes(US_ASCII);
        loads = Map.ofEntries(
                Map.entry("graphql", requests(1, () -> graphQl)),
                Map.entry("pattern", requests(1, () -> pattern)),
                Map.entry("sparql", requests(1, () -> sparql)),
                Map.entry("shacl", requests(1, () -> update("ex:n", 1))),
                Map.entry("update", requests(1, () -> update("ex:s", 1_000))),
                Map.entry("message", requests(1, () -> message(text, NOISY))),
                Map.entry("parts", requests(1, () -> message(parts, NOISY))),
                Map.entry("get", requests(1, get(text))),
                Map.entry("heads", new Load(4, this::heads)),
                Map.entry("unread", new Load(2, this::unread)),
                Map.entry("connections", requests(64, () -> message(hello, NOISY))));
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("fill")) {
            fill(Path.of(arguments[1]));
            return;
        }
        var all = new Neighbour(URI.create(arguments[0]));
        Path documents = Files.createDirectories(Path.of(arguments[1]));
        long nanos = Math.round(Double.parseDouble(arguments[2]) * 1e9);
        List<String> names = arguments.length > 3
                ? List.of(arguments).subList(3, arguments.length)
                : all.loads.keySet().stream().sorted().toList();
        all.measure(nanos); // warms up
        for (String name : names) {
            String document = all.compare(name, nanos);
            Files.writeString(documents.resolve("neighbour-" + name + ".json"), document + "\n");
            System.out.println(name + ": " + document);
        }
    }

    private static void fill(Path data) {
        CallContext noisy = CallContext.of("noisy", new Scope("noisy", "noisy"));
        try (Graph graph = Graph.open(data)) {
            graph.load(
                    IntStream.range(0, 600)
                            .mapToObj(i -> Statement.of("ex:n" + i, "p", Resource.of("ex:n" + (i + 1))))
                            .toList(),
                    noisy,
                    "file");
            graph.load(
                    IntStream.range(0, 30_000)
                            .mapToObj(i -> Statement.of("ex:t" + i % 100, "ex:text", Literal.of("text " + i)))
                            .toList(),
                    noisy,
                    "file");
            graph.shapes("noisy", SHAPES);
        }
    }

    // --- measuring

    private String compare(String name, long nanos) throws InterruptedException, IOException {
        double[] alone = measure(nanos);
        var others = new ArrayList<Thread>();
        double[] beside;
        Load load = loads.get(name);
        if (load == null) {
            throw new IllegalArgumentException(name + " (expected: one of " + loads.keySet() + ")");
        }
        var answers = new int[load.connections()];
        try {
            for (int i = 0; i < load.connections(); i++) {
                int number = i;
                others.add(Thread.ofVirtual().start(() -> run(load, answers, number)));
            }
            measure(nanos / 4); // until the others are at work
            beside = measure(nanos);
        } finally {
            others.forEach(Thread::interrupt);
            for (Thread other : others) {
                other.join();
            }
        }
        LockSupport.parkNanos(nanos / 4); // for the work that the load has left
        return String.format(
                Locale.ROOT,
                "{\"result\":{\"alone\":{\"p50\":%.3f,\"p99\":%.3f},\"beside\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f},"
                        + "\"times\":%.2f,\"requests\":%d,\"othersRequests\":%d}}",
                alone[0],
                alone[1],
                beside[0],
                beside[1],
                beside[2],
                beside[1] / alone[1],
                (int) beside[3],
                Arrays.stream(answers).sum());
    }

    private void run(Load load, int[] answers, int number) {
        try {
            load.client().run(() -> answers[number]++);
        } catch (IOException ended) {
            if (!Thread.currentThread().isInterrupted()) {
                System.err.println("the load ended: " + ended);
            }
        }
    }

    /** Returns the median, the 99th percentile and the maximum in milliseconds, and the number of requests. */
    private double[] measure(long nanos) throws IOException {
        byte[] hello = "{\"text\":\"hello\"}".getBytes(US_ASCII);
        var took = new ArrayList<Long>();
        try (var connection = new Connection()) {
            for (long end = System.nanoTime() + nanos; System.nanoTime() - end < 0; ) {
                byte[] request = message(hello, QUIET);
                long begun = System.nanoTime();
                int status = connection.call(request);
                took.add(System.nanoTime() - begun);
                if (status != 200) {
                    throw new IOException("status " + status + " (expected: 200)");
                }
            }
        }
        took.sort(null);
        return new double[] {
            took.get(took.size() / 2) / 1e6, took.get(took.size() * 99 / 100) / 1e6, took.getLast() / 1e6, took.size()
        };
    }

    // --- loads

    /** Sends requests over each connection, one after the other. */
    private Load requests(int connections, Supplier<byte[]> request) {
        return new Load(connections, answered -> {
            try (var connection = new Connection()) {
                while (!Thread.currentThread().isInterrupted()) {
                    connection.call(request.get());
                    answered.run();
                }
            }
        });
    }

    /** Begins requests of HTTP/2 without credentials whose bodies never come, and closes the connection. */
    private void heads(Runnable answered) throws IOException {
        byte[] requests = unfinished();
        while (!Thread.currentThread().isInterrupted()) {
            try (var connection = new Connection()) {
                connection.socket.getOutputStream().write(requests);
                if (connection.in.read() >= 0) { // some answer has come
                    answered.run();
                }
            } catch (SocketException ended) {
                answered.run(); // by the server, which may
            }
        }
    }

    private byte[] unfinished() {
        var requests = new ByteArrayOutputStream();
        requests.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(US_ASCII));
        requests.writeBytes(frame(4, 0, 0, new byte[0]));
        var head = new ByteArrayOutputStream();
        Map.of(":method", "POST", ":scheme", "http", ":authority", "x", ":path", agent.getPath() + SEND)
                .forEach((name, value) -> {
                    head.write(0); // a literal that is not indexed
                    for (String text : List.of(name, value)) {
                        head.write(text.length());
                        head.writeBytes(text.getBytes(US_ASCII));
                    }
                });
        for (int i = 0; i < HEADS; i++) {
            requests.writeBytes(frame(1, 4, 2 * i + 1, head.toByteArray()));
        }
        return requests.toByteArray();
    }

    private static byte[] frame(int type, int flags, int stream, byte[] payload) {
        return ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    /** Opens streams of 1 MB, and reads no more of them than their heads. */
    private void unread(Runnable answered) throws IOException {
        byte[] text = ("{\"text\":\"" + "x".repeat(1 << 20) + "\"}").getBytes(US_ASCII);
        var open = new ArrayDeque<Connection>();
        try {
            while (!Thread.currentThread().isInterrupted()) {
                var connection = new Connection();
                open.add(connection);
                connection.socket.getOutputStream().write(message("/message:stream", text, NOISY));
                connection.line();
                answered.run();
                if (open.size() > STREAMS) {
                    open.remove().close();
                }
            }
        } finally {
            for (Connection connection : open) {
                connection.close();
            }
        }
    }

    // --- requests

    private Supplier<byte[]> get(byte[] part) throws IOException {
        String[] task = new String[1];
        return () -> {
            try {
                if (task[0] == null) {
                    try (var connection = new Connection()) {
                        String answer = connection.answer(message(part, NOISY));
                        int id = answer.indexOf("\"id\":\"") + 6;
                        task[0] = answer.substring(id, answer.indexOf('"', id));
                    }
                }
            } catch (IOException failure) {
                throw new IllegalStateException(failure);
            }
            return head("GET", "/tasks/" + task[0], NOISY, "", 0);
        };
    }

    private byte[] message(byte[] parts, String key) {
        return message(SEND, parts, key);
    }

    private byte[] message(String path, byte[] parts, String key) {
        String begin = "{\"message\":{\"role\":\"ROLE_USER\",\"messageId\":\"" + UUID.randomUUID() + "\",\"parts\":[";
        return post(path, key, begin.getBytes(US_ASCII), parts, "]}}".getBytes(US_ASCII));
    }

    private byte[] update(String subject, int statements) {
        String mutations = IntStream.range(0, statements)
                .mapToObj(i -> "{\"op\":\"add\",\"statement\":{\"subject\":{\"id\":\"" + subject + i
                        + "\"},\"predicate\":{\"id\":\"ex:status\"},\"object\":{\"value\":\"new " + i + "\"}}}")
                .collect(Collectors.joining(","));
        String begin = "{\"justification\":\"" + UUID.randomUUID() + "\",\"mutations\":[";
        return post(UPDATE, NOISY, (begin + mutations + "]}").getBytes(US_ASCII));
    }

    private byte[] graphQl(String text) {
        return query("{ " + text + " }", "graphql");
    }

    private byte[] query(String text, String language) {
        return post(QUERY, NOISY, Json.write(Map.of("query", text, "queryLanguage", language)));
    }

    private byte[] post(String path, String key, byte[]... body) {
        int length = Arrays.stream(body).mapToInt(each -> each.length).sum();
        var request = new ByteArrayOutputStream(length + 512);
        request.writeBytes(head("POST", path, key, "Content-Type: application/json\r\n", length));
        for (byte[] each : body) {
            request.writeBytes(each);
        }
        return request.toByteArray();
    }

    private byte[] head(String method, String path, String key, String headers, int length) {
        return (method + " " + agent.getPath() + path + " HTTP/1.1\r\nHost: " + agent.getAuthority()
                        + "\r\nA2A-Version: 1.0\r\nX-Api-Key: " + key + "\r\nContent-Length: " + length + "\r\n"
                        + headers + "\r\n")
                .getBytes(US_ASCII);
    }

    /** Minimal HTTP/1.1 connection, so that the measured time is that of the server. */
    private final class Connection implements AutoCloseable {
        private final Socket socket;
        private final InputStream in;
        private final byte[] buffer = new byte[64 * 1024];

        Connection() throws IOException {
            socket = new Socket(agent.getHost(), agent.getPort());
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(DEADLINE_MS);
            in = new BufferedInputStream(socket.getInputStream(), buffer.length);
        }

        /** Returns the status of the answer, which is read to its end. */
        int call(byte[] request) throws IOException {
            return call(request, new ByteArrayOutputStream(), false);
        }

        String answer(byte[] request) throws IOException {
            var body = new ByteArrayOutputStream();
            call(request, body, true);
            return body.toString(UTF_8);
        }

        private int call(byte[] request, ByteArrayOutputStream body, boolean wanted) throws IOException {
            socket.getOutputStream().write(request);
            int status = Integer.parseInt(line().split(" ", -1)[1]);
            int length = 0;
            for (String header = line(); !header.isEmpty(); header = line()) {
                if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
                    length = Integer.parseInt(header.substring(15).strip());
                }
            }
            while (length > 0) {
                int count = in.read(buffer, 0, Math.min(buffer.length, length));
                if (count < 0) {
                    throw new EOFException();
                }
                if (wanted) {
                    body.write(buffer, 0, count);
                }
                length -= count;
            }
            return status;
        }

        private String line() throws IOException {
            var line = new StringBuilder();
            for (int next = in.read(); next != '\n'; next = in.read()) {
                if (next < 0) {
                    throw new EOFException();
                }
                if (next != '\r') {
                    line.append((char) next);
                }
            }
            return line.toString();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
