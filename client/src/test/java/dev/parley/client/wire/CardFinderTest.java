package dev.parley.client.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.parley.client.AgentClient;
import dev.parley.client.AgentClientBuilder;
import dev.parley.client.RawServer;
import dev.parley.client.RawServer.Request;
import dev.parley.client.TestAgent;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.client.spi.HttpCall;
import dev.parley.client.spi.HttpDocument;
import dev.parley.dialect.Json;
import dev.parley.outbound.http.HttpUrl;
import dev.parley.protocol.AgentCard;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class CardFinderTest {

    @ParameterizedTest
    @CsvSource({
        "'', /.well-known/agent-card.json",
        "/, /.well-known/agent-card.json",
        "'', /.well-known/agent.json",
        "/agents/echo, /agents/echo/.well-known/agent-card.json",
        "/agents/echo/, /agents/echo/.well-known/agent-card.json",
        "/agents/echo?x=1, /agents/echo/.well-known/agent-card.json",
        "/agents/echo, /agents/echo/.well-known/agent.json",
        "/agents/echo, /agents/echo",
        "/agents/echo?x=1, /agents/echo?x=1",
        "/agents/echo, /.well-known/agent-card.json",
        "/agents/echo, /.well-known/agent.json",
        "/cards/echo.json, /cards/echo.json",
        "/cards/echo.json?x=1, /cards/echo.json?x=1",
    })
    void theCardIsFoundWhereCardsAreKept(String path, String place) throws Exception {
        try (var files = new Files()) {
            files.put(place, "there");

            try (var client = AgentClient.connect(files.url(path))) {
                assertThat(client.card().name()).isEqualTo("there");
            }
        }
    }

    @Test
    void theNearestCardIsTheAgents() throws Exception {
        try (var files = new Files()) {
            files.put("/.well-known/agent-card.json", "root's");
            files.put("/agents/echo", "echo's by its address");

            try (var client = AgentClient.connect(files.url("/agents/echo"))) {
                assertThat(client.card().name()).isEqualTo("echo's by its address");
            }
            files.put("/agents/echo/.well-known/agent.json", "echo's");
            try (var client = AgentClient.connect(files.url("/agents/echo"))) {
                assertThat(client.card().name()).isEqualTo("echo's");
            }
        }
    }

    @Test
    void theCardAtTheRootIsRefusedIfItIsAnotherAgents() throws Exception {
        try (var files = new Files()) {
            files.put("/.well-known/agent-card.json", "root's");

            assertThatThrownBy(() -> AgentClient.connect(files.url("/agents/other")))
                    .isInstanceOf(ClientException.class)
                    .hasMessageContaining("the card of another agent");
        }
    }

    @Test
    void whereAnAgentAnswersWithSomethingElseTheSearchGoesOn() throws Exception {
        try (var files = new Files()) {
            files.raw.put("/agents/echo", "<html>Welcome");
            files.raw.put("/agents/echo/.well-known/agent-card.json", "<html>All paths lead here");
            files.put("/.well-known/agent-card.json", "root's");

            try (var client = AgentClient.connect(files.url("/agents/echo"))) {
                assertThat(client.card().name()).isEqualTo("root's");
            }
        }
    }

    @Test
    void whereThereIsNoCardEveryPlaceIsNamed() throws Exception {
        try (var files = new Files()) {
            assertThatThrownBy(() -> AgentClient.connect(files.url("/agents/echo")))
                    .hasMessageContaining(files.url("/agents/echo/.well-known/agent-card.json") + " (status 404)")
                    .hasMessageContaining(files.url("/agents/echo/.well-known/agent.json") + " (status 404)")
                    .hasMessageContaining(files.url("/agents/echo") + " (status 404)")
                    .hasMessageContaining(files.url("/.well-known/agent-card.json") + " (status 404)");
            assertThat(problem(files.url("/agents/echo"))).isEqualTo(Problem.CARD_NOT_FOUND);
            assertThat(problem(files.url("/echo.json"))).isEqualTo(Problem.CARD_NOT_FOUND);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"<html>", "{}", "{\"name\":\"x\"}", "[]", ""})
    void aCardThatCannotBeReadSaysSo(String body) throws Exception {
        try (var files = new Files()) {
            files.raw.put("/.well-known/agent-card.json", body);
            files.raw.put("/card.json", body);

            assertThat(problem(files.url(""))).isEqualTo(Problem.CARD_INVALID);
            assertThat(problem(files.url("/agent"))).isEqualTo(Problem.CARD_INVALID);
            assertThat(problem(files.url("/card.json"))).isEqualTo(Problem.CARD_INVALID);
        }
    }

    @Test
    void aDocumentThatIsNoCardIsFoundWithoutBeingRead() throws Exception {
        try (var files = new Files()) {
            files.raw.put("/.well-known/agent-card.json", "{\"name\":1}");
            HttpUrl url = HttpUrl.of(files.url("/agent"));

            HttpDocument broken = AgentClient.builder().find(url);
            files.put("/.well-known/agent.json", "root's");
            HttpDocument other = AgentClient.builder().find(HttpUrl.of(files.url("")));

            assertThat(broken.body()).asString().isEqualTo("{\"name\":1}");
            assertThat(other.url().uri()).hasPath("/.well-known/agent.json");
        }
    }

    @Test
    void aCardThatIsRefusedIsReturnedAsItIsAndNoneIsGuessed() throws Exception {
        try (var files = new RawServer(connection -> {
            while (connection.request() != null) {
                connection.answer(403, "{}");
            }
        })) {
            HttpUrl url = HttpUrl.of("http://127.0.0.1:" + files.port() + "/agent");

            HttpDocument refused = AgentClient.builder().header("X-Trace", "1").find(url);
            HttpCall.Answer answer = AgentClient.builder()
                    .exchange(new HttpCall(
                            "POST", url.uri().toString(), Map.of("Content-Type", "text/plain"), new byte[1]));

            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.url().uri()).hasPath("/agent/.well-known/agent-card.json");
            assertThat(files.requests)
                    .allMatch(request -> request.head().startsWith("GET ")
                            ? "1".equals(request.header("X-Trace"))
                            : "text/plain".equals(request.header("Content-Type")));
            assertThat(answer.status()).isEqualTo(403);
        }
    }

    @Test
    void aCardBehindARedirectIsNotFetched() throws Exception {
        try (var elsewhere = new Files();
                var files = new RawServer(connection -> {
                    while (connection.request() != null) {
                        connection.answer(301, "", "Location: " + elsewhere.url("/card.json"));
                    }
                })) {
            elsewhere.put("/card.json", "elsewhere");

            ClientException refusal =
                    catchThrowableOfType(ClientException.class, () -> AgentClient.connect(files.url("/")));

            assertThat(refusal.problem()).isEqualTo(Problem.REDIRECTED);
            assertThat(refusal).hasMessageContaining(elsewhere.url("/card.json"));
            assertThat(elsewhere.server.requests).isEmpty();
        }
    }

    @Test
    void aCardLongerThanAMegabyteIsNotRead() throws Exception {
        try (var files = new Files()) {
            files.raw.put("/.well-known/agent-card.json", " ".repeat(1024 * 1024 + 1));

            assertThat(problem(files.url(""))).isEqualTo(Problem.ANSWER_TOO_LARGE);
        }
    }

    @Test
    void aServerThatIsNotThereIsUnreachable() throws Exception {
        var files = new Files();
        files.close();

        assertThat(problem(files.url(""))).isEqualTo(Problem.UNREACHABLE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "ftp://127.0.0.1/",
                "http://",
                "http://user:pass@127.0.0.1/",
                "http://a b/",
                "http://my_host/",
                "::::"
            })
    void anAddressThatIsNoneIsRefused(String url) {
        assertThat(problem(url)).isEqualTo(Problem.CARD_NOT_FOUND);
    }

    @Test
    void thisMachineIsMeantByItsNamesWithoutAScheme() throws Exception {
        try (var files = new Files()) {
            files.put("/.well-known/agent-card.json", "there");

            try (var client = AgentClient.connect("localhost:" + files.server.port())) {
                assertThat(client.card().name()).isEqualTo("there");
            }
            try (var client = AgentClient.connect("127.0.0.1:" + files.server.port() + "/")) {
                assertThat(client.card().name()).isEqualTo("there");
            }
        }
    }

    @Test
    void theCardIsFetchedAgainOnlyIfItHasChanged() throws Exception {
        try (var files = new Files()) {
            files.put("/.well-known/agent-card.json", "first");
            try (var client = AgentClient.connect(files.url(""))) {
                AgentCard first = client.card();

                assertThat(client.refreshCard()).isSameAs(first);
                assertThat(files.server.requests.getLast().header("If-None-Match"))
                        .isEqualTo("\"first\"");

                files.put("/.well-known/agent-card.json", "second");
                assertThat(client.refreshCard().name()).isEqualTo("second");
                assertThat(client.card().name()).isEqualTo("second");

                files.raw.clear();
                assertThatThrownBy(client::refreshCard).isInstanceOf(ClientException.class);
                assertThat(client.card().name()).isEqualTo("second");
            }
        }
    }

    @Test
    void aCardFromAFileNeedsNoFetching() {
        AgentCard card = Json.read(
                TestAgent.card("http://127.0.0.1:1/agent", "JSONRPC", "").getBytes(StandardCharsets.UTF_8),
                AgentCard.class);

        try (var client = AgentClient.of(card)) {
            assertThat(client.card()).isSameAs(card);
            assertThat(client.address().url()).isEqualTo("http://127.0.0.1:1/agent");
            assertThat(client.refreshCard()).isSameAs(card);
        }
    }

    @Test
    void theFirstInterfaceThatIsSpokenIsChosen() {
        assertThat(chosen(AgentClient.builder())).isEqualTo("http://127.0.0.1/rest");
    }

    @Test
    void aPreferenceComesBeforeTheOrderOfTheCard() {
        assertThat(chosen(AgentClient.builder().prefer("JSONRPC"))).isEqualTo("http://127.0.0.1/rpc");
        assertThat(chosen(AgentClient.builder().prefer("GRPC", "jsonrpc", "HTTP+JSON")))
                .isEqualTo("http://127.0.0.1/rpc");
        assertThat(chosen(AgentClient.builder().prefer("GRPC"))).isEqualTo("http://127.0.0.1/rest");
    }

    @Test
    void aVersionIsInsistedOn() {
        assertThat(chosen(AgentClient.builder().version("1.0"))).isEqualTo("http://127.0.0.1/rest");
        assertThatThrownBy(() -> chosen(AgentClient.builder().version("9.9")))
                .hasMessageContaining("HTTP+JSON 1.0")
                .hasMessageContaining("9.9");
    }

    @Test
    void aCardWithoutAnInterfaceThatIsSpokenSaysWhatItOffers() {
        AgentCard card = card("{\"url\":\"127.0.0.1:1\",\"protocolBinding\":\"GRPC\",\"protocolVersion\":\"1.0\"}");

        ClientException refusal = catchThrowableOfType(ClientException.class, () -> AgentClient.of(card));

        assertThat(refusal.problem()).isEqualTo(Problem.NO_INTERFACE);
        assertThat(refusal).hasMessageContaining("GRPC 1.0").hasMessageContaining("expected: JSONRPC or HTTP+JSON");
    }

    private static String chosen(AgentClientBuilder builder) {
        AgentCard card = card("""
                {"url":"127.0.0.1:1","protocolBinding":"GRPC","protocolVersion":"1.0"},
                {"url":"http://127.0.0.1/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
                {"url":"http://127.0.0.1/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}""");
        try (var client = builder.of(card)) {
            return client.address().url();
        }
    }

    private static AgentCard card(String interfaces) {
        return Json.read(TestAgent.card(interfaces, "").getBytes(StandardCharsets.UTF_8), AgentCard.class);
    }

    private static Problem problem(String url) {
        ClientException refusal = catchThrowableOfType(
                ClientException.class, () -> TestAgent.hasty().connect(url));
        assertThat(refusal).as(url).isNotNull();
        return refusal.problem();
    }

    /** Serves files, each with a tag that tells its content. */
    private static final class Files implements AutoCloseable {
        final Map<String, String> raw = new ConcurrentHashMap<>();
        final Map<String, String> tags = new ConcurrentHashMap<>();
        final RawServer server;

        Files() throws IOException {
            server = new RawServer(connection -> {
                for (Request request = connection.request(); request != null; request = connection.request()) {
                    String path = List.of(request.line().split(" ")).get(1);
                    String tag = tags.getOrDefault(path, "\"?\"");
                    if (!raw.containsKey(path)) {
                        connection.answer(404, "nothing here");
                    } else if (tag.equals(request.header("If-None-Match"))) {
                        connection.write("HTTP/1.1 304 X\nETag: " + tag + "\n\n");
                    } else {
                        connection.answer(200, raw.get(path), "ETag: " + tag);
                    }
                }
            });
        }

        void put(String path, String name) {
            raw.put(
                    path,
                    TestAgent.card(server.url("/agents/echo"), "JSONRPC", "")
                            .replace("\"name\":\"test\"", "\"name\":\"" + name + "\""));
            tags.put(path, "\"" + name + "\"");
        }

        String url(String path) {
            return server.url(path);
        }

        @Override
        public void close() {
            server.close();
        }
    }
}
