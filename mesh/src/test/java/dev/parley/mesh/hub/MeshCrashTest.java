package dev.parley.mesh.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mesh.hub.Peer.Answer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kills a hub while it takes messages. */
@Timeout(300)
@Tag("heavy")
final class MeshCrashTest {
    @TempDir
    private Path data;

    @Test
    @DisplayName(
            "ONE15, ONE29 a message whose hub was killed before its answer has one effect, one event and one answer")
    void betweenEffectAndAnswer() throws Exception {
        try (var hub = new Child(data);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var unused = threads.submit(() -> hub.peer.delegate("m-1", "endless", "say", "x", "Prefer", "wait=60"));
            assertThat(hub.output.readLine()).isEqualTo("begun");
            hub.kill();
        }
        try (var hub = new Child(data)) {
            Answer first = hub.peer.delegate("m-1", "endless", "say", "x");
            Answer second = hub.peer.delegate("m-1", "endless", "say", "x");

            assertThat(first.status()).as(first.body()).isEqualTo(202);
            assertThat(second.body()).isEqualTo(first.body());
            assertThat(hub.tasks("endless")).isEqualTo(1);
            assertThat(hub.received()).isEqualTo(Map.of("m-1", 1));
        }
    }

    @Test
    @Tag("heavy")
    @DisplayName("ONE15, ONE29 messages that were answered before the hub was killed keep their answers and events")
    void few() throws Exception {
        killAndRepeat(40);
    }

    @Test
    @Tag("heavy")
    @DisplayName(
            "ONE15, ONE29 of 2,000 messages during which the hub is killed, each has one effect, one event, one answer")
    void many() throws Exception {
        killAndRepeat(2_000);
    }

    private void killAndRepeat(int messages) throws Exception {
        var answers = new ConcurrentHashMap<Integer, String>();
        try (var hub = new Child(data);
                var threads = Executors.newFixedThreadPool(8)) {
            var third = new CountDownLatch(messages / 3);
            for (int i = 0; i < messages; i++) {
                int number = i;
                threads.execute(() -> {
                    try {
                        Answer answer = hub.peer.delegate("m-" + number, "echo", "say", "x");
                        assertThat(answer.status()).isEqualTo(202);
                        answers.put(number, hub.body(answer));
                        third.countDown();
                    } catch (IOException | InterruptedException killed) {
                        // is sent again
                    }
                });
            }
            assertThat(third.await(120, TimeUnit.SECONDS)).isTrue();
            hub.kill();
        }
        try (var hub = new Child(data)) {
            for (int i = 0; i < messages; i++) {
                String again = hub.body(hub.peer.delegate("m-" + i, "echo", "say", "x"));
                assertThat(again).isEqualTo(answers.getOrDefault(i, again));
            }
            assertThat(hub.tasks("echo")).isEqualTo(messages);
            assertThat(hub.received())
                    .hasSize(messages)
                    .allSatisfy((id, count) -> assertThat(count).isEqualTo(1));
        }
    }

    /** A hub in another process. */
    private static final class Child implements AutoCloseable {
        private final Process process;
        private final BufferedReader output;
        private final Peer peer;

        Child(Path data) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            CrashedMeshHub.class.getName(),
                            data.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String line = output.readLine();
            while ("begun".equals(line)) {
                line = output.readLine();
            }
            assertThat(line).startsWith("ready ");
            peer = new Peer(line.substring("ready ".length()));
        }

        /** The body of an answer without the address of the hub, which changes with each start. */
        String body(Answer answer) {
            return answer.body().replace(peer.caller().base(), "");
        }

        int tasks(String agent) throws Exception {
            return Integer.parseInt(peer.get("/agents/" + agent + "/tasks?pageSize=1", "A2A-Version", "1.0")
                    .text("totalSize"));
        }

        /** The number of events of received messages by the id of the message. */
        Map<String, Integer> received() throws Exception {
            var counts = new HashMap<String, Integer>();
            String after = "0";
            List<?> page;
            do {
                Answer answer = peer.get(
                        "/one/events?type=a2a_message_received&pageSize=100&after=" + after, "A2A-Version", "1.0");
                page = (List<?>) requireNonNull(answer.at("events"));
                for (int i = 0; i < page.size(); i++) {
                    counts.merge(answer.text("events", i, "metadata", "messageId"), 1, Integer::sum);
                }
                after = answer.text("next");
            } while (!page.isEmpty());
            return counts;
        }

        void kill() throws InterruptedException {
            process.destroyForcibly();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }

        @Override
        public void close() throws InterruptedException, IOException {
            kill();
            output.close();
        }
    }
}
