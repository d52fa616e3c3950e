package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.store.database.Database;
import dev.parley.store.database.PostgresqlServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a hub again and again while clients send and stream, and looks for what was acknowledged. */
@Timeout(1_800)
@Tag("heavy")
final class CrashTest {
    private static final int WRITERS = 8;
    private static final int STREAMS = 4;
    private static final int KILLS = Integer.getInteger("parley.test.kills", 10);

    @TempDir
    Path data = Path.of("");

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    private final Map<String, String> acknowledged = new ConcurrentHashMap<>();
    private final Map<String, List<Long>> streamed = new ConcurrentHashMap<>();
    private final AtomicInteger resumptions = new AtomicInteger();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private int life;
    private boolean stop;
    private String url = "";

    @Test
    void nothingAcknowledgedIsLostWhenTheProcessIsKilledThreeTimes() throws Exception {
        killAndCheck(3);
    }

    @Test
    @Tag("heavy")
    @Tag("crash")
    void nothingAcknowledgedIsLostInPostgresqlWhenTheProcessIsKilledThreeTimes() throws Exception {
        Database.name(data, PostgresqlServer.url());

        killAndCheck(3);
    }

    @Test
    @Tag("heavy")
    @Tag("crash")
    void nothingAcknowledgedIsLostWhenTheProcessIsKilledAgainAndAgain() throws Exception {
        killAndCheck(KILLS);
    }

    private void killAndCheck(int kills) throws Exception {
        int port = freePort();
        url = "http://127.0.0.1:" + port;
        var restarts = new ArrayList<Duration>();
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
        try {
            var running = new ArrayList<Future<?>>();
            for (int i = 0; i < WRITERS; i++) {
                running.add(clients.submit(this::write));
            }
            for (int i = 0; i < STREAMS; i++) {
                running.add(clients.submit(this::stream));
            }
            for (int i = 0; i < kills; i++) {
                Process hub = start(port, restarts);
                int before = acknowledged.size();
                awaitAcknowledged(before + 200);
                hub.destroyForcibly().waitFor();
            }
            Process hub = start(port, restarts);
            end();
            for (Future<?> client : running) {
                client.get();
            }
            try {
                check();
            } finally {
                hub.destroyForcibly().waitFor();
            }
        } finally {
            clients.shutdownNow();
        }
        System.out.printf(
                "%d kills: %d tasks acknowledged, %d streams with %d resumptions, restart at most %d ms%n",
                kills,
                acknowledged.size(),
                streamed.size(),
                resumptions.get(),
                restarts.stream().mapToLong(Duration::toMillis).max().orElseThrow());
    }

    private Process start(int port, List<Duration> restarts) throws IOException {
        long begin = System.nanoTime();
        Process hub = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1", // a process lives for a second or two
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrashedHub.class.getName(),
                        data.toString(),
                        Integer.toString(port))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        var output = new BufferedReader(new InputStreamReader(hub.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        assertThat(line).as("what the hub says first").startsWith("ready");
        restarts.add(Duration.ofNanos(System.nanoTime() - begin));
        lock.lock();
        try {
            life++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        return hub;
    }

    private void end() {
        lock.lock();
        try {
            stop = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private boolean isStopped() {
        lock.lock();
        try {
            return stop;
        } finally {
            lock.unlock();
        }
    }

    private int life() {
        lock.lock();
        try {
            return life;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the next life of the hub after {@code seen}. */
    private void awaitLifeAfter(int seen) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (life == seen) {
                assertThat(changed.await(60, TimeUnit.SECONDS))
                        .as("news within a minute")
                        .isTrue();
            }
        } finally {
            lock.unlock();
        }
    }

    private void awaitAcknowledged(int count) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (acknowledged.size() < count) {
                assertThat(changed.await(60, TimeUnit.SECONDS))
                        .as("answers within a minute")
                        .isTrue();
            }
        } finally {
            lock.unlock();
        }
    }

    private Void write() throws Exception {
        awaitLifeAfter(0);
        while (!isStopped()) {
            int now = life();
            String text = UUID.randomUUID().toString();
            try {
                Map<?, ?> answer = rpc("echo", "SendMessage", message(text));
                Map<?, ?> task = member(member(answer, "result"), "task");
                acknowledged.put(requireNonNull((String) task.get("id")), text);
                lock.lock();
                try {
                    changed.signalAll();
                } finally {
                    lock.unlock();
                }
            } catch (IOException killed) {
                awaitLifeAfter(now);
            }
        }
        return null;
    }

    /** What one reader has seen of one task. */
    private static final class Seen {
        final List<Long> ids = new ArrayList<>();

        @Nullable
        String task;

        boolean ended;

        String last() {
            return ids.isEmpty() ? "0" : ids.getLast().toString();
        }
    }

    private Void stream() throws Exception {
        awaitLifeAfter(0);
        while (!isStopped()) {
            int now = life();
            var seen = new Seen();
            read(() -> post("steps", body("SendStreamingMessage", message("go")), null), seen);
            while (!seen.ended && seen.task != null) {
                awaitLifeAfter(now);
                now = life();
                resumptions.incrementAndGet();
                byte[] again = body("SubscribeToTask", Map.of("id", seen.task));
                read(() -> post("steps", again, seen.last()), seen);
            }
            if (seen.task == null) {
                awaitLifeAfter(now);
            } else {
                streamed.put(seen.task, seen.ids);
            }
        }
        return null;
    }

    /** Reads a stream until it ends or is cut. */
    private static void read(Callable<HttpResponse<Stream<String>>> request, Seen seen) throws Exception {
        try (Stream<String> lines = request.call().body()) {
            long id = -1;
            String data = null;
            for (String line : (Iterable<String>) lines::iterator) {
                if (line.startsWith("id:")) {
                    id = Long.parseLong(line.substring(3).strip());
                } else if (line.startsWith("data:")) {
                    data = line.substring(5).strip();
                } else if (line.isEmpty() && data != null) {
                    Map<?, ?> result = member(parse(data), "result");
                    if (result.get("task") instanceof Map<?, ?> begun) {
                        seen.task = (String) begun.get("id");
                    }
                    seen.ids.add(id);
                    seen.ended = data.contains("TASK_STATE_COMPLETED") || data.contains("TASK_STATE_FAILED");
                    data = null;
                } else if (line.startsWith("{")) {
                    throw new AssertionError("refused: " + line);
                }
            }
        } catch (IOException | UncheckedIOException cut) {
            // the hub was killed; whoever called goes on after what was seen
        }
    }

    private void check() throws Exception {
        for (var sent : acknowledged.entrySet()) {
            Map<?, ?> task = (Map<?, ?>)
                    rpc("echo", "GetTask", Map.of("id", sent.getKey())).get("result");
            assertThat(task).as("task " + sent.getKey()).isNotNull();
            assertThat(task.toString()).contains(sent.getValue()).contains("TASK_STATE_COMPLETED");
        }
        for (var stream : streamed.entrySet()) {
            List<Long> ids = stream.getValue();
            for (int i = 0; i < ids.size(); i++) {
                assertThat(ids.get(i)).as("event " + (i + 1) + " of " + stream).isEqualTo(i + 1);
            }
            var all = new Seen();
            read(() -> post("steps", body("SubscribeToTask", Map.of("id", stream.getKey())), "0"), all);
            assertThat(ids).as("stream of " + stream.getKey()).isEqualTo(all.ids);
        }
        for (String agent : List.of("echo", "steps")) {
            for (String state : List.of("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED")) {
                Map<?, ?> page = member(rpc(agent, "ListTasks", Map.of("status", state)), "result");
                assertThat(page.get("totalSize"))
                        .as(agent + " tasks in " + state)
                        .isEqualTo(0);
            }
        }
        assertThat(acknowledged).isNotEmpty();
        assertThat(streamed).isNotEmpty();
    }

    private Map<?, ?> rpc(String agent, String method, Map<String, ?> params) throws IOException, InterruptedException {
        HttpResponse<String> answer = http.send(request(agent, body(method, params), null), BodyHandlers.ofString());
        return parse(answer.body());
    }

    private HttpResponse<Stream<String>> post(String agent, byte[] body, @Nullable String after)
            throws IOException, InterruptedException {
        return http.send(request(agent, body, after), BodyHandlers.ofLines());
    }

    private HttpRequest request(String agent, byte[] body, @Nullable String after) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + "/agents/" + agent))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .POST(HttpRequest.BodyPublishers.ofByteArray(body));
        if (after != null) {
            request.header("Last-Event-ID", after);
        }
        return request.build();
    }

    private static byte[] body(String method, Map<String, ?> params) {
        return Json.write(Map.of("jsonrpc", "2.0", "id", 1, "method", method, "params", params));
    }

    private static Map<String, ?> message(String text) {
        return Map.of(
                "message",
                Map.of(
                        "messageId",
                        UUID.randomUUID().toString(),
                        "role",
                        "ROLE_USER",
                        "parts",
                        List.of(Map.of("text", text))));
    }

    private static Map<?, ?> member(Map<?, ?> object, String name) {
        return (Map<?, ?>) requireNonNull(object.get(name), () -> name + " of " + object);
    }

    private static Map<?, ?> parse(String json) {
        return Json.read(json.getBytes(StandardCharsets.UTF_8), Map.class);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
