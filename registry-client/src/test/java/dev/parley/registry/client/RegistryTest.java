package dev.parley.registry.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Message;
import dev.parley.registry.RegistryProtocol;
import dev.parley.registry.RegistryProtocol.WatchChanges;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client of the registry of a hub. */
@Timeout(120)
final class RegistryTest {
    private final Hub hub = Hub.builder()
            .agents(Agent.named("lawyer", "Translates legal text")
                    .skill("translate", "Translates contracts", "legal", "translation")
                    .handle((request, reply) -> reply.message("translated: " + request.text())))
            .inMemory()
            .port(0)
            .drain(Duration.ofMillis(200))
            .start();
    private final Registry registry = Registry.connect(hub.url());

    @AfterEach
    void end() {
        registry.close();
        hub.close();
    }

    private String register(String name, Map<String, Object> more) {
        AgentCard card = AgentClient.connect(hub.agentUrl("lawyer")).card();
        @SuppressWarnings("unchecked")
        var json = new LinkedHashMap<>((Map<String, Object>) Json.read(Json.write(card), Map.class));
        json.put("name", name);
        var given = new LinkedHashMap<String, Object>(more);
        given.put("card", json);
        given.put("visibility", "public");
        Object entry = registry.call(RegistryProtocol.REGISTER, given);
        return String.valueOf(((Map<?, ?>) entry).get("id"));
    }

    @Test
    @DisplayName("ONE18 the best agent for a text answers a message")
    void best() {
        register("paralegal", Map.of());

        Message answer = (Message) registry.find("translate legal text").best().send("Guten Tag");

        assertThat(answer.text()).isEqualTo("translated: Guten Tag");
        assertThatThrownBy(() -> new Results("zzzz", List.of(), List.of(), List.of()).best())
                .isInstanceOf(RegistryException.class)
                .hasMessageContaining("no agent found");
    }

    @Test
    @DisplayName("a cached card is used as long as its entity tag holds, and a revoked agent is refused")
    void revoked() {
        String id = register("paralegal", Map.of());
        assertThat(registry.card(id).name()).isEqualTo("paralegal");
        assertThat(registry.card(id)).isEqualTo(registry.card(id));

        registry.call(RegistryProtocol.REVOKE, Map.of("id", id, "reason", "stolen"));

        assertThatThrownBy(() -> registry.card(id)).hasMessageContaining(id);
        assertThatThrownBy(() -> registry.connectTo(id)).hasMessageContaining(id);
    }

    @Test
    @Tag("heavy")
    @DisplayName("AK23 agents of a capability are watched, and a silent one goes offline after its time")
    void presence() throws InterruptedException {
        register("other", Map.of());
        String quiet = register("quiet", Map.of("lease", 10, "metadata", Map.of("kind", "sensor")));
        Map<String, Object> sensors = Map.of("metadata", List.of("kind=sensor"));
        assertThat(String.valueOf(registry.call(RegistryProtocol.LIST, sensors)))
                .contains(quiet)
                .doesNotContain(":other");

        var filter = new LinkedHashMap<String, Object>(sensors);
        filter.put("after", 0);
        var watch = new WatchChanges(filter, 0);

        try (AgentClient client = AgentClient.connect(Registry.agent(hub.url()));
                Feed<?> changes = client.watch(watch, CallContext.anonymous())) {
            assertThat(awaited(changes, "registered")).contains(quiet).doesNotContain(":other");
            assertThat(awaited(changes, "expired")).contains(quiet);
        }
        assertThat(String.valueOf(registry.call(RegistryProtocol.LIST, sensors)))
                .doesNotContain(quiet);
    }

    private static String awaited(Feed<?> changes, String kind) throws InterruptedException {
        Instant end = Instant.now().plusSeconds(60);
        while (Instant.now().isBefore(end)) {
            List<?> some = changes.next(Duration.ofSeconds(5));
            for (Object change : some == null ? List.of() : some) {
                if (kind.equals(((Map<?, ?>) change).get("kind"))) {
                    return change.toString();
                }
            }
        }
        throw new AssertionError("no change " + kind);
    }
}
