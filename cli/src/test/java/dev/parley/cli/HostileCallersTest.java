package dev.parley.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.parley.dialect.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hub with everything that is on by default, callers and an MCP server that have it work as fast as they can, and a neighbour. */
@Tag("heavy")
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class HostileCallersTest {
    private static final int AT_ONCE = 4;
    private static final int TOOLS = 5_000;
    private static final int PAGE = 500;
    private static final Duration MEASURED = Duration.ofSeconds(2);

    /** Rounds of a measurement, each with a control: the same calls without an attack. */
    private static final int ROUNDS = 3;

    private static final Duration SEND_BOUND = Duration.ofMillis(500);
    private static final Duration HEALTH_BOUND = Duration.ofMillis(200);
    private static final String HOSTILE_KEY = "the-key-of-the-hostile-group";
    private static final String ORDINARY_KEY = "the-key-of-the-ordinary-group";
    private static final String JSON = "application/json";
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final String MESSAGE =
            "{\"message\":{\"messageId\":\"NUMBER\",\"role\":\"ROLE_USER\",\"parts\":[{\"text\":\"hello\"}]}}";
    private static final String MCP =
            "MCP-Protocol-Version: 2025-11-25\r\nAccept: application/json, text/event-stream\r\n";

    /** A request of hostile callers, with a number for each repetition. */
    enum Hostile {
        API_KEYS("/agents/echo/message:send", JSON, "X-Api-Key: guess-NUMBER\r\n", MESSAGE),
        BASIC("/agents/echo/message:send", JSON, "Authorization: Basic bWFsbG9yeTpndWVzcw==\r\n", MESSAGE),
        BEARER("/agents/echo/message:send", JSON, "Authorization: Bearer e30.e30.NUMBER\r\n", MESSAGE),
        CLIENT_SECRETS(
                "/oauth/token", FORM, "", "grant_type=client_credentials&client_id=shop&client_secret=guess-NUMBER"),
        LOGINS_TO_ONE("/auth/login", FORM, "", "username=mallory%40example.com&password=guess-NUMBER"),
        LOGINS_TO_MANY("/auth/login", FORM, "", "username=aNUMBER%40example.com&password=guess-NUMBER"),
        RECOVERIES(
                "/auth/recover-account",
                JSON,
                "",
                "{\"email\":\"mallory@example.com\",\"recovery_key\":\"avrec-NUMBER\"}"),
        REGISTRATIONS(
                "/auth/register",
                JSON,
                "",
                "{\"name\":\"aNUMBER\",\"email\":\"aNUMBER@example.com\",\"password\":\"Correct horse NUMBER\"}"),
        /** The server says all the time that its tools have changed, and each time they have. */
        CHANGING_TOOLS("/agents/echo/message:send", JSON, "X-Api-Key: " + HOSTILE_KEY + "\r\n", MESSAGE),
        TOOL_LISTS(
                "/mcp",
                JSON,
                MCP + "X-Api-Key: " + HOSTILE_KEY + "\r\n",
                "{\"jsonrpc\":\"2.0\",\"id\":NUMBER,\"method\":\"tools/list\"}"),
        TOOL_PAGES(
                "/agents/many/message:send",
                JSON,
                "X-Api-Key: " + HOSTILE_KEY + "\r\n",
                "{\"message\":{\"messageId\":\"NUMBER\",\"role\":\"ROLE_USER\",\"parts\":[{\"data\":{}}],"
                        + "\"metadata\":{\"skillId\":\"tools.list\"}}}"),
        CARDS_OF_TOOLS("/agents/many/.well-known/agent-card.json", JSON, "", "");

        private final String path;
        private final String type;
        private final String headers;
        private final String body;

        Hostile(String path, String type, String headers, String body) {
            this.path = path;
            this.type = type;
            this.headers = headers;
            this.body = body;
        }

        private String request(int number, String session) {
            String numbered = body.replace("NUMBER", Integer.toString(number));
            return (body.isEmpty() ? "GET " : "POST ") + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    + "A2A-Version: 1.0\r\nContent-Type: " + type + "\r\nContent-Length: " + numbered.length() + "\r\n"
                    + (path.equals("/mcp") ? "Mcp-Session-Id: " + session + "\r\n" : "")
                    + headers.replace("NUMBER", Integer.toString(number)) + "\r\n" + numbered;
        }
    }

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final AtomicInteger number = new AtomicInteger();
    private ManyTools tools;
    private Process process;
    private URI hub;
    private String session;

    /** MCP server with thousands of tools, whose descriptions are others in each list while it is hostile. */
    private static final class ManyTools {
        private final Map<Integer, List<String>> versions = new ConcurrentHashMap<>();
        private final AtomicInteger lists = new AtomicInteger();
        private volatile boolean isHostile;
        private final HttpServer server;

        ManyTools() throws IOException {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.createContext("/", this::answer);
            server.start();
        }

        private void answer(HttpExchange exchange) throws IOException {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                if (!exchange.getRequestMethod().equals("POST")) {
                    notifyOfChanges(exchange);
                    return;
                }
                Map<?, ?> request = Json.read(body, Map.class);
                String result = switch (String.valueOf(request.get("method"))) {
                    case "initialize" ->
                        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{\"listChanged\":true}},"
                                + "\"serverInfo\":{\"name\":\"many\",\"version\":\"1\"}}";
                    case "tools/list" -> page(request.get("params"));
                    default -> "{}";
                };
                send(
                        exchange,
                        request.get("id") == null ? 202 : 200,
                        "{\"jsonrpc\":\"2.0\",\"id\":" + request.get("id") + ",\"result\":" + result + "}");
            }
        }

        private String page(@Nullable Object params) {
            String cursor = params instanceof Map<?, ?> map && map.get("cursor") instanceof String text ? text : "0";
            int page = Integer.parseInt(cursor);
            int version = page == 0 && isHostile ? lists.incrementAndGet() : lists.get();
            List<String> pages = versions.computeIfAbsent(version % 2, ManyTools::pages);
            return "{\"tools\":[" + pages.get(page) + "]"
                    + (page + 1 < pages.size() ? ",\"nextCursor\":\"" + (page + 1) + "\"" : "") + "}";
        }

        /** Tools of 3 kB each. */
        private static List<String> pages(int version) {
            String properties = IntStream.range(0, 30)
                    .mapToObj(i -> "\"p" + i + "\":{\"type\":\"string\",\"description\":\"" + "One of many. ".repeat(4)
                            + "\"}")
                    .collect(Collectors.joining(","));
            return IntStream.range(0, TOOLS / PAGE)
                    .mapToObj(page -> IntStream.range(page * PAGE, (page + 1) * PAGE)
                            .mapToObj(i -> "{\"name\":\"tool-" + i + "\",\"description\":\"Does " + version
                                    + "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" + properties + "}}}")
                            .collect(Collectors.joining(",")))
                    .toList();
        }

        private void notifyOfChanges(HttpExchange exchange) throws IOException {
            exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
            exchange.sendResponseHeaders(200, 0);
            byte[] change = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
                    .repeat(100)
                    .getBytes(UTF_8);
            try {
                synchronized (this) {
                    while (true) {
                        while (!isHostile) {
                            wait();
                        }
                        exchange.getResponseBody().write(change);
                        exchange.getResponseBody().flush();
                        wait(5);
                    }
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        private synchronized void hostile(boolean is) {
            isHostile = is;
            notifyAll();
        }

        private static void send(HttpExchange exchange, int status, String text) throws IOException {
            byte[] bytes = text.getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", JSON);
            exchange.getResponseHeaders().set("Mcp-Session-Id", "one");
            exchange.sendResponseHeaders(status, status == 202 ? -1 : bytes.length);
            if (status != 202) {
                exchange.getResponseBody().write(bytes);
            }
        }
    }

    @BeforeAll
    void start(@TempDir Path directory) throws Exception {
        tools = new ManyTools();
        Path callers = directory.resolve("callers.json");
        Files.write(
                callers,
                Json.write(Map.of(
                        "mallory", Map.of("apiKey", HOSTILE_KEY, "group", "hostile"),
                        "alice", Map.of("apiKey", ORDINARY_KEY, "group", "ordinary"),
                        "shop",
                                Map.of(
                                        "oauth",
                                        Map.of("clientId", "shop", "clientSecret", "the-secret-of-the-shop")))));
        Path servers = directory.resolve("mcp.json");
        String url = "http://127.0.0.1:" + tools.server.getAddress().getPort() + "/mcp";
        Files.write(servers, Json.write(Map.of("mcpServers", Map.of("many", Map.of("url", url)))));
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-Xmx512m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "up",
                        "--port=0",
                        "--data=" + directory.resolve("hub"),
                        "--auth=apiKey,basic,bearer,oauth2",
                        "--callers=" + callers,
                        "--mcp-servers=" + servers)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        var output = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
        hub = URI.create(output.lines()
                .filter(line -> line.startsWith("URL: "))
                .findFirst()
                .orElseThrow()
                .substring("URL: ".length()));
        session = HTTP.send(
                        HttpRequest.newBuilder(hub.resolve("/mcp"))
                                .header("Content-Type", JSON)
                                .header("Accept", "application/json, text/event-stream")
                                .header("X-Api-Key", HOSTILE_KEY)
                                .POST(
                                        BodyPublishers.ofString(
                                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                                                        + "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"m\",\"version\":\"1\"}}}"))
                                .build(),
                        BodyHandlers.discarding())
                .headers()
                .firstValue("Mcp-Session-Id")
                .orElseThrow();
        String registration = "{\"name\":\"mallory\",\"email\":\"mallory@example.com\",\"password\":\"Correct horse\"}";
        assertThat(post("/auth/register", registration)).isEqualTo(201);
        measured(MEASURED);
    }

    @AfterAll
    void stop() throws InterruptedException {
        process.destroyForcibly().waitFor();
        tools.server.stop(0);
    }

    private int post(String path, String body) throws IOException, InterruptedException {
        return HTTP.send(
                        HttpRequest.newBuilder(hub.resolve(path))
                                .header("Content-Type", JSON)
                                .header("A2A-Version", "1.0")
                                .header("X-Api-Key", ORDINARY_KEY)
                                .POST(BodyPublishers.ofString(body))
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    /** Sends requests, each over a connection from another address than the one before, until it is closed. */
    private final class Attack implements AutoCloseable {
        private final List<Thread> threads = new ArrayList<>();
        private final Map<String, Integer> answers = new ConcurrentHashMap<>();
        private volatile boolean closed;

        Attack(Hostile kind) {
            tools.hostile(kind == Hostile.CHANGING_TOOLS);
            for (int i = 0; i < AT_ONCE; i++) {
                threads.add(Thread.ofPlatform().daemon().start(() -> run(kind)));
            }
        }

        private void run(Hostile kind) {
            while (!closed) {
                int next = number.incrementAndGet();
                try (var socket = new Socket(
                        InetAddress.getByName(hub.getHost()),
                        hub.getPort(),
                        InetAddress.getByName("127.1." + next % 100 + "." + (1 + next / 100 % 200)),
                        0)) {
                    socket.setSoTimeout(60_000);
                    socket.getOutputStream().write(kind.request(next, session).getBytes(UTF_8));
                    byte[] head = socket.getInputStream().readNBytes(12);
                    answers.merge(new String(head, UTF_8), 1, Integer::sum);
                    socket.getInputStream().skip(Long.MAX_VALUE);
                } catch (SocketException refused) {
                    answers.merge("closed", 1, Integer::sum);
                } catch (IOException failure) {
                    answers.merge(String.valueOf(failure), 1, Integer::sum);
                }
            }
        }

        @Override
        public void close() throws InterruptedException {
            closed = true;
            tools.hostile(false);
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    /** Longest times of answers. */
    private record Worst(Duration send, Duration health) {
        /** The least of each time: other processes of the machine only lengthen it. */
        static Worst least(List<Worst> rounds) {
            return new Worst(least(rounds, Worst::send), least(rounds, Worst::health));
        }

        private static Duration least(List<Worst> rounds, Function<Worst, Duration> time) {
            return rounds.stream().map(time).min(Duration::compareTo).orElseThrow();
        }
    }

    @DisplayName("a neighbour is served in time beside guesses of passwords and beside giant lists of tools")
    @ParameterizedTest
    @EnumSource
    void aNeighbourIsServedInTime(Hostile kind) throws Exception {
        var without = new ArrayList<Worst>();
        var beside = new ArrayList<Worst>();
        for (int round = 0; round < ROUNDS; round++) {
            without.add(measured(MEASURED.dividedBy(4)));
            beside.add(measuredBeside(kind));
        }

        // A machine that is busy with something else lengthens the control, too.
        Worst control = Worst.least(without);
        Worst worst = Worst.least(beside);
        assertThat(worst.send())
                .isLessThanOrEqualTo(
                        Collections.max(List.of(SEND_BOUND, control.send().multipliedBy(2))));
        assertThat(worst.health())
                .isLessThanOrEqualTo(
                        Collections.max(List.of(HEALTH_BOUND, control.health().multipliedBy(2))));
    }

    private Worst measuredBeside(Hostile kind) throws Exception {
        try (var attack = new Attack(kind)) {
            Worst worst = measured(MEASURED);
            System.out.println(kind + ": " + worst + " beside " + new TreeMap<>(attack.answers));
            return worst;
        }
    }

    /** Sends messages and asks for the health in turn, and returns how long each of them took at worst. */
    private Worst measured(Duration time) throws IOException, InterruptedException {
        var sends = new ArrayList<Duration>();
        var healths = new ArrayList<Duration>();
        for (long end = System.nanoTime() + time.toNanos(); System.nanoTime() - end < 0; ) {
            long begun = System.nanoTime();
            assertThat(post("/agents/echo/message:send", MESSAGE.replace("NUMBER", "n" + number.incrementAndGet())))
                    .isEqualTo(200);
            long sent = System.nanoTime();
            HttpRequest health = HttpRequest.newBuilder(hub.resolve("/health")).build();
            assertThat(HTTP.send(health, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(200);
            sends.add(Duration.ofNanos(sent - begun));
            healths.add(Duration.ofNanos(System.nanoTime() - sent));
        }
        return new Worst(Collections.max(sends), Collections.max(healths));
    }
}
