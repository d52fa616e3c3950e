package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.hub.Outsider.Shown;
import dev.parley.testkit.Eventually;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Fills the disk of a hub and kills its process, again and again, while clients send. Needs the right to mount. */
@Tag("heavy")
@Tag("crash")
@Timeout(1_800)
final class FullDiskCrashTest {
    private static final int CYCLES = Integer.getInteger("parley.test.kills", 24);
    private static final int SENDERS = 4;
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    Path disk = Path.of("");

    private final Map<String, String> acknowledged = new ConcurrentHashMap<>();
    /** A permit for each acknowledged message. */
    private final Semaphore news = new Semaphore(0);

    private final AtomicInteger messages = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final Random random = new Random(1);
    private volatile boolean stop;

    @BeforeEach
    void mount() throws Exception {
        run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk.toString());
    }

    @AfterEach
    void unmount() throws Exception {
        run("umount", disk.toString());
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor())
                .as(String.join(" ", command) + ": " + said)
                .isZero();
    }

    @Test
    void nothingAcknowledgedIsLostWhenTheDiskIsFullAndTheProcessKilled() throws Exception {
        int port = freePort();
        var caller = new Outsider("http://127.0.0.1:" + port);
        ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
        Process hub = start(port);
        try {
            var senders = new ArrayList<Future<?>>();
            for (int i = 0; i < SENDERS; i++) {
                senders.add(clients.submit(() -> send(caller)));
            }
            for (int cycle = 0; cycle < CYCLES; cycle++) {
                awaitMore(10);
                LockSupport.parkNanos(random.nextInt(50_000_000));
                // Writing may go on for a while, in the write-ahead log as it is, and what is moved from it takes what
                // is left.
                Path filler = fill();
                LockSupport.parkNanos(random.nextInt(100_000_000));
                fill();
                LockSupport.parkNanos(random.nextInt(100_000_000));
                if (cycle % 4 == 0) {
                    awaitNotReady(caller);
                }
                if (cycle % 2 == 0) {
                    Files.delete(filler);
                    Eventually.holds("the hub is ready", () -> isReady(caller)); // in the same process
                    awaitMore(5);
                }
                hub.destroyForcibly().waitFor();
                Files.deleteIfExists(filler);
                hub = start(port);
            }
            stop = true;
            for (Future<?> sender : senders) {
                sender.get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
            check(caller);
        } finally {
            stop = true;
            clients.shutdownNow();
            hub.destroyForcibly().waitFor();
        }
        System.out.printf(
                "%d kills with a full disk: %d messages acknowledged, %d answers refused or cut%n",
                CYCLES, acknowledged.size(), refused.get());
    }

    @Test
    void anIdleHubTellsThatTheDiskIsFullAndThatItIsNotAnyMore() throws Exception {
        int port = freePort();
        var caller = new Outsider("http://127.0.0.1:" + port);
        Process hub = start(port);
        try {
            Eventually.holds("the hub is ready", () -> isReady(caller));
            Path filler = fill();

            awaitNotReady(caller);
            Files.delete(filler);

            Eventually.holds("the hub is ready", () -> isReady(caller));
        } finally {
            hub.destroyForcibly().waitFor();
        }
    }

    private Process start(int port) throws IOException {
        Process hub = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Xlog:disable",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrashedHub.class.getName(),
                        disk.resolve("data").toString(),
                        Integer.toString(port))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        var output = new BufferedReader(new InputStreamReader(hub.getInputStream(), StandardCharsets.UTF_8));
        assertThat(output.readLine()).as("what the hub says first").startsWith("ready");
        return hub;
    }

    /** Takes all that is left of the disk. */
    private Path fill() throws IOException {
        Path filler = disk.resolve("filler");
        byte[] block = new byte[4_096];
        try (OutputStream out = Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (true) {
                out.write(block);
            }
        } catch (IOException full) {
            return filler;
        }
    }

    /** Takes what checkpoints free, until sends are refused; from then on each answer is that the disk is full. */
    private void awaitNotReady(Outsider caller) throws Exception {
        var inSequence = new AtomicInteger();
        Eventually.holds("20 answers of 503 in sequence", () -> {
            fill();
            HttpResponse<String> answer = caller.get("/ready");
            if (answer.statusCode() == 503) {
                assertThat(answer.body()).contains("the disk of " + disk.resolve("data") + " is full");
                return inSequence.incrementAndGet() == 20;
            }
            inSequence.set(0);
            return false;
        });
    }

    private static boolean isReady(Outsider caller) throws InterruptedException {
        try {
            return caller.get("/ready").statusCode() == 200;
        } catch (IOException cut) { // a connection of the process before
            return false;
        }
    }

    private void awaitMore(int more) throws InterruptedException {
        news.drainPermits();
        assertThat(news.tryAcquire(more, SOON.toSeconds(), TimeUnit.SECONDS))
                .as("%d more acknowledged messages", more)
                .isTrue();
    }

    /** Sends messages, each again and again until its task is known. */
    private Void send(Outsider caller) throws InterruptedException {
        while (!stop) {
            String text = UUID.randomUUID().toString();
            messages.incrementAndGet();
            Eventually.value("an acknowledged message", () -> sent(caller, text), Optional::isPresent)
                    .ifPresent(task -> acknowledged.put(task, text));
            news.release();
        }
        return null;
    }

    private Optional<String> sent(Outsider caller, String text) throws InterruptedException {
        try {
            Shown answer = caller.rpc(
                    "/agents/echo",
                    "SendMessage",
                    "{'message':{'messageId':'" + text + "','role':'ROLE_USER','parts':[{'text':'" + text + "'}]}}",
                    "A2A-Version",
                    "1.0");
            if (answer.at("result").has("task")) {
                return Optional.of(answer.at("result", "task", "id").text());
            }
        } catch (IOException killed) {
            // the next process answers
        }
        refused.incrementAndGet();
        return Optional.empty();
    }

    private void check(Outsider caller) throws Exception {
        assertThat(acknowledged).as("a message leads to one task").hasSize(messages.get());
        for (var sent : acknowledged.entrySet()) {
            Shown task = result(caller, "GetTask", "{'id':'" + sent.getKey() + "'}");
            assertThat(task.text()).contains(sent.getValue());
        }
        for (String state : List.of("TASK_STATE_WORKING", "TASK_STATE_SUBMITTED")) {
            Eventually.value(
                    "no tasks in " + state, () -> total(caller, "{'status':'" + state + "'}"), total -> total == 0);
        }
        assertThat(total(caller, "{}")).as("tasks").isEqualTo(messages.get());
    }

    private static int total(Outsider caller, String params) throws Exception {
        return Integer.parseInt(
                result(caller, "ListTasks", params).at("totalSize").text());
    }

    private static Shown result(Outsider caller, String method, String params) throws Exception {
        return caller.result("/agents/echo", method, params, "A2A-Version", "1.0");
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
