package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.engine.Agent;
import dev.parley.hub.pages.HomePage;
import dev.parley.knowledge.api.SharedKnowledge;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The root of a hub, for browsers and for everything else. */
@Timeout(60)
final class HomePageTest {
    private static final String BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void aBrowserGetsThePageOfAgentsWithTheirAddresses() throws Exception {
        try (Hub hub = hub(agent("echo", false), agent("counter", true))) {
            HttpResponse<String> page = get(hub.url() + "/", BROWSER);

            assertThat(page.statusCode()).isEqualTo(200);
            assertThat(page.headers().firstValue("Content-Type")).contains("text/html; charset=utf-8");
            assertThat(page.headers().firstValue("Vary")).contains("Accept");
            assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                    .contains("default-src 'none'", "style-src 'self'");
            assertThat(page.body())
                    .contains("<code>" + hub.agentUrl("echo") + "</code>")
                    .contains("href=\"" + hub.agentUrl("counter") + "/.well-known/agent-card.json\"")
                    .contains("parley send -a ", "curl ", "/ui/graph");
            assertThat(get(hub.url() + HomePage.STYLE, "text/css").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void otherClientsGetTheAnswerOfTheDefaultAgent() throws Exception {
        try (Hub hub = hub(agent("echo", false), agent("counter", true))) {
            // The header of curl, and none.
            for (String accept : new String[] {"*/*", "application/json", null}) {
                HttpResponse<String> answer = get(hub.url() + "/", accept);

                assertThat(answer.statusCode())
                        .as(accept)
                        .isEqualTo(get(hub.agentUrl("echo"), accept).statusCode());
                assertThat(answer.headers().firstValue("Content-Type").orElse(""))
                        .doesNotContain("html");
            }
            assertThat(get(hub.agentUrl("echo"), BROWSER)
                            .headers()
                            .firstValue("Content-Type")
                            .orElse(""))
                    .doesNotContain("html");
        }
    }

    @Test
    void whatAnAgentSaysOfItselfIsNotMarkup() throws Exception {
        Agent hostile = Agent.named("hostile", "<script>alert(1)</script>")
                .skill("s", "\"><img src=x onerror='alert(2)'>", "tag")
                .handle((request, reply) -> reply.complete("done"));
        try (Hub hub = hub(hostile)) {
            assertThat(get(hub.url() + "/", BROWSER).body())
                    .doesNotContain("<script", "<img")
                    .contains(
                            "&lt;script&gt;alert(1)&lt;/script&gt;",
                            "&quot;&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;");
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

    private HttpResponse<String> get(String url, String accept) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(url));
        if (accept != null) {
            request.header("Accept", accept);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }
}
