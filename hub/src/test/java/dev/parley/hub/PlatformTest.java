package dev.parley.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Frame;
import dev.parley.hub.Outsider.Frames;
import dev.parley.server.HttpExchange;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.NetworkConnector;
import org.eclipse.jetty.server.Server;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Agents of a platform behind a servlet container, in which they have no port of their own. */
@Timeout(120)
@Tag("heavy")
final class PlatformTest {
    private static final String KEY = "alices-key-of-32-characters-00001";

    @TempDir
    Path directory;

    private final CountDownLatch left = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Server jetty = new Server(0);
    private Platform platform;
    private Outsider outsider;
    private String url;

    @BeforeEach
    void start() throws Exception {
        var context = new ServletContextHandler("/a2a");
        jetty.setHandler(context);
        // The port has to be known first.
        ((NetworkConnector) jetty.getConnectors()[0]).open();
        url = "http://127.0.0.1:" + ((NetworkConnector) jetty.getConnectors()[0]).getLocalPort() + "/a2a";
        Path policy =
                Files.writeString(directory.resolve("policy.json"), "{\"limits\":{\"principal\":{\"concurrent\":1}}}");
        platform = Hub.builder()
                .inMemory()
                .drain(Duration.ofSeconds(1))
                .publicUrl(url)
                .agents(
                        Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text())),
                        Agent.named("endless", "Says it again and again").handle((request, reply) -> {
                            try {
                                for (int i = 0; ; i++) {
                                    reply.artifact("a" + i, request.text().repeat(1000));
                                    ended.await(5, TimeUnit.MILLISECONDS); // its pace
                                }
                            } finally {
                                left.countDown();
                            }
                        }))
                .callers(Callers.builder().apiKey("alice", KEY).build())
                .authentication(Authentication.of(Scheme.API_KEY))
                .policy(PolicyFile.read(policy))
                .set("max-body", "10KB")
                .platform();
        context.addServlet(new ServletHolder(new PlatformServlet(platform)), "/*");
        jetty.start();
        outsider = new Outsider(url + "/agents/");
    }

    @AfterEach
    void stop() throws Exception {
        platform.close();
        jetty.stop();
    }

    private static String message(String text) {
        return "{'message':{'messageId':'" + text + System.nanoTime() + "','role':'ROLE_USER','parts':[{'text':'" + text
                + "'}]}}";
    }

    @Test
    void callsOverJsonRpcAndRestAreAnsweredWithoutAPortOfTheirOwn() throws Exception {
        var rpc = outsider.result("echo", "SendMessage", message("hello"), "X-Api-Key", KEY);
        var rest = outsider.post("echo/message:send", message("hi"), "X-Api-Key", KEY, "A2A-Version", "1.0");

        assertThat(rpc.text()).contains("hello").contains("TASK_STATE_COMPLETED");
        assertThat(rest.statusCode()).isEqualTo(200);
        assertThat(rest.body()).contains("hi");
        assertThat(new Outsider(url).get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void cardsShowTheAddressInTheContainer() throws Exception {
        var card = outsider.get("echo/.well-known/agent-card.json");

        assertThat(card.statusCode()).isEqualTo(200);
        assertThat(card.body()).contains(url + "/agents/echo");
        assertThat(card.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    }

    @Test
    void streamsShowEachEventAndEnd() throws Exception {
        try (Frames frames = outsider.stream("echo", "SendStreamingMessage", message("hello"), "X-Api-Key", KEY)) {
            assertThat(frames.header("Content-Type")).startsWith("text/event-stream");
            Frame last = frames.all().getLast();
            assertThat(last.data().text()).contains("TASK_STATE_COMPLETED");
        }
    }

    @Test
    void wrongCredentialsAreRefusedWithAChallenge() throws Exception {
        var none = outsider.post("echo/message:send", message("hi"), "A2A-Version", "1.0");
        var wrong = outsider.post("echo/message:send", message("hi"), "X-Api-Key", KEY + "x", "A2A-Version", "1.0");

        assertThat(none.statusCode()).isEqualTo(401);
        assertThat(wrong.statusCode()).isEqualTo(401);
        assertThat(wrong.headers().firstValue("WWW-Authenticate").orElse("")).contains("ApiKey");
    }

    @Test
    void largeBodiesAndPagesOfOtherOriginsAreRefused() throws Exception {
        var large = outsider.post("echo/message:send", message("x".repeat(20_000)), "X-Api-Key", KEY);
        var foreign = outsider.post(
                "echo/message:send", message("hi"), "X-Api-Key", KEY, "Origin", "https://elsewhere.example");

        assertThat(large.statusCode()).isEqualTo(413);
        assertThat(foreign.statusCode()).isEqualTo(403);
    }

    @Test
    void aStreamWhoseClientHasGoneFreesItsPlace() throws Exception {
        URI address = URI.create(url);
        String body = ("{'jsonrpc':'2.0','id':'1','method':'SendStreamingMessage','params':" + message("go") + "}")
                .replace('\'', '"');
        try (var client = new Socket(address.getHost(), address.getPort())) {
            OutputStream out = client.getOutputStream();
            out.write(("POST /a2a/agents/endless HTTP/1.1\r\nHost: 127.0.0.1\r\nA2A-Version: 1.0\r\nX-Api-Key: " + KEY
                            + "\r\nContent-Type: application/json\r\nContent-Length: " + body.length() + "\r\n\r\n"
                            + body)
                    .getBytes(StandardCharsets.US_ASCII));
            assertThat(new String(client.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                    .isEqualTo("HTTP/1.1 200");
            // One call at a time: the stream has the place.
            assertThat(outsider.post("echo/message:send", message("hi"), "X-Api-Key", KEY, "A2A-Version", "1.0")
                            .statusCode())
                    .isEqualTo(429);
        }

        int status = Eventually.value(
                "the place is free",
                () -> outsider.post("echo/message:send", message("hi"), "X-Api-Key", KEY, "A2A-Version", "1.0")
                        .statusCode(),
                given -> given != 429);
        assertThat(status).isEqualTo(200);
    }

    @Test
    void aClosedPlatformRefusesCallsAndEndsItsAgents() throws Exception {
        try (Frames frames = outsider.stream("endless", "SendStreamingMessage", message("go"), "X-Api-Key", KEY)) {
            assertThat(frames.next()).isNotNull();

            platform.close();

            assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(outsider.post("echo/message:send", message("hi"), "X-Api-Key", KEY)
                        .statusCode())
                .isEqualTo(503);
    }

    @Test
    void settingsThatNeedAPortAreRefused() {
        assertThatThrownBy(() ->
                        Hub.builder().inMemory().publicUrl(url).adminPort(0).platform())
                .hasMessageContaining("admin-port");
        assertThatThrownBy(() -> Hub.builder().inMemory().platform()).hasMessageContaining("public URL");
    }

    @Test
    void onlyAContainerAuthenticatesTheCallersOfOne() {
        assertThatThrownBy(() -> Hub.builder()
                        .inMemory()
                        .port(0)
                        .set("agent-auth", "echo=container+none")
                        .agents(Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete()))
                        .start())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("auth: container");
    }

    @Test
    @DisplayName("N1 S67 a platform behind a proxy takes the address of the client from a trusted proxy only")
    void forwarded() throws Exception {
        for (String trusted : List.of("127.0.0.1", "10.0.0.0/8")) {
            try (Platform one = Hub.builder()
                    .inMemory()
                    .publicUrl("https://agents.example.com")
                    .agents(Agent.named("echo", "Tells the address of its caller")
                            .handle((request, reply) ->
                                    reply.complete(request.context().address())))
                    .callers(Callers.builder().apiKey("alice", KEY).build())
                    .authentication(Authentication.of(Scheme.API_KEY))
                    .set("behind-proxy", "true")
                    .set("trusted-proxy", trusted)
                    .platform()) {
                var answer = new ByteArrayOutputStream();

                one.handle(new Handed(message("hi"), answer));

                assertThat(answer.toString(StandardCharsets.UTF_8))
                        .contains(trusted.equals("127.0.0.1") ? "203.0.113.7" : "127.0.0.1");
            }
        }
    }

    /** A request as a container hands it over. */
    private record Handed(String message, OutputStream output) implements HttpExchange {
        @Override
        public String method() {
            return "POST";
        }

        @Override
        public String rawPath() {
            return "/agents/echo/message:send";
        }

        @Override
        public @Nullable String rawQuery() {
            return null;
        }

        @Override
        public @Nullable String header(String name) {
            return switch (name.toLowerCase(Locale.ROOT)) {
                case "host" -> "agents.example.com";
                case "x-api-key" -> KEY;
                case "a2a-version" -> "1.0";
                case "content-type" -> "application/json";
                case "x-forwarded-for" -> "198.51.100.1, 203.0.113.7";
                default -> null;
            };
        }

        @Override
        public String clientAddress() {
            return "127.0.0.1";
        }

        @Override
        public InputStream body() {
            return new ByteArrayInputStream(message.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public void status(int status) {
            assertThat(status).isEqualTo(200);
        }

        @Override
        public void set(String name, String value) {}
    }
}
