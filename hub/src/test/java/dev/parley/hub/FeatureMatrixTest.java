package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.protocol.AgentCard.Extension;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Promises of the feature matrix, as an outsider sees them over HTTP. Each test is named by the row it shows. */
@Timeout(30)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FeatureMatrixTest {
    private static final String REQUIRED = "https://example.com/ext/required/v1";
    private static final String OPTIONAL = "https://example.com/ext/optional/v1";
    private static final String PROFILE = "https://example.com/ext/invoices-only/v1";
    private static final String STATES = "https://example.com/ext/review-states/v1";
    private static final String METHOD = "https://example.com/ext/count/v1";
    private static final String REVIEW = STATES + "/state";

    private final HttpClient http = HttpClient.newHttpClient();
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    private final Hub hub = Hub.builder()
            .inMemory()
            .port(0)
            .agents(
                    Agent.named("echo", "Says it again").handle((request, reply) -> {
                        requests.add(request);
                        reply.complete(request.text());
                    }),
                    Agent.named("states", "Goes where it is told").handle((request, reply) -> {
                        switch (request.text()) {
                            case "reject" -> reply.reject("not today");
                            case "credentials" -> reply.askForCredentials("log in");
                            default -> reply.askForInput("which?");
                        }
                    }),
                    Agent.named("painter", "Writes pictures only")
                            .outputModes("image/png")
                            .handle((request, reply) ->
                                    reply.complete(String.join(" ", request.acceptedOutputModes()))),
                    Agent.named("writer", "Writes Markdown only")
                            .outputModes("text/markdown")
                            .handle((request, reply) -> reply.complete("# Title")),
                    Agent.named("extended", "Has extensions")
                            .extension(new Extension(OPTIONAL, "data only", false, Map.of("level", 1)))
                            .handle((request, reply) -> reply.complete(
                                    String.join(" ", request.context().extensions()))),
                    Agent.named("insists", "Requires an extension")
                            .extension(new Extension(REQUIRED, "a profile", true, Map.of()))
                            .handle((request, reply) -> reply.complete("well")),
                    Agent.named("accountant", "Has extensions of each kind")
                            .extension(new Extension(OPTIONAL, "data only", false, Map.of("level", 1)))
                            .extension(new Extension(PROFILE, "profile", true, Map.of("subject", "invoice")))
                            .extension(
                                    new Extension(STATES, "state machine", false, Map.of("states", List.of("review"))))
                            .extension(AgentExtension.of(METHOD, "method")
                                    .method("invoices/count", (params, caller) -> Map.of("count", 3)))
                            .handle(FeatureMatrixTest::account))
            .start();

    @BeforeAll
    void start() {
        assertThat(hub.url()).startsWith("http://127.0.0.1:");
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    @Test
    @DisplayName("GEM08: message references, context and extensions are kept and returned")
    void messageFieldsAreKept() throws Exception {
        Map<String, Object> message = message("hello");
        message.put("contextId", "my-context");
        message.put("referenceTaskIds", List.of("earlier"));
        message.put("extensions", List.of(OPTIONAL));
        message.put("metadata", Map.of(OPTIONAL, Map.of("key", 1)));

        Map<?, ?> task = task(send("echo", Map.of("message", message)));

        Map<?, ?> kept = (Map<?, ?>) ((List<?>) member(task, "history")).getFirst();
        assertThat(member(task, "contextId")).isEqualTo("my-context");
        assertThat(member(kept, "referenceTaskIds")).isEqualTo(List.of("earlier"));
        assertThat(member(kept, "extensions")).isEqualTo(List.of(OPTIONAL));
        assertThat(member(kept, "metadata")).isEqualTo(Map.of(OPTIONAL, Map.of("key", 1)));
    }

    @Test
    @DisplayName("GEM09: blocking or not, history length and output modes have their effect")
    void sendConfigurationHasItsEffect() throws Exception {
        requests.clear();
        Map<String, ?> configuration = Map.of("historyLength", 0, "acceptedOutputModes", List.of("text/plain"));

        Map<?, ?> task = task(send("echo", Map.of("message", message("hello"), "configuration", configuration)));

        assertThat(task.containsKey("history")).isFalse();
        assertThat(requests.take().acceptedOutputModes()).containsExactly("text/plain");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "image/png",
                "IMAGE/PNG;q=0.5",
                "image/*",
                "*/*",
                "*",
                "image",
                "png",
                "file",
                "",
                "text/plain,image/png"
            })
    @DisplayName("GEM09: an agent that writes what the caller accepts is told what that is")
    void acceptedOutputModesReachTheAgent(String modes) throws Exception {
        List<String> accepted = List.of(modes.split(",", -1));

        Map<?, ?> task = task(send("painter", sending(accepted)));

        assertThat(String.valueOf(member(task, "artifacts"))).contains(String.join(" ", accepted));
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "text", "text/*", "text/markdown", "markdown"})
    @DisplayName("GEM09: a caller that reads plain text reads every text")
    void plainTextStandsForAllTexts(String mode) throws Exception {
        assertThat(state(task(send("writer", sending(List.of(mode)))))).isEqualTo("TASK_STATE_COMPLETED");
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "text", "application/json", "data", "image/jpeg"})
    @DisplayName("GEM09: an agent that declares its output modes refuses callers that accept none of them")
    void acceptedOutputModesWithoutIntersectionAreRefused(String mode) throws Exception {
        Map<?, ?> refused = send("painter", sending(List.of(mode)));
        HttpResponse<String> overRest = post("/agents/painter/message:send", sending(List.of(mode)), Map.of());
        Map<?, ?> older = parse(post(
                        "/agents/painter",
                        Map.of("jsonrpc", "2.0", "id", 1, "method", "message/send", "params", sendingAsIn03(mode)),
                        Map.of("A2A-Version", "0.3"))
                .body());

        assertThat(member((Map<?, ?>) member(refused, "error"), "code")).isEqualTo(-32005);
        assertThat(overRest.statusCode()).isEqualTo(400);
        assertThat(member((Map<?, ?>) member(older, "error"), "code")).isEqualTo(-32005);
        assertThat(state(task(send("echo", sending(List.of(mode))))))
                .as("an agent that declares nothing takes any")
                .isEqualTo("TASK_STATE_COMPLETED");
    }

    private static Map<String, ?> sendingAsIn03(String mode) {
        Map<String, ?> message = Map.of(
                "kind",
                "message",
                "messageId",
                UUID.randomUUID().toString(),
                "role",
                "user",
                "parts",
                List.of(Map.of("kind", "text", "text", "hello")));
        return Map.of("message", message, "configuration", Map.of("acceptedOutputModes", List.of(mode)));
    }

    private static Map<String, ?> sending(List<String> acceptedOutputModes) {
        return Map.of("message", message("hello"), "configuration", Map.of("acceptedOutputModes", acceptedOutputModes));
    }

    @Test
    @DisplayName("GEM10: the states rejected and auth-required can be reached")
    void rareStatesAreReached() throws Exception {
        assertThat(state(task(send("states", Map.of("message", message("reject"))))))
                .isEqualTo("TASK_STATE_REJECTED");
        assertThat(state(task(send("states", Map.of("message", message("credentials"))))))
                .isEqualTo("TASK_STATE_AUTH_REQUIRED");
    }

    @Test
    @DisplayName("GEM12: the well-known card is JSON with cache headers and revalidates")
    void cardIsServed() throws Exception {
        HttpResponse<String> card = get("/.well-known/agent-card.json", Map.of());

        assertThat(card.statusCode()).isEqualTo(200);
        assertThat(card.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/json");
        assertThat(card.headers().firstValue("Cache-Control").orElseThrow()).contains("max-age");
        String tag = card.headers().firstValue("ETag").orElseThrow();
        assertThat(get("/.well-known/agent-card.json", Map.of("If-None-Match", tag))
                        .statusCode())
                .isEqualTo(304);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.0", "0.3"})
    @DisplayName(
            "GEM36: cards of 1.0 and 0.3 show data-only, profile, method and state machine extensions, required or not")
    void cardsShowEachKindOfExtension(String version) throws Exception {
        Map<?, ?> card = parse(get("/agents/accountant/.well-known/agent-card.json", Map.of("A2A-Version", version))
                .body());

        assertThat(card.containsKey("protocolVersion")).isEqualTo(version.equals("0.3"));
        Map<String, Map<?, ?>> shown = extensions(card);
        assertThat(shown).containsOnlyKeys(OPTIONAL, PROFILE, STATES, METHOD);
        assertThat(isRequired(member(shown, PROFILE))).isTrue();
        assertThat(isRequired(member(shown, OPTIONAL))).isFalse();
        assertThat(isRequired(member(shown, STATES))).isFalse();
        assertThat(isRequired(member(shown, METHOD))).isFalse();
        assertThat(member((Map<?, ?>) member(shown, OPTIONAL), "description")).isEqualTo("data only");
        assertThat(member((Map<?, ?>) member(shown, OPTIONAL), "params")).isEqualTo(Map.of("level", 1));
        assertThat(member((Map<?, ?>) member(shown, PROFILE), "description")).isEqualTo("profile");
        assertThat(member((Map<?, ?>) member(shown, PROFILE), "params")).isEqualTo(Map.of("subject", "invoice"));
        assertThat(member((Map<?, ?>) member(shown, STATES), "params")).isEqualTo(Map.of("states", List.of("review")));
    }

    @Test
    @DisplayName(
            "GEM36: a required profile that is not activated gives -32008 and its URI, and no task; activated, it holds")
    void aRequiredProfileIsEnforced() throws Exception {
        Map<?, ?> refused = rpc("accountant", Map.of("message", message("invoice 7")), Map.of());
        assertThat(member((Map<?, ?>) member(refused, "error"), "code")).isEqualTo(-32008);
        assertThat(refused.toString()).contains(PROFILE);
        HttpResponse<String> rest =
                post("/agents/accountant/message:send", Map.of("message", message("invoice 7")), Map.of());
        assertThat(rest.statusCode()).isEqualTo(400);
        assertThat(rest.body()).contains(PROFILE);

        Map<String, String> profile = Map.of("A2A-Extensions", PROFILE);
        assertThat(state(task(rpc("accountant", Map.of("message", message("weather")), profile))))
                .isEqualTo("TASK_STATE_REJECTED");
        assertThat(state(task(rpc("accountant", Map.of("message", message("invoice 7")), profile))))
                .isEqualTo("TASK_STATE_COMPLETED");
    }

    @Test
    @DisplayName("GEM36: a required profile is enforced for callers of 0.3, with the code that 0.3 has for it")
    void aRequiredProfileIsEnforcedForOlderCallers() throws Exception {
        Map<String, ?> call = Map.of(
                "jsonrpc",
                "2.0",
                "id",
                1,
                "method",
                "message/send",
                "params",
                Map.of(
                        "message",
                        Map.of(
                                "kind",
                                "message",
                                "messageId",
                                UUID.randomUUID().toString(),
                                "role",
                                "user",
                                "parts",
                                List.of(Map.of("kind", "text", "text", "invoice 7")))));

        Map<?, ?> refused = parse(
                post("/agents/accountant", call, Map.of("A2A-Version", "0.3")).body());
        HttpResponse<String> accepted =
                post("/agents/accountant", call, Map.of("A2A-Version", "0.3", "X-A2A-Extensions", PROFILE));

        assertThat(member((Map<?, ?>) member(refused, "error"), "code")).isEqualTo(-32600);
        assertThat(refused.toString()).contains(PROFILE, "the X-A2A-Extensions header");
        assertThat(accepted.headers().allValues("X-A2A-Extensions")).containsExactly(PROFILE);
        assertThat(state((Map<?, ?>) member(parse(accepted.body()), "result"))).isEqualTo("completed");
    }

    @Test
    @DisplayName("GEM36: a state machine extension adds a state to those of the task only if it is activated")
    void aStateMachineExtensionRefinesTheStates() throws Exception {
        Map<?, ?> plain = task(
                rpc("accountant", Map.of("message", message("invoice for review")), Map.of("A2A-Extensions", PROFILE)));
        Map<?, ?> refined = task(rpc(
                "accountant",
                Map.of("message", message("invoice for review")),
                Map.of("A2A-Extensions", PROFILE + ", " + STATES)));

        assertThat(state(plain)).isEqualTo("TASK_STATE_COMPLETED");
        assertThat(state(refined)).isEqualTo("TASK_STATE_INPUT_REQUIRED");
        Map<?, ?> question = (Map<?, ?>) member((Map<?, ?>) member(refined, "status"), "message");
        assertThat(member(question, "metadata")).isEqualTo(Map.of(REVIEW, "review"));
    }

    @Test
    @DisplayName("GEM37: of two extensions asked for, the known one is activated and echoed")
    void extensionsAreActivated() throws Exception {
        HttpResponse<String> answer = post(
                "/agents/extended/message:send",
                Map.of("message", message("hello")),
                Map.of("A2A-Extensions", OPTIONAL + ", https://example.com/ext/unknown/v1"));

        assertThat(answer.headers().allValues("A2A-Extensions")).containsExactly(OPTIONAL);
        assertThat(answer.body()).contains("\"text\":\"" + OPTIONAL);
    }

    @Test
    @DisplayName("GEM38: a call without a required extension is refused with -32008")
    void requiredExtensionsAreEnforced() throws Exception {
        Map<?, ?> refused = rpc("insists", Map.of("message", message("hello")), Map.of());
        Map<?, ?> accepted = rpc("insists", Map.of("message", message("hello")), Map.of("A2A-Extensions", REQUIRED));

        assertThat(member((Map<?, ?>) member(refused, "error"), "code")).isEqualTo(-32008);
        assertThat(accepted.containsKey("result")).isTrue();
    }

    @Test
    @DisplayName("GEM39: another version of an extension is ignored, not replaced by the one that exists")
    void extensionVersionsAreNotReplaced() throws Exception {
        HttpResponse<String> answer = post(
                "/agents/extended/message:send",
                Map.of("message", message("hello")),
                Map.of("A2A-Extensions", OPTIONAL.replace("/v1", "/v2")));

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("A2A-Extensions")).isEmpty();
    }

    /** Invoices only, by the profile; a review before the end for callers that know the state machine. */
    private static void account(Request request, Reply reply) {
        if (!request.text().startsWith("invoice")) {
            reply.reject("not an invoice");
        } else if (request.text().endsWith("review")
                && request.context().extensions().contains(STATES)) {
            Message question = Message.agent(Part.text("Is it right?"));
            reply.askForInput(new Message(
                    question.messageId(),
                    question.role(),
                    question.parts(),
                    null,
                    null,
                    Map.of(REVIEW, "review"),
                    List.of(STATES),
                    List.of()));
        } else {
            reply.complete("booked");
        }
    }

    private static Map<String, Map<?, ?>> extensions(Map<?, ?> card) {
        var extensions = new LinkedHashMap<String, Map<?, ?>>();
        for (Object one : (List<?>) member((Map<?, ?>) member(card, "capabilities"), "extensions")) {
            Map<?, ?> extension = (Map<?, ?>) one;
            extensions.put((String) member(extension, "uri"), extension);
        }
        return extensions;
    }

    /** Absent means false in every version. */
    private static boolean isRequired(Object extension) {
        return Boolean.TRUE.equals(((Map<?, ?>) extension).get("required"));
    }

    private Map<?, ?> send(String agent, Map<String, ?> params) throws IOException, InterruptedException {
        return rpc(agent, params, Map.of());
    }

    private Map<?, ?> rpc(String agent, Map<String, ?> params, Map<String, String> headers)
            throws IOException, InterruptedException {
        return parse(post(
                        "/agents/" + agent,
                        Map.of("jsonrpc", "2.0", "id", 1, "method", "SendMessage", "params", params),
                        headers)
                .body());
    }

    private HttpResponse<String> post(String path, Map<String, ?> body, Map<String, String> headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0")
                .POST(HttpRequest.BodyPublishers.ofByteArray(Json.write(body)));
        headers.forEach(request::setHeader);
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path, Map<String, String> headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + path));
        headers.forEach(request::header);
        return http.send(request.build(), BodyHandlers.ofString());
    }

    private static Map<String, Object> message(String text) {
        var message = new LinkedHashMap<String, Object>();
        message.put("messageId", UUID.randomUUID().toString());
        message.put("role", "ROLE_USER");
        message.put("parts", List.of(Map.of("text", text)));
        return message;
    }

    private static Map<?, ?> parse(String json) {
        return Json.read(json.getBytes(java.nio.charset.StandardCharsets.UTF_8), Map.class);
    }

    private static Map<?, ?> task(Map<?, ?> answer) {
        assertThat(answer.containsKey("result")).as(answer.toString()).isTrue();
        return (Map<?, ?>) member((Map<?, ?>) member(answer, "result"), "task");
    }

    private static Object state(Map<?, ?> task) {
        return member((Map<?, ?>) member(task, "status"), "state");
    }

    private static Object member(Map<?, ?> object, String name) {
        return Objects.requireNonNull(object.get(name), name + " of " + object);
    }
}
