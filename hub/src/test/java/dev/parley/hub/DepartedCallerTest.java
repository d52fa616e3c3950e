package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A caller that gives up a blocking call counts against no limit any more a second later, and its task goes on. */
@Timeout(120)
final class DepartedCallerTest {
    /** A busy machine needs a part of it; the place of a call whose end is not noticed stays taken until the agent may go. */
    private static final Duration RELEASE = Duration.ofSeconds(15);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void aCallThatIsGivenUpFreesItsPlaceAndDoesNotChangeItsTask(HttpClient.Version version) throws Exception {
        var entered = new Semaphore(0);
        var mayGo = new CountDownLatch(1);
        var policy = directory.resolve("policy.json");
        Files.writeString(policy, "{\"limits\": {\"principal\": {\"concurrent\": 1}}}");
        var slow = Agent.named("slow", "Works until it may go").handle((request, reply) -> {
            entered.release();
            mayGo.await();
            reply.complete("done");
        });
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .authentication(Authentication.named(List.of("required")))
                        .policy(PolicyFile.read(policy))
                        .agents(slow)
                        .start();
                var http = HttpClient.newBuilder().version(version).build()) {
            var key = hub.bootstrapKey().orElseThrow();
            var outsider = new Outsider(hub.url());
            http.send(HttpRequest.newBuilder(URI.create(hub.url() + "/health")).build(), BodyHandlers.discarding());
            var call = call(http, hub, key);
            assertThat(entered.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            assertThat(list(outsider, key)).as("while the call waits").isEqualTo(429);

            call.cancel(true);

            Eventually.within(RELEASE, "an answer other than 429", () -> list(outsider, key) != 429);
            Eventually.asserted("the task works", () -> assertOneTask(outsider, key, "TASK_STATE_WORKING"));
            mayGo.countDown();
            Eventually.asserted("the task is completed", () -> assertOneTask(outsider, key, "TASK_STATE_COMPLETED"));
        }
    }

    private static CompletableFuture<HttpResponse<String>> call(HttpClient http, Hub hub, String key) {
        return http.sendAsync(
                HttpRequest.newBuilder(URI.create(hub.url() + "/agents/slow"))
                        .header("A2A-Version", "1.0")
                        .header("Content-Type", "application/json")
                        .header("X-Api-Key", key)
                        .POST(BodyPublishers.ofString("""
                                {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{
                                 "messageId":"m1","role":"ROLE_USER","parts":[{"text":"go"}]}}}"""))
                        .build(),
                BodyHandlers.ofString());
    }

    private static int list(Outsider outsider, String key) throws Exception {
        return outsider.get("/agents/slow/tasks", "X-Api-Key", key, "A2A-Version", "1.0")
                .statusCode();
    }

    private static void assertOneTask(Outsider outsider, String key, String state) throws Exception {
        var answer = outsider.get("/agents/slow/tasks", "X-Api-Key", key, "A2A-Version", "1.0");
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(Shown.of(answer.body()).at("tasks").size()).isEqualTo(1);
        assertThat(answer.body()).containsOnlyOnce(state);
    }
}
