package dev.parley.hub;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.dialect.spi.WireAnswer;
import dev.parley.dialect.spi.WireCall;
import dev.parley.dialect.spi.WireFace;
import dev.parley.dialect.spi.WireRequest;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentExtension;
import dev.parley.extension.HubExtension;
import dev.parley.extension.HubExtensionSource;
import dev.parley.extension.HubParts;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.Operation;
import dev.parley.protocol.extension.ExtensionMethod;
import dev.parley.protocol.extension.ExtensionProtocol;
import dev.parley.protocol.extension.JsonForm;
import dev.parley.trust.Authentication;
import dev.parley.trust.PolicyFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Protocols of extensions at paths of a hub, and callers without credentials. */
@Timeout(120)
final class FacesTest {
    /** Names the caller. */
    record Who() implements Operation.ExtensionCall<String> {
        @Override
        public String name() {
            return "who/open";
        }
    }

    private static final JsonForm<String> TEXT =
            JsonForm.object(json -> String.valueOf(json.get("text")), text -> Map.of("text", text));
    private static final ExtensionProtocol PROTOCOL = ExtensionProtocol.of(
            "/extensions/who/v1",
            ExtensionMethod.call("who/open", Who.class, JsonForm.object(json -> new Who(), who -> Map.of()), TEXT),
            ExtensionMethod.call(
                            "who/closed", Closed.class, JsonForm.object(json -> new Closed(), closed -> Map.of()), TEXT)
                    .rest("GET /closed"));

    /** Needs credentials. */
    record Closed() implements Operation.ExtensionCall<String> {
        @Override
        public String name() {
            return "who/closed";
        }
    }

    private record Plain(String name, boolean isForAllOrigins, Function<WireRequest, WireAnswer.Whole> answer)
            implements WireFace {
        @Override
        public boolean isPublic(WireRequest request) {
            return request.path().equals("/public");
        }

        @Override
        public WireCall read(WireRequest request, AgentCard card, CallContext caller) {
            return request.path().equals("/closed")
                    ? WireCall.of(new Closed(), who -> text(200, who))
                    : request.path().equals("/stream")
                            ? WireCall.of(
                                    new Who(),
                                    who -> new WireAnswer.Events(
                                            Map.of(),
                                            Feed.of(List.of(("data: " + who + "\n\n").getBytes(UTF_8))),
                                            problem -> new byte[0]))
                            : WireCall.of(new Who(), who -> {
                                WireAnswer.Whole whole = answer.apply(request);
                                return whole.status() == 200 && whole.body().length == 0 ? text(200, who) : whole;
                            });
        }

        @Override
        public WireAnswer.Whole error(WireRequest request, A2AException problem) {
            return text(problem.error().httpStatus(), name + " at " + request.path() + ": " + problem.error());
        }

        static WireAnswer.Whole text(int status, String text) {
            return new WireAnswer.Whole(status, Map.of("Content-Type", "text/plain"), text.getBytes(UTF_8));
        }
    }

    private static WireAnswer.Whole answer(WireRequest request) {
        return switch (request.path()) {
            case "/moved" -> new WireAnswer.Whole(303, Map.of("Location", "/faces/there"), new byte[0]);
            case "/cached" ->
                "\"1\"".equals(request.header("If-None-Match"))
                        ? new WireAnswer.Whole(304, Map.of("ETag", "\"1\""), new byte[0])
                        : new WireAnswer.Whole(
                                200,
                                Map.of(
                                        "ETag",
                                        "\"1\"",
                                        "Content-Type",
                                        "application/zip",
                                        "Cache-Control",
                                        "max-age=60"),
                                new byte[] {'P', 'K', 0, (byte) 0xff});
            case "/nothing" -> new WireAnswer.Whole(204, Map.of(), new byte[0]);
            default -> new WireAnswer.Whole(200, Map.of(), new byte[0]);
        };
    }

    private record Source(Map<String, WireFace> faces, String agent) implements HubExtensionSource {
        @Override
        public String uri() {
            return PROTOCOL.uri();
        }

        @Override
        public Map<String, String> paths() {
            return Map.of("/who", "who");
        }

        @Override
        public HubExtension open(HubParts hub) {
            return new HubExtension() {
                @Override
                public AgentExtension of(String hubUrl, String agentUrl, boolean streams) {
                    return AgentExtension.of(PROTOCOL, "Names its callers")
                            .call(
                                    Who.class,
                                    (who, caller) -> caller.caller() + " of "
                                            + caller.scope().group())
                            .call(Closed.class, (closed, caller) -> "closed to " + caller.caller());
                }

                @Override
                public String name() {
                    return "who";
                }

                @Override
                public boolean isForAll() {
                    return true;
                }

                @Override
                public List<Agent> agents() {
                    return List.of(Agent.named("who", "Names its callers")
                            .handle((request, reply) -> reply.complete(request.text())));
                }

                @Override
                public Map<String, Face> faces() {
                    var all = new LinkedHashMap<String, Face>();
                    faces.forEach((path, face) -> all.put(path, new Face(agent, face)));
                    return all;
                }

                @Override
                public Map<String, Set<String>> open() {
                    return Map.of("who", Set.of("who/open"));
                }
            };
        }
    }

    @TempDir
    private static Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private static HubBuilder builder(Map<String, WireFace> faces) {
        return Hub.builder()
                .inMemory()
                .port(0)
                .extension(new Source(faces, "who"))
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete(request.text())));
    }

    private static HubBuilder builder() {
        return builder(Map.of(
                "/faces", new Plain("plain", false, FacesTest::answer),
                "/who/inner", new Plain("inner", true, FacesTest::answer)));
    }

    private static HubBuilder authenticating() {
        return builder().authentication(Authentication.named(List.of("required")));
    }

    private HttpResponse<byte[]> send(Hub hub, String method, String path, byte[] body, String... headers)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(hub.url() + path))
                .method(method, body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return http.send(request.build(), BodyHandlers.ofByteArray());
    }

    private String text(Hub hub, String path, String... headers) throws Exception {
        return new String(send(hub, "GET", path, new byte[0], headers).body(), UTF_8);
    }

    private static String header(HttpResponse<?> answer, String name) {
        return answer.headers().firstValue(name).orElse("");
    }

    @Test
    @DisplayName("the longest path answers, of protocols and of agents, and only whole segments count")
    void longestPath() throws Exception {
        try (Hub hub = builder().start()) {
            assertThat(text(hub, "/faces")).isEqualTo("anonymous of default");
            assertThat(text(hub, "/who/inner/x")).isEqualTo("anonymous of default");
            assertThat(text(hub, "/who/closed")).contains("\"text\":\"closed to anonymous\"");
            assertThat(text(hub, "/metrics")).contains("operation=\"who/open\"");
            assertThat(text(hub, "/who/innermost")).contains("\"code\":404");
            assertThat(send(hub, "GET", "/facesandmore", new byte[0]).statusCode())
                    .isEqualTo(404);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/health", "/ready", "/agents", "/agents/who/face", "/metrics", "/admin/face", "/who"})
    @DisplayName("a protocol at a path that the hub or an agent uses stops the start")
    void takenPaths(String path) {
        assertThatThrownBy(() -> builder(Map.of(path, new Plain("late", false, FacesTest::answer)))
                        .start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("path: " + path + " for agent \"who\"");
    }

    @Test
    @DisplayName("a protocol below the address of each agent has callers admitted by that agent")
    void pathsOfAgents() throws Exception {
        try (Hub hub = builder(Map.of("/agents/{agent}/face", new Plain("each", false, FacesTest::answer)))
                .authentication("echo", Authentication.named(List.of("required")))
                .start()) {
            assertThat(text(hub, "/agents/who/face")).isEqualTo("anonymous of default");
            assertThat(text(hub, "/agents/who/face/below")).isEqualTo("anonymous of default");
            assertThat(text(hub, "/agents/echo/face/x")).isEqualTo("each at /x: UNAUTHENTICATED");
            assertThat(text(hub, "/agents/none/face")).isEqualTo("each at : METHOD_NOT_FOUND");
            assertThat(text(hub, "/agents/who/faces")).contains("\"code\":404");
            assertThat(text(hub, "/agents/echo/.well-known/agent-card.json")).contains("\"name\":\"echo\"");
        }
    }

    @Test
    @DisplayName("a protocol in front of an agent of others stops the start")
    void agentOfOthers() {
        HubBuilder hub = Hub.builder()
                .inMemory()
                .port(0)
                .extension(new Source(Map.of("/faces", new Plain("plain", false, FacesTest::answer)), "echo"))
                .agents(Agent.named("echo", "Echoes").handle((request, reply) -> reply.complete("x")));

        assertThatThrownBy(hub::start)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("agent \"echo\" (expected: one of the extension)");
    }

    @Test
    @DisplayName("answers may be redirects, binary, empty, not modified, or streams, and HEAD gets the headers of GET")
    void answers() throws Exception {
        try (Hub hub = builder().start()) {
            HttpResponse<byte[]> moved = send(hub, "POST", "/faces/moved", new byte[0]);
            HttpResponse<byte[]> cached = send(hub, "GET", "/faces/cached", new byte[0]);
            HttpResponse<byte[]> same = send(hub, "GET", "/faces/cached", new byte[0], "If-None-Match", "\"1\"");
            HttpResponse<byte[]> head = send(hub, "HEAD", "/faces/cached", new byte[0]);

            assertThat(moved.statusCode()).isEqualTo(303);
            assertThat(header(moved, "Location")).isEqualTo("/faces/there");
            assertThat(cached.body()).containsExactly('P', 'K', 0, 0xff);
            assertThat(header(cached, "Cache-Control")).isEqualTo("max-age=60");
            assertThat(same.statusCode()).isEqualTo(304);
            assertThat(same.body()).isEmpty();
            assertThat(head.body()).isEmpty();
            assertThat(header(head, "Content-Length")).isEqualTo("4");
            assertThat(header(head, "ETag")).isEqualTo("\"1\"");
            assertThat(send(hub, "GET", "/faces/nothing", new byte[0]).statusCode())
                    .isEqualTo(204);
            assertThat(text(hub, "/faces/stream")).startsWith("data: anonymous of default\n\n");
        }
    }

    @Test
    @DisplayName("requests that the hub refuses are answered in the form of the protocol")
    void refusals() throws Exception {
        try (Hub hub = authenticating().set("max-body", "1KB").start()) {
            HttpResponse<byte[]> large = send(hub, "POST", "/faces/large", new byte[4096]);
            HttpResponse<byte[]> compressed =
                    send(hub, "POST", "/faces/packed", new byte[] {1}, "Content-Encoding", "gzip");
            HttpResponse<byte[]> wrong = send(hub, "GET", "/faces/x", new byte[0], "X-Api-Key", "wrong");
            HttpResponse<byte[]> unknown = send(hub, "PURGE", "/faces/x", new byte[0]);

            assertThat(large.statusCode()).isEqualTo(413);
            assertThat(new String(large.body(), UTF_8)).isEqualTo("plain at /large: PAYLOAD_TOO_LARGE");
            assertThat(new String(compressed.body(), UTF_8)).startsWith("plain at /packed: CONTENT_TYPE");
            assertThat(new String(wrong.body(), UTF_8)).isEqualTo("plain at /x: UNAUTHENTICATED");
            assertThat(new String(unknown.body(), UTF_8)).startsWith("plain at /x: ");
        }
    }

    @Test
    @DisplayName(
            "callers without credentials call open operations only, belong to no group, and share nothing with others")
    void open() throws Exception {
        try (Hub hub = authenticating().start()) {
            String key = hub.bootstrapKey().orElseThrow();

            assertThat(text(hub, "/faces")).isEqualTo("anonymous of *127.0.0.1");
            assertThat(text(hub, "/faces", "X-Api-Key", key)).isEqualTo("admin of default");
            assertThat(text(hub, "/faces/public", "X-Api-Key", key)).isEqualTo("anonymous of *127.0.0.1");
            assertThat(text(hub, "/faces/closed")).isEqualTo("plain at /closed: UNAUTHENTICATED");
            assertThat(text(hub, "/faces/closed", "X-Api-Key", key)).isEqualTo("closed to admin");
            assertThat(send(hub, "GET", "/who/closed", new byte[0]).statusCode())
                    .isEqualTo(401);
            assertThat(header(send(hub, "GET", "/who/closed", new byte[0]), "WWW-Authenticate"))
                    .contains("ApiKey realm=");
            assertThat(new Outsider(hub.url())
                            .code(
                                    "/who",
                                    "SendMessage",
                                    "{'message':{'messageId':'m','role':'ROLE_USER','parts':[{'text':'hello'}]}}",
                                    "A2A-Version",
                                    "1.0"))
                    .isNotNull();
        }
    }

    @Test
    @DisplayName("an agent whose authentication the settings name is not open")
    void closedBySettings() throws Exception {
        try (Hub hub = authenticating()
                .authentication("who", Authentication.named(List.of("apiKey")))
                .start()) {
            assertThat(text(hub, "/faces")).isEqualTo("plain at : UNAUTHENTICATED");
            assertThat(text(hub, "/faces/public")).isEqualTo("plain at /public: UNAUTHENTICATED");
        }
    }

    @Test
    @DisplayName("the policy and limits apply to callers without credentials, by their addresses")
    void limits() throws Exception {
        Path policy = directory.resolve("policy.json");
        Files.writeString(policy, "{\"limits\": {\"principal\": {\"perDay\": 2}}}");
        try (Hub hub = authenticating().policy(PolicyFile.read(policy)).start()) {
            String key = hub.bootstrapKey().orElseThrow();

            assertThat(text(hub, "/faces")).startsWith("anonymous");
            assertThat(text(hub, "/who/inner")).startsWith("anonymous");
            HttpResponse<byte[]> third = send(hub, "GET", "/faces/x", new byte[0]);
            assertThat(third.statusCode()).isEqualTo(429);
            assertThat(new String(third.body(), UTF_8)).isEqualTo("plain at /x: RATE_LIMITED");
            assertThat(text(hub, "/faces", "X-Api-Key", key)).isEqualTo("admin of default");
        }
    }

    @Test
    @DisplayName("pages of any origin call such a protocol without what their browser adds, and no other one")
    void origins() throws Exception {
        String[] page = {"Origin", "https://elsewhere.example", "Sec-Fetch-Site", "cross-site"};
        try (Hub hub = builder().start()) {
            HttpResponse<byte[]> preflight = send(
                    hub,
                    "OPTIONS",
                    "/who/inner/x",
                    new byte[0],
                    "Origin",
                    "https://elsewhere.example",
                    "Access-Control-Request-Method",
                    "POST",
                    "Access-Control-Request-Headers",
                    "authorization,x-api-key");
            HttpResponse<byte[]> read = send(hub, "POST", "/who/inner/x", new byte[] {1}, page);

            assertThat(preflight.statusCode()).isEqualTo(204);
            assertThat(header(preflight, "Access-Control-Allow-Origin")).isEqualTo("*");
            assertThat(header(preflight, "Access-Control-Allow-Headers")).isEqualTo("authorization,x-api-key");
            assertThat(header(read, "Access-Control-Allow-Origin")).isEqualTo("*");
            assertThat(new String(read.body(), UTF_8)).isEqualTo("anonymous of *127.0.0.1");
            assertThat(new String(
                            send(hub, "POST", "/who/inner/closed", new byte[] {1}, page)
                                    .body(),
                            UTF_8))
                    .isEqualTo("inner at /closed: UNAUTHENTICATED");
            assertThat(send(hub, "OPTIONS", "/faces/x", new byte[0]).statusCode())
                    .isEqualTo(405);
            assertThat(send(hub, "POST", "/faces/x", new byte[] {1}, page).statusCode())
                    .isEqualTo(403);
            assertThat(header(send(hub, "GET", "/faces/x", new byte[0], page), "Access-Control-Allow-Origin"))
                    .isEmpty();
        }
    }
}
