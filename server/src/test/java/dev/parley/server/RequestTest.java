package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.spi.WireAnswer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RequestTest {
    private final AtomicBoolean ready = new AtomicBoolean(true);
    private final ScriptedAgent agent = new ScriptedAgent();
    private Server server;
    private HttpClient http;

    @BeforeAll
    void start() {
        server = TestServer.builder()
                .defaultAgent("first")
                .readiness(() -> ready.get() ? Optional.empty() : Optional.of("the disk is \"full\""))
                .handler("/echo/deeper", (request, body) -> TestServer.text("deeper " + request.path()))
                .handler("/broken", (request, body) -> {
                    throw new IllegalStateException("the secret");
                })
                .handler("/nothing", (request, body) -> new WireAnswer.Whole(204, Map.of(), new byte[0]))
                .start();
        server.add(agent.served(server, "first"));
        http = HttpClient.newHttpClient();
    }

    @AfterAll
    void stop() {
        http.close();
        server.close();
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void requestsReachTheirHandlerWhole(HttpClient.Version version) throws Exception {
        // The client asks for HTTP/2 only without a body, and then keeps to it.
        send(version, "/health", "GET", "");

        var answer = send(version, "/echo/a%20b/x%2Fy?k=1&k=2", "POST", "the body");

        assertThat(answer.version()).isEqualTo(version);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("POST /a b/x%2Fy {k=[1, 2]} x-test=one, two the body");
    }

    @Test
    void theLongestPathWins() throws Exception {
        assertThat(get("/echo/deeper/still").body()).isEqualTo("deeper /still");
        assertThat(get("/echo/deep").body()).startsWith("GET /deep ");
        assertThat(get("/echoes").statusCode()).isEqualTo(404);
    }

    @Test
    void everyAnswerForbidsGuessingItsType() throws Exception {
        for (var path : new String[] {"/health", "/echo", "/agents", "/agents/nobody", "/broken"}) {
            var answer = get(path);

            assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
            assertThat(answer.headers().map()).doesNotContainKeys("server", "x-powered-by");
        }
    }

    @Test
    void agentsAreListedAndComeAndGo() throws Exception {
        server.add(agent.served(server, "second"));

        assertThat(get("/agents").body())
                .contains("\"name\":\"second\"", "\"description\":\"The agent second\"")
                .contains("\"url\":\"" + server.url() + "/agents/second\"")
                .contains("\"cardUrl\":\"" + server.url() + "/agents/second/.well-known/agent-card.json\"");
        assertThat(get("/agents/second/.well-known/agent-card.json").statusCode())
                .isEqualTo(200);

        assertThat(server.remove("second")).isTrue();
        assertThat(server.remove("second")).isFalse();

        assertThat(get("/agents").body()).contains("first").doesNotContain("second");
        assertThat(get("/agents/second/.well-known/agent-card.json").statusCode())
                .isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "/agents/first", "/agents/first/"})
    void anAgentAnswersAtItsAddressAndTheDefaultAgentAtTheRoot(String path) throws Exception {
        var answer = http.send(
                request(path)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString("""
                            {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{
                            "messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}}\
                            """))
                        .build(),
                BodyHandlers.ofString());

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).contains("\"text\":\"hello\"");
    }

    @Test
    void aThousandAgentsNeedNoRoutesOfTheirOwn() throws Exception {
        for (var i = 0; i < 1000; i++) {
            server.add(agent.served(server, "many-" + i));
        }

        assertThat(get("/agents/many-999/.well-known/agent-card.json").body()).contains("The agent many-999");
        assertThat(server.agents()).hasSizeGreaterThan(1000);

        for (var i = 0; i < 1000; i++) {
            server.remove("many-" + i);
        }
    }

    @Test
    void whatIsNowhereIsNotFound() throws Exception {
        var answer = get("/agents/nobody/tasks");

        assertThat(answer.statusCode()).isEqualTo(404);
        assertThat(answer.body()).contains("\"error\"", "\"code\":404", "\"status\":\"NOT_FOUND\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TRACE", "OPTIONS", "PROPFIND"})
    void unknownMethodsAreNotAllowed(String method) throws Exception {
        var answer = send(HttpClient.Version.HTTP_1_1, "/echo", method, "");

        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("DELETE, GET, HEAD, PATCH, POST, PUT");
    }

    @Test
    void whatCanOnlyBeReadSaysSo() throws Exception {
        var answer = send(HttpClient.Version.HTTP_1_1, "/ready", "DELETE", "");

        assertThat(answer.statusCode()).isEqualTo(405);
        assertThat(answer.headers().firstValue("Allow")).contains("GET, HEAD");
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void headShowsTheLengthOfWhatItDoesNotShow(HttpClient.Version version) throws Exception {
        var answer = send(version, "/health", "HEAD", "");

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Length")).contains("15");
        assertThat(answer.body()).isEmpty();
        assertThat(get("/health").body()).isEqualTo("{\"status\":\"up\"}");
        assertThat(send(version, "/.well-known/agent-card.json", "HEAD", "").statusCode())
                .isEqualTo(200);
    }

    @Test
    void anAgentThatIsNotHostedYetIsUnavailableAndNotUnknown() throws Exception {
        String card = "/.well-known/agent-card.json";
        assertThat(get("/agents/second" + card).statusCode()).isEqualTo(404);
        ready.set(false);
        try {
            var answer = get("/agents/second" + card);
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).isPresent();
            assertThat(send(HttpClient.Version.HTTP_1_1, "/agents/second", "POST", "{}")
                            .statusCode())
                    .isEqualTo(503);
            assertThat(get("/agents/first" + card).statusCode()).isEqualTo(200);
        } finally {
            ready.set(true);
        }
    }

    @Test
    void readinessIsAskedFor() throws Exception {
        ready.set(false);
        try {
            assertThat(get("/ready").statusCode()).isEqualTo(503);
            assertThat(get("/ready").body())
                    .isEqualTo("{\"reason\":\"the disk is \\\"full\\\"\",\"status\":\"not ready\"}");
            assertThat(get("/health").statusCode()).isEqualTo(200);
        } finally {
            ready.set(true);
        }
        assertThat(get("/ready").body()).isEqualTo("{\"status\":\"ready\"}");
    }

    @Test
    void whatAHandlerThrowsStaysInside() throws Exception {
        var answer = get("/broken");

        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).doesNotContain("secret", "Exception");
    }

    @Test
    void anAnswerMayHaveNoBody() throws Exception {
        assertThat(get("/nothing").statusCode()).isEqualTo(204);
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(request(path).build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> send(HttpClient.Version version, String path, String method, String body)
            throws IOException, InterruptedException {
        var publisher = body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body);
        var request = request(path)
                .version(version)
                .header("X-Test", "one")
                .header("X-Test", "two")
                .method(method, publisher);
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path));
    }
}
