package dev.parley.registry.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Five hubs in a ring, each of which has the next one as its peer, and the first one all. Agents "finder" pass a search on to the finder of
 * the next hub, as far as the message says, and the last one asks the registry of its hub.
 */
@Timeout(120)
final class FederationChainTest {
    private static final int HUBS = 5;

    private static final List<Hub> HUB = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        HUB.clear();
        for (int i = 0; i < HUBS; i++) {
            int number = i;
            Agent finder = Agent.named("finder", "Passes searches on")
                    .handle((request, reply) -> reply.complete(Part.text(passedOn(number, request.text()))));
            Agent poet = Agent.named("poet" + i, "Writes sonnets").handle((request, reply) -> reply.complete("so"));
            HUB.add(Hub.builder()
                    .agents(finder, poet)
                    .inMemory()
                    .port(0)
                    .drain(Duration.ofMillis(200))
                    .set("registry-publisher", "hub" + i + ".example")
                    .set("registry-probes", "0s")
                    .start());
        }
        for (int i = 0; i < HUBS; i++) {
            peer(i, (i + 1) % HUBS);
        }
        for (int i = 2; i < HUBS; i++) {
            peer(0, i);
        }
    }

    @AfterAll
    static void stop() {
        HUB.forEach(Hub::close);
    }

    private static void peer(int of, int peer) throws IOException, InterruptedException {
        String body = "{\"url\":\"" + HUB.get(peer).url() + "\",\"publishers\":[\"hub" + peer + ".example\"]}";
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpResponse<String> added = http.send(
                    HttpRequest.newBuilder(URI.create(HUB.get(of).url() + "/admin/registry/peers/hub" + peer))
                            .header("Content-Type", "application/json")
                            .PUT(BodyPublishers.ofString(body))
                            .build(),
                    BodyHandlers.ofString());
            assertThat(added.statusCode()).as(added.body()).isEqualTo(200);
        }
    }

    /** Asks the finder of the next hub while there are hops, then the registry of this hub. */
    private static String passedOn(int number, String hops) {
        if (!hops.equals("0")) {
            String next = HUB.get((number + 1) % HUBS).agentUrl("finder");
            try (AgentClient client = AgentClient.connect(next)) {
                return text(client.send(String.valueOf(Integer.parseInt(hops) - 1)));
            }
        }
        try (Registry registry = Registry.connect(HUB.get(number).url())) {
            Results found = registry.find("sonnets");
            return new String(
                    Json.write(Map.of(
                            "ids", found.all().stream().map(Results.Found::id).toList(),
                            "peers",
                                    found.peers().stream()
                                            .map(PeerOutcome.JSON::toJson)
                                            .toList())),
                    UTF_8);
        }
    }

    private static String text(SendResult answer) {
        return ((Part.Text) requireNonNull(
                        ((Task) answer).artifacts().getFirst().parts().getFirst()))
                .text();
    }

    private static Map<?, ?> searched(int hops) {
        try (AgentClient client = AgentClient.connect(HUB.getFirst().agentUrl("finder"))) {
            return Json.read(text(client.send(String.valueOf(hops))).getBytes(UTF_8), Map.class);
        }
    }

    private static List<?> list(Map<?, ?> answer, String name) {
        return (List<?>) requireNonNull(answer.get(name));
    }

    @Test
    @DisplayName("AV35: peers that have peers in a ring are each asked once, and ask none themselves")
    void eachPeerIsAskedOnce() {
        try (Registry registry = Registry.connect(HUB.getFirst().url())) {
            Results found = registry.find("sonnets");

            assertThat(found.peers())
                    .extracting(peer -> peer.peer() + " " + peer.outcome() + " " + peer.results())
                    .containsExactlyInAnyOrder("hub1 ok 1", "hub2 ok 1", "hub3 ok 1", "hub4 ok 1");
            assertThat(found.all())
                    .extracting(Results.Found::id)
                    .containsExactlyInAnyOrder(IntStream.range(0, HUBS)
                            .mapToObj(i -> "urn:air:hub" + i + ".example:agents:poet" + i)
                            .toArray(String[]::new));
        }
        try (Registry registry = Registry.connect(HUB.get(1).url())) {
            assertThat(registry.find("sonnets").all())
                    .as("the peer of the peer is not asked")
                    .extracting(Results.Found::id)
                    .containsExactlyInAnyOrder(
                            "urn:air:hub1.example:agents:poet1", "urn:air:hub2.example:agents:poet2");
        }
    }

    @Test
    @DisplayName("AV35: a search that agents pass on asks peers behind three of them, and none behind four")
    void searchesEndAfterFourAgents() {
        Map<?, ?> third = searched(2);
        assertThat(list(third, "ids").toString()).contains("poet2", "poet3");
        assertThat(list(third, "peers").toString()).contains("hub3", "outcome=ok");

        Map<?, ?> fourth = searched(3);

        assertThat(list(fourth, "ids").toString()).contains("poet3").doesNotContain("poet4");
        assertThat(list(fourth, "peers").toString()).contains("hub4", "outcome=skipped", "through 4 agents");
    }

    @Test
    @DisplayName("a search that agents pass on in a circle is refused where it comes back")
    void circlesAreRefused() {
        try (AgentClient client = AgentClient.connect(HUB.getFirst().agentUrl("finder"))) {
            SendResult answer = client.send(String.valueOf(HUBS));

            assertThat(((Task) answer).status().state()).isEqualTo(TaskState.FAILED);
        }
    }
}
