package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.knowledge.api.SharedKnowledge;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The root of a hub, for browsers and for everything else. */
@Timeout(60)
final class HomePageTest {
    private static final String BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    private final HttpClient http = HttpClient.newHttpClient();

    @ParameterizedTest
    @ValueSource(strings = {"", "*/*", "text/plain", "image/png", BROWSER})
    @DisplayName("N8 tools without a browser get a short text with the agents and how to call one")
    void text(String accept) throws Exception {
        try (Hub hub = hub(agent("echo", false), agent("counter", true))) {
            HttpResponse<String> answer = get(hub.url() + "/", accept.isEmpty() ? null : accept);

            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(answer.headers().firstValue("Content-Type")).contains("text/plain; charset=utf-8");
            assertThat(answer.body())
                    .contains(hub.agentUrl("echo"), hub.agentUrl("counter"), "parley send -a ")
                    .hasLineCount(11);
        }
    }

    @Test
    @DisplayName("N8 descriptions have no characters that a terminal obeys, and a hub without agents has a page too")
    void harmless() throws Exception {
        try (Hub hub = hub(Agent.named("echo", "Says\u001b[31m it \u202eagain\nand again")
                .handle((request, reply) -> reply.complete()))) {
            assertThat(get(hub.url(), "*/*").body()).contains("Says [31m it  again and again");
        }
        try (Hub hub = hub()) {
            assertThat(get(hub.url(), "*/*").body()).contains("No agents");
        }
    }

    @Test
    @DisplayName("N8 without a console browsers get the text, too, and /ui/ is no page")
    void ui() throws Exception {
        try (Hub hub = hub(agent("echo", false))) {
            HttpResponse<String> root = get(hub.url() + "/", BROWSER);

            assertThat(root.headers().firstValue("Content-Type")).contains("text/plain; charset=utf-8");
            assertThat(root.headers().firstValue("Vary")).contains("Accept");
            for (String path : List.of("/ui", "/ui/", "/ui/none")) {
                assertThat(get(hub.url() + path, BROWSER).statusCode()).as(path).isEqualTo(404);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "*/*", "application/json", "application/json, text/plain, */*", BROWSER})
    @DisplayName("K9 GET on the address of an agent is its card, and on the root for clients that accept JSON")
    void card(String accept) throws Exception {
        try (Hub hub = hub(agent("echo", false), agent("counter", true))) {
            @Nullable String header = accept.isEmpty() ? null : accept;
            String card = get(hub.agentUrl("counter") + "/.well-known/agent-card.json", header)
                    .body();

            assertThat(get(hub.agentUrl("counter"), header).body()).isEqualTo(card);
            assertThat(get(hub.agentUrl("counter") + "/", header).body()).isEqualTo(card);
            if (accept.startsWith("application/json")) {
                assertThat(get(hub.url(), header).body()).contains("\"name\":\"echo\"");
            }
            assertThat(get(hub.agentUrl("none"), header).statusCode()).isEqualTo(404);
            assertThat(get(hub.agentUrl("counter"), "text/event-stream").statusCode())
                    .isEqualTo(405);
        }
    }

    private static Agent agent(String name, boolean knowledge) {
        var agent = Agent.named(name, "Repeats").skill("repeat", "Repeats a text", "text");
        return (knowledge ? agent.uses(SharedKnowledge.VIEW) : agent)
                .handle((request, reply) -> reply.complete(request.text()));
    }

    private static Hub hub(Agent... agents) {
        return Hub.builder().inMemory().port(0).agents(agents).start();
    }

    private HttpResponse<String> get(String url, @Nullable String accept) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url));
        if (accept != null) {
            request.header("Accept", accept);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }
}
