package dev.parley.mesh.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.mesh.Envelope.Priority;
import dev.parley.mesh.MeshContent;
import dev.parley.protocol.Feed;
import dev.parley.trust.cards.CardKeys;
import dev.parley.trust.cards.CardTrust;
import dev.parley.trust.cards.ContentKeys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The samples of docs/mesh.md for Java, which are the lines of this file. */
@Timeout(120)
final class ClientSampleTest {
    private static final Duration WAIT = Duration.ofSeconds(30);

    private static void delegate(String url, List<String> log) throws Exception {
        OneIdentity planner = OneIdentity.of("planner", "https://a.example/agents/planner/one");
        try (OneClient researcher = OneClient.connect(planner, AgentClient.connect(url));
                Delegated delegated = researcher.send(TaskDelegation.of("research")
                        .parameter("topic", "tides")
                        .priority(Priority.HIGH)
                        .timeout(Duration.ofMinutes(5)))) {
            Feed<MeshContent> updates = delegated.updates();
            for (List<MeshContent> next = updates.next(WAIT); next != null; next = updates.next(WAIT)) {
                next.forEach(update -> log.add(update.type().word()));
            }
            MeshContent.Result result = delegated.result().get();
            log.add(String.valueOf(result.result()));
        }
    }

    private static void listen(OneIdentity planner, String url, List<String> log) throws Exception {
        try (OneListener listener = OneListener.of(planner).start();
                OneClient researcher =
                        OneClient.connect(planner, AgentClient.connect(url)).listening(listener);
                Delegated delegated =
                        researcher.send(TaskDelegation.of("research").parameter("topic", "tides"))) {
            log.add(delegated.result().get(60, TimeUnit.SECONDS).status().name());
        }
    }

    /** Compiled only, as its files are of two organizations. */
    static OneClient secured(String url) {
        OneIdentity planner = OneIdentity.of("planner", "https://a.example/agents/planner/one")
                .signing(CardKeys.read(List.of(Path.of("planner.json"))))
                .decrypting(ContentKeys.read(Path.of("planner-content.json")))
                .trusting(CardTrust.read(List.of(Path.of("b.example.json"))));
        OneClient researcher = OneClient.connect(planner, AgentClient.connect(url))
                .encrypting(ContentKeys.read(Path.of("researcher-content.json")));
        return researcher;
    }

    @Test
    @DisplayName("the Java samples of docs/mesh.md are lines of this file, and run")
    void samples() throws Exception {
        String here = plain(Files.readString(Path.of("src/test/java/dev/parley/mesh/client/ClientSampleTest.java")));
        List<String> samples = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
                .matcher(Files.readString(Path.of("../docs/mesh.md")))
                .results()
                .map(found -> plain(found.group(1)))
                .filter(sample -> sample.contains("OneClient"))
                .toList();
        assertThat(samples).hasSize(3).allMatch(here::contains);

        var log = new ArrayList<String>();
        Agent researcher = Agent.named("researcher", "Researches")
                .skill("research", "Researches a topic")
                .handle((request, reply) -> reply.complete("about " + request.text()));
        try (Hub hub = Hub.builder()
                .inMemory()
                .port(0)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(researcher)
                .start()) {
            delegate(hub.agentUrl("researcher"), log);
            listen(OneIdentity.of("planner", ""), hub.agentUrl("researcher"), log);
        }
        assertThat(log).endsWith("task_result", "about tides", "COMPLETED");
    }

    private static String plain(String text) {
        return text.replaceAll("\\s+", "");
    }
}
