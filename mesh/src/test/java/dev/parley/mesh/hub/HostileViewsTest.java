package dev.parley.mesh.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.hub.Peer.Answer;
import dev.parley.trust.Authentication;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A group with large tasks and workflows that reads its views as often as it can, and a neighbour of another group. */
@Timeout(300)
final class HostileViewsTest {
    private static final int LARGE_TASKS = 30;
    private static final int WORKFLOWS = 6;
    private static final Duration MEASURED = Duration.ofSeconds(3);
    private static final int ROUNDS = 3;
    private static final List<String> VIEWS = List.of(
            "/one/events?pageSize=1000",
            "/one/events?type=nothing&pageSize=1000",
            "/one/agents?q=large",
            "/one/connections?pageSize=1000",
            "/one/entities?type=task&pageSize=1000");

    private static final Duration SEND_BOUND = Duration.ofMillis(500);
    private static final Duration HEALTH_BOUND = Duration.ofMillis(200);
    private static final long HEAP_BACK = 128 << 20;

    @TempDir
    private Path directory;

    private static Agent large() {
        return Agent.named("large", "Answers at length")
                .skill("write", "Writes")
                .handle((request, reply) -> {
                    for (int i = 0; i < 3; i++) {
                        reply.artifact("piece-" + i, "x".repeat(1 << 20));
                        reply.progress(10 * i, "piece " + i);
                    }
                    reply.complete("done");
                });
    }

    private static String[] as(String key) {
        return new String[] {"A2A-Version", "1.0", "X-Api-Key", key};
    }

    private static String key(Peer peer, String admin, String group) throws Exception {
        return peer.post(
                        "/admin/keys",
                        "{'group':'" + group + "','principal':'" + group + "','scopes':[]}",
                        "X-Api-Key",
                        admin)
                .text("key");
    }

    private static String message(String id) {
        return "{'message':{'role':'ROLE_USER','messageId':'" + id + "','parts':[{'text':'x'}]}}";
    }

    private static String workflow() {
        return "{'coordinator':'hostile','participants':['echo'],'workflow':{'steps':["
                + IntStream.range(0, 150)
                        .mapToObj(i -> "{'id':'s" + i + "','agent':'echo','task':'say','parameters':{'text':'"
                                + "x".repeat(500) + "'}" + (i == 0 ? "" : ",'depends':['s" + (i - 1) + "']") + "}")
                        .collect(Collectors.joining(","))
                + "]}}";
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static Duration timed(Peer peer, String method, String path, String body, String... headers)
            throws IOException, InterruptedException {
        long begun = System.nanoTime();
        Answer answer = method.equals("GET") ? peer.get(path, headers) : peer.post(path, body, headers);
        assertThat(answer.status()).as(path + " " + answer.body()).isEqualTo(200);
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    /** The slowest call of a neighbour, and the slowest answer of /health. */
    private record Slowest(Duration send, Duration health) {
        /** The least of each time: other processes of the machine only lengthen it. */
        static Slowest least(List<Slowest> rounds) {
            return new Slowest(least(rounds, Slowest::send), least(rounds, Slowest::health));
        }

        private static Duration least(List<Slowest> rounds, Function<Slowest, Duration> time) {
            return rounds.stream().map(time).min(Duration::compareTo).orElseThrow();
        }
    }

    private static Slowest measured(Peer peer, String admin, String neighbour) throws Exception {
        Duration send = Duration.ZERO;
        Duration health = Duration.ZERO;
        long end = System.nanoTime() + MEASURED.toNanos();
        int calls = 0;
        for (; System.nanoTime() - end < 0; calls++) {
            String body = message(UUID.randomUUID().toString());
            for (Duration call : List.of(
                    timed(peer, "POST", "/agents/echo/message:send", body, as(neighbour)),
                    timed(peer, "GET", "/one/events", "", as(neighbour)),
                    timed(peer, "GET", "/admin/audit?group=neighbour", "", as(admin)))) {
                send = call.compareTo(send) > 0 ? call : send;
            }
            Duration alive = timed(peer, "GET", "/health", "");
            health = alive.compareTo(health) > 0 ? alive : health;
        }
        System.out.printf(
                "%d sends and views of a neighbour, the slowest after %s; /health after %s%n", 3 * calls, send, health);
        return new Slowest(send, health);
    }

    @Test
    @Tag("heavy")
    @DisplayName(
            "ONE17, T1, S111 views over large tasks and workflows of a group delay neither messages nor views of another, and free their"
                    + " memory")
    void views() throws Exception {
        try (Hub hub = Hub.builder()
                .data(directory)
                .port(0)
                .authentication(Authentication.named(List.of("required")))
                .agents(
                        large(),
                        Agent.named("echo", "Says it again")
                                .skill("say", "Says")
                                .handle((request, reply) -> reply.complete(request.text())))
                .start()) {
            var peer = new Peer(hub.url());
            String admin = hub.bootstrapKey().orElseThrow();
            String hostile = key(peer, admin, "hostile");
            String neighbour = key(peer, admin, "neighbour");
            for (int i = 0; i < WORKFLOWS; i++) {
                assertThat(peer.post("/one/workflows", workflow(), as(hostile)).status())
                        .isEqualTo(200);
            }
            for (int i = 0; i < LARGE_TASKS; i++) {
                assertThat(peer.post("/agents/large/message:send", message("l-" + i), as(hostile))
                                .status())
                        .isEqualTo(200);
            }
            timed(peer, "POST", "/agents/echo/message:send", message("n"), as(neighbour));
            timed(peer, "GET", "/one/events", "", as(neighbour));
            long before = heap();
            // A machine that is busy with something else lengthens the times of this control, too.
            Slowest control = measured(new Peer(hub.url()), admin, neighbour);

            var failures = new ConcurrentLinkedQueue<String>();
            var readers = new ArrayList<Thread>();
            for (String view : VIEWS) {
                readers.add(Thread.ofPlatform().daemon().start(() -> {
                    try {
                        while (!Thread.currentThread().isInterrupted()) {
                            int status = peer.get(view, as(hostile)).status();
                            if (status != 200) {
                                failures.add(view + " " + status);
                            }
                        }
                    } catch (IOException | InterruptedException ended) {
                        Thread.currentThread().interrupt();
                    }
                }));
            }
            var beside = new ArrayList<Slowest>();
            for (int round = 0; round < ROUNDS; round++) {
                beside.add(measured(new Peer(hub.url()), admin, neighbour));
            }
            for (Thread reader : readers) {
                reader.interrupt();
                reader.join();
            }

            assertThat(failures).isEmpty();
            Slowest slowest = Slowest.least(beside);
            assertThat(slowest.send())
                    .isLessThan(
                            Collections.max(List.of(SEND_BOUND, control.send().multipliedBy(2))));
            assertThat(slowest.health())
                    .isLessThan(Collections.max(
                            List.of(HEALTH_BOUND, control.health().multipliedBy(2))));
            assertThat(heap() - before).as("bytes of the heap that stay").isLessThan(HEAP_BACK);
        }
    }
}
