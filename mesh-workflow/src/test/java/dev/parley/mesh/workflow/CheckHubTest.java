package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Checks of documents by a hub, over HTTP: nothing begins. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("heavy")
class CheckHubTest {
    private static final String STEP = "{'id':'a','agent':'echo','task':'echo','parameters':{'text':'hi'}}";

    @TempDir
    private static Path directory;

    private final HttpClient http = HttpClient.newHttpClient();
    private Hub hub;

    @BeforeAll
    void start() throws IOException {
        Path policy = Files.writeString(
                directory.resolve("policy.json"),
                "{\"rules\":[{\"effect\":\"hide\",\"principals\":[\"bob\"],\"agents\":[\"hidden\"]}]}");
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .authentication(Authentication.of(Scheme.API_KEY))
                .callers(Callers.builder()
                        .apiKey("alice", "key-of-alice-12345")
                        .apiKey("bob", "key-of-bob-1234567")
                        .build())
                .policy(PolicyFile.read(policy))
                .agents(agent("echo"), agent("hidden"))
                .start();
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Echoes")
                .skill("echo", "Echoes", "text")
                .handle((request, reply) -> reply.complete(request.text()));
    }

    private HttpResponse<String> send(String verb, String path, String key, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("A2A-Version", "1.0")
                .header("Content-Type", "application/json")
                .header("X-API-Key", key)
                .method(
                        verb,
                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body.replace('\'', '"')))
                .build();
        return http.send(request, BodyHandlers.ofString());
    }

    private Map<?, ?> check(String key, String document) throws Exception {
        HttpResponse<String> answer = send("POST", "/one/workflows/check", key, document);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return Json.read(answer.body().getBytes(UTF_8), Map.class);
    }

    private static List<?> list(Map<?, ?> check, String member) {
        return (List<?>) requireNonNull(check.get(member));
    }

    @Test
    @DisplayName("ONE16 a document that can run is valid, has its steps, and begins nothing")
    void validDocument() throws Exception {
        Map<?, ?> check = check(
                "key-of-alice-12345",
                "{'workflow':{'steps':[" + STEP + ",{'id':'b','agent':'echo','task':'echo','depends':['a']}]}}");

        assertThat(check.get("valid")).isEqualTo(true);
        assertThat(list(check, "problems")).isEmpty();
        assertThat(list(check, "steps").toString()).contains("id=a", "id=b", "depends=[a]", "state=waiting");
        assertThat(send("GET", "/one/workflows", "key-of-alice-12345", "").body())
                .contains("\"workflows\":[]");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            {'workflow':{'steps':[]}}                                                                        | workflow.steps
            {'workflow':{'steps':[{'id':'a','agent':'echo','task':'echo','depends':['a']}]}}                  | workflow.steps[0].depends
            {'workflow':{'steps':[{'id':'a','agent':'echo','task':'echo','depends':['b']},{'id':'b','agent':'echo','task':'echo','depends':['a']}]}} | workflow.steps[0].depends
            {'workflow':{'steps':[{'id':'a','agent':'nobody','task':'echo'}]}}                                | workflow.steps[0].agent
            {'workflow':{'steps':[{'id':'a','agent':'echo','task':'sing'}]}}                                  | workflow.steps[0].task
            {'workflow':{'steps':[{'id':'a','agent':'echo','task':'echo','parameters':{'text':'${b.text}'}}]}} | workflow.steps[0].parameters
            {'workflow':3}                                                                                    | workflow
            {'name':'','workflow':{'steps':[{'id':'a','agent':'echo','task':'echo'}]}}                     | name
            {'name':'x','inputs':3,'workflow':{'steps':[{'id':'a','agent':'echo','task':'echo'}]}}            | inputs
            {'definition':'none'}                                                                             | definition
            """)
    @DisplayName("ONE16 a document that cannot run has its first problem with the location")
    void invalidDocuments(String document, String location) throws Exception {
        Map<?, ?> check = check("key-of-alice-12345", document);

        assertThat(check.get("valid")).isEqualTo(false);
        assertThat(list(check, "problems")).hasSize(1);
        assertThat(String.valueOf(list(check, "problems").getFirst())).contains(location);
    }

    @Test
    @DisplayName("ONE16 a document with more steps than a run may have is invalid")
    void tooManySteps() throws Exception {
        String steps = IntStream.rangeClosed(0, 1_000)
                .mapToObj(i -> "{'id':'s" + i + "','agent':'echo','task':'echo'}")
                .collect(Collectors.joining(","));

        Map<?, ?> check = check("key-of-alice-12345", "{'workflow':{'steps':[" + steps + "]}}");
        assertThat(check.get("valid")).isEqualTo(false);
        assertThat(String.valueOf(list(check, "problems").getFirst())).contains("workflow.steps", "1001");
    }

    @Test
    @DisplayName("ONE16 an agent that is hidden from the caller is unknown, and its name is not listed")
    void hiddenAgent() throws Exception {
        String document = "{'workflow':{'steps':[{'id':'a','agent':'hidden','task':'echo'}]}}";

        assertThat(check("key-of-alice-12345", document).get("valid")).isEqualTo(true);
        Map<?, ?> check = check("key-of-bob-1234567", document);
        assertThat(check.get("valid")).isEqualTo(false);
        assertThat(String.valueOf(list(check, "problems").getFirst()).split("expected:", 2)[1])
                .doesNotContain("hidden");
    }

    @Test
    @DisplayName("ONE16 a definition is checked as it is when it is stored, also over JSON-RPC")
    void definitions() throws Exception {
        String definition = "{'name':'hello','inputs':{'type':'object','properties':{'topic':{'type':'string'}}},"
                + "'workflow':{'steps':[{'id':'a','agent':'echo','task':'echo','parameters':{'text':'${input.topic}'}}]}}";

        assertThat(check("key-of-alice-12345", definition).get("valid")).isEqualTo(true);
        String call = "{'jsonrpc':'2.0','id':1,'method':'one/workflows/check','params':" + definition + "}";
        assertThat(send("POST", "/agents/one", "key-of-alice-12345", call).body())
                .contains("\"valid\":true");
        assertThat(send("GET", "/one/definitions", "key-of-alice-12345", "").body())
                .contains("\"definitions\":[]");
        assertThat(send("POST", "/one/workflows/check", "key-of-alice-12345", "[1]")
                        .statusCode())
                .isEqualTo(400);
        assertThat(send("POST", "/one/workflows/check", "none", definition).statusCode())
                .isEqualTo(401);
    }
}
