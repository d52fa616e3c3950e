package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/** The home page of the console: the demo, the figures, and the configuration of programs. */
@Timeout(90)
class HomeScreenTest {
    private static final Pattern KEY = Pattern.compile("parley_[0-9a-f]{12}_[0-9a-f]+");

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    @DisplayName("S0: one click sends to a demo agent and shows its task live")
    void oneClickShowsATaskLive() {
        try (var hub = new ConsoleHub(counter());
                Browser browser = Browser.at(hub.url())) {
            browser.go("");
            browser.see("h1", "Home");
            browser.see(".side a.on", "Home");
            assertThat(browser.texts("section[aria-label='Newest tasks']")).isEmpty();

            browser.click(".demo button", "to counter");
            browser.see(".demo .talk .steps", "3 steps");
            browser.see(".demo .talk", "counted to 3");
            browser.see("section[aria-label='Newest tasks'] .state.ok", "completed");
            browser.click(".demo a", "Open the task");
            browser.see("h1 .state", "completed");
            browser.assertQuiet("the demo");
        }
    }

    @Test
    @DisplayName("S0: figures change as tasks do, and each leads to what it counts")
    void figuresAreLiveLinks() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("");
            browser.see(".fig", "Open streams");
            browser.see(".fig .v.none", "0");
            hub.send("booking", "A seat to Paris");
            hub.begin("worker", "rows");

            browser.see(".fig .v.wait", "1");
            browser.see(".fig .v.run", "1");
            browser.holds("parseFloat(document.querySelector('.fig .v').textContent) > 0"); // tasks a second
            browser.holds(
                    "+[...document.querySelectorAll('.fig')].find(each => each.textContent.includes('Open streams'))"
                            + ".querySelector('.v').textContent >= 1"); // that of this page
            browser.click(".fig", "Waiting for a person");
            browser.see(".body .tr", "A seat to Paris");
            assertThat(browser.texts(".body .tr")).hasSize(1);

            Hub other = Hub.builder()
                    .inMemory()
                    .port(0)
                    .agents(Agent.named("courier", "Carries parcels")
                            .handle((request, reply) -> reply.complete("there")))
                    .start();
            hub.post("/registry/agents", Map.of("url", other.agentUrl("courier"), "visibility", "public"));
            other.close();
            browser.go("agents?q=courier");
            browser.click(".tr .health button", "Check now");
            browser.see(".tr .health .state.bad", "down");
            browser.forget("status of 400 (Bad Request)"); // the check, which found no agent
            browser.go("");
            browser.click(".fig", "Failing agents");
            assertThat(browser.address()).contains("health=down").contains("health=degraded");
            browser.assertQuiet("the figures");
        }
    }

    @Test
    @DisplayName("S0: each configuration has the address of the hub, and needs no key where the hub needs none")
    void configurationsHaveTheAddress() {
        try (var hub = new ConsoleHub();
                Browser browser = Browser.at(hub.url())) {
            browser.go("?agent=scribe");
            for (String with : List.of("curl", "cli", "java", "mcp", "langchain4j", "adk", "crewai")) {
                browser.click("#program-" + with, "");
                browser.see(".connect pre", hub.url() + "/agents/scribe");
                assertThat(browser.address()).contains("with=" + with);
                assertThat(browser.texts(".connect pre").getFirst()).doesNotContainIgnoringCase("key");
            }
            browser.reload();
            browser.see(".connect pre", "A2AClientConfig");
            browser.assertQuiet("the configurations");
        }
    }

    @Test
    @DisplayName(
            "S0: a key is made on a click only, named, limited to the agent, for 7 days, and revoked by another click")
    void aKeyIsMadeOnAClick() throws Exception {
        try (var hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
                Browser browser = Browser.at(hub.url())) {
            browser.go("?agent=booking&with=java");
            browser.see("h1", "Sign in");
            browser.type("input[type=password]", hub.hub.bootstrapKey().orElseThrow());
            browser.press(Keys.ENTER);
            browser.see(".connect pre", "$PARLEY_KEY");
            assertThat(keys(hub)).isEqualTo(1); // that of the operator

            browser.type(".connect input[name=principal]", "kiosk");
            browser.click(".connect form button", "Make a key");
            browser.see(".connect .check.ok", "of kiosk, for booking only");
            var shown = KEY.matcher(browser.texts(".connect pre").getFirst());
            assertThat(shown.find()).isTrue();
            String key = shown.group();
            assertThat(send(hub, "booking", key)).isEqualTo(200);
            assertThat(send(hub, "scribe", key)).isEqualTo(404);
            assertThat(get(hub, "/activity/tasks", key)).isEqualTo(404);
            assertThat(get(hub, "/registry/agents", key)).isEqualTo(404);
            assertThat(get(hub, "/one/workflows", key)).isEqualTo(404);
            assertThat(get(hub, "/admin/keys", key)).isEqualTo(403);
            assertThat(tools(hub, key)).contains("booking").doesNotContain("scribe");
            try (AgentClient agent = AgentClient.builder().apiKey(key).connect(hub.url() + "/agents/booking")) {
                assertThat(String.valueOf(agent.send("A seat"))).contains("Window or aisle?");
            }
            browser.click("#program-curl", "");
            browser.see(".connect pre", "X-Api-Key: " + key);

            browser.click(".connect button", "Revoke the key");
            browser.see(".connect .check", "is revoked");
            assertThat(send(hub, "booking", key)).isEqualTo(401);
            assertThat(browser.texts(".connect pre").getFirst()).doesNotContain(key);
            browser.assertQuiet("the key");
        }
    }

    @Test
    @DisplayName("S0: a caller that may not make keys is told which command does")
    void aMemberIsToldTheCommand() {
        try (var hub = new ConsoleHub(Hub.builder().inMemory().port(0).set("auth", "required"));
                Browser browser = Browser.at(hub.url())) {
            Object key = hub.post("/admin/keys", Map.of("group", "team", "principal", "ann", "scopes", List.of()))
                    .get("key");
            browser.go("?agent=booking");
            browser.see("h1", "Sign in");
            browser.type("input[type=password]", String.valueOf(key));
            browser.press(Keys.ENTER);

            browser.see(".connect p", "parley key create --scope agent:booking");
            assertThat(browser.texts(".connect form")).isEmpty();
            assertThat(browser.texts(".fig")).noneMatch(text -> text.contains("Open streams"));
            browser.assertQuiet("the page of a member");
        }
    }

    private static Agent counter() {
        return Agent.named("counter", "Counts").handle((request, reply) -> {
            for (int i = 1; i <= 3; i++) {
                reply.working("step " + i);
            }
            reply.complete("counted to 3");
        });
    }

    private static int keys(ConsoleHub hub) {
        return ((List<?>) requireNonNull(hub.call("GET", "/admin/keys", null).get("keys"))).size();
    }

    private HttpRequest.Builder request(ConsoleHub hub, String path, String key) {
        return HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("X-Api-Key", key)
                .header("A2A-Version", "1.0")
                .header("Content-Type", "application/json");
    }

    private int get(ConsoleHub hub, String path, String key) throws Exception {
        return http.send(request(hub, path, key).build(), BodyHandlers.discarding())
                .statusCode();
    }

    private int send(ConsoleHub hub, String agent, String key) throws Exception {
        byte[] body = Json.write(Map.of(
                "message",
                Map.of(
                        "messageId",
                        "m-" + System.nanoTime(),
                        "role",
                        "ROLE_USER",
                        "parts",
                        List.of(Map.of("text", "hello")))));
        return http.send(
                        request(hub, "/agents/" + agent + "/message:send", key)
                                .POST(BodyPublishers.ofByteArray(body))
                                .build(),
                        BodyHandlers.discarding())
                .statusCode();
    }

    /** Names of the tools at the address of MCP that the configuration has. */
    private String tools(ConsoleHub hub, String key) throws Exception {
        byte[] list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}".getBytes(UTF_8);
        HttpResponse<String> answer = http.send(
                request(hub, "/agents/booking/mcp", key)
                        .header("MCP-Protocol-Version", "2025-06-18")
                        .header("Accept", "application/json, text/event-stream")
                        .POST(BodyPublishers.ofByteArray(list))
                        .build(),
                BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return answer.body();
    }
}
