package dev.parley.registry.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.registry.Cards;
import dev.parley.store.database.PostgresqlServer;
import dev.parley.testkit.ExtensionKit;
import dev.parley.testkit.ExtensionKit.Answer;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The record of a registry on SQLite and PostgreSQL. */
@Timeout(120)
@Tag("heavy")
final class RegistryStoreTest {
    private static final String SQLITE = "SQLite";

    @TempDir
    private Path directory;

    private HubBuilder hub(String url, Agent... agents) {
        HubBuilder builder = Hub.builder()
                .data(directory)
                .port(0)
                .set("registry-publisher", "agent.localhost")
                .agents(agents);
        return url.isEmpty() ? builder : builder.database(url);
    }

    @ParameterizedTest
    @ValueSource(strings = {SQLITE, "PostgreSQL"})
    @DisplayName("GEM13 pages are stable under writes, filters find, and all outlasts a restart")
    void pages(String store) throws Exception {
        String url = store.equals(SQLITE) ? "" : PostgresqlServer.url();
        Agent echo = Agent.named("echo", "Echoes").handle((in, out) -> out.complete(in.text()));
        var ids = new ArrayList<String>();
        try (Hub hub = hub(url, echo).start()) {
            var web = ExtensionKit.caller(hub.url());
            for (int i = 0; i < 25; i++) {
                String card = Cards.v1("Agent " + (100 + i), i % 2 == 0 ? "even" : "odd");
                ids.add(web.post("/registry/agents", Cards.registration(card, "public"))
                        .text("id"));
            }

            var found = new ArrayList<String>();
            String token = "";
            do {
                Answer page = web.get("/registry/agents?skill=even&skill=even&pageSize=4&pageToken=" + token);
                assertThat(page.text("total")).isEqualTo("13");
                found.addAll(page.each("agents", "id"));
                token = page.at("nextPageToken") == null ? "" : page.text("nextPageToken");
                web.delete("/registry/agents/" + ids.get(0));
                web.post("/registry/agents", Cards.registration(Cards.v1("Agent 000", "even"), "public"));
            } while (!token.isEmpty());
            assertThat(found).hasSize(13);
            assertThat(new HashSet<>(found)).hasSize(13);
            String odd = web.get("/registry/agents?skill=odd&pageSize=4").text("nextPageToken");
            for (String other : List.of("skill=even", "skill=odd&tag=odd", "skill=odd&order=-name")) {
                Answer refused = web.get("/registry/agents?" + other + "&pageSize=4&pageToken=" + odd);
                assertThat(refused.status()).as(other).isEqualTo(400);
                assertThat(refused.text()).contains("unknown (expected: a token of the page before)");
            }
            for (String filter : List.of("provider=none", "metadata=a=b", "health=up", "type=x", "binding=GRPC")) {
                assertThat(web.get("/registry/agents?skill=odd&" + filter).each("agents", "id"))
                        .isEmpty();
            }
            for (String filter : List.of(
                    "tag=odd", "capability=streaming", "binding=JSONRPC", "dialect=1.0", "publisher=agent.localhost")) {
                assertThat(web.get("/registry/agents?skill=odd&" + filter).each("agents", "id"))
                        .as(filter)
                        .hasSize(12);
            }
            assertThat(web.get("/registry/agents?owner=*").text()).contains("agents:echo");
        }
        try (Hub hub = hub(url).start()) {
            var web = ExtensionKit.caller(hub.url());
            assertThat(web.get("/registry/agents/" + ids.get(3)).text("name")).isEqualTo("Agent 103");
            assertThat(web.get("/registry/agents?skill=odd").text("total")).isEqualTo("12");
            HttpRequest changes = HttpRequest.newBuilder(URI.create(hub.url() + "/registry/changes?owner=*"))
                    .header("Accept", "text/event-stream")
                    .header("Last-Event-ID", "0")
                    .build();
            try (Stream<String> lines =
                    web.http().send(changes, BodyHandlers.ofLines()).body()) {
                assertThat(lines.filter(line -> line.startsWith("data:"))
                                .anyMatch(
                                        line -> line.contains("\"kind\":\"deleted\"") && line.contains("agents:echo")))
                        .as("an agent that the hub has no more is deleted")
                        .isTrue();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SQLITE, "PostgreSQL"})
    @DisplayName("AK23 an entry without a heartbeat expires, and a heartbeat revives it")
    void leases(String store) throws Exception {
        String url = store.equals(SQLITE) ? "" : PostgresqlServer.url();
        // Of the shortest lease, 10 s, all but 3 s have passed by the clock of the timers when the entry is registered.
        var late = new AtomicReference<>(Duration.ofSeconds(7));
        var registry = new RegistrySource(() -> Instant.now().minus(late.get()));
        try (Hub hub = hub(url).extension(registry).start()) {
            var web = ExtensionKit.caller(hub.url());
            String body =
                    Cards.registration(Cards.v1("A", "add"), "public").replace("{\"card\"", "{\"lease\":10,\"card\"");
            String id = web.post("/registry/agents", body).text("id");
            late.set(Duration.ZERO);
            HttpRequest changes = HttpRequest.newBuilder(URI.create(hub.url() + "/registry/changes?skill=add"))
                    .header("Accept", "text/event-stream")
                    .build();
            try (Stream<String> lines =
                    web.http().send(changes, BodyHandlers.ofLines()).body()) {
                assertThat(lines.anyMatch(line -> line.contains("\"kind\":\"expired\"")))
                        .isTrue();
            }
            assertThat(web.get("/registry/agents?skill=add").each("agents", "id"))
                    .isEmpty();
            assertThat(web.get("/registry/agents/" + id).text("status")).isEqualTo("expired");

            assertThat(web.post("/registry/agents/" + id + ":renew", "{}").text("status"))
                    .isEqualTo("active");
            assertThat(web.get("/registry/agents?skill=add").each("agents", "id"))
                    .containsExactly(id);
        }
    }
}
