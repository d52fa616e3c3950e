package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A hub that callers send messages to all the time, and the tasks that it has acknowledged. */
final class LoadedHub implements AutoCloseable {
    private static final int CALLERS = 4;

    private final ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();
    private final AtomicInteger number = new AtomicInteger();
    private final CountDownLatch enough = new CountDownLatch(200);
    private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
    private final List<Future<Void>> sending = new ArrayList<>();
    private final Hub hub;
    private volatile boolean ended;

    LoadedHub(HubBuilder builder) {
        hub = builder.port(0).agents(agent()).start();
        for (int i = 0; i < CALLERS; i++) {
            sending.add(callers.submit(this::send));
        }
    }

    static Agent agent() {
        return Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));
    }

    private Void send() throws Exception {
        var outsider = new Outsider(hub.url());
        while (!ended) {
            String text = "message-" + number.incrementAndGet();
            acknowledged.add(outsider.result(
                            "/agents/echo",
                            "SendMessage",
                            "{'message':{'messageId':'" + text + "','role':'ROLE_USER','parts':[{'text':'" + text
                                    + "'}]}}",
                            "A2A-Version",
                            "1.0")
                    .at("task", "id")
                    .text());
            enough.countDown();
        }
        return null;
    }

    /** Returns the tasks that are acknowledged by now; some hundred at least. */
    List<String> acknowledged() throws InterruptedException {
        assertThat(enough.await(60, TimeUnit.SECONDS)).isTrue();
        return List.copyOf(acknowledged);
    }

    /** Copies the secrets, as the manual says. */
    static void copySecrets(Path data, Path backup) throws IOException {
        try (Stream<Path> files = Files.list(data)) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().matches(".*\\.key|.*\\.secret|webhook\\.master")) {
                    Files.copy(file, backup.resolve(file.getFileName()));
                }
            }
        }
    }

    /** Checks that a hub has the tasks and their contents, and takes new ones. */
    static void assertHas(Hub restored, List<String> tasks) throws Exception {
        var outsider = new Outsider(restored.url());
        for (String id : tasks) {
            var task = outsider.result("/agents/echo", "GetTask", "{'id':'" + id + "'}", "A2A-Version", "1.0");
            assertThat(task.at("status", "state").text()).isEqualTo("TASK_STATE_COMPLETED");
            assertThat(task.at("artifacts", 0, "parts", 0, "text").text()).startsWith("message-");
        }
        assertThat(outsider.get("/ready").statusCode()).isEqualTo(200);
    }

    @Override
    public void close() throws InterruptedException {
        ended = true;
        callers.shutdown();
        assertThat(callers.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        hub.close();
        assertThat(sending).allSatisfy(sender -> assertThat(sender).succeedsWithin(Duration.ofSeconds(1)));
    }
}
