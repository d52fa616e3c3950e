package dev.parley.servlet;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.client.TaskStream;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.Platform;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.testkit.Eventually;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Agents in Jetty 12, called by Parley's own client. */
@Timeout(60)
final class PlatformServletTest {
    /** Threads that Jetty needs for itself, and two for requests. */
    private static final int THREADS = 6;

    private final CountDownLatch proceed = new CountDownLatch(1);
    private final CountDownLatch interrupted = new CountDownLatch(1);
    private final AtomicReference<@Nullable Platform> platform = new AtomicReference<>();
    private final Server jetty = new Server(new QueuedThreadPool(THREADS, THREADS));
    private String url = "";

    private void start(String context, String mapping, HttpServlet servlet, boolean async) throws Exception {
        var servlets = new ServletContextHandler(context);
        var connector = new ServerConnector(jetty, 1, 1);
        jetty.addConnector(connector);
        jetty.setHandler(servlets);
        connector.open(); // the platform needs the port
        url = "http://127.0.0.1:" + connector.getLocalPort() + (context.equals("/") ? "" : context)
                + mapping.replaceAll("/?\\*?$", "");
        var holder = new ServletHolder(servlet);
        holder.setAsyncSupported(async);
        servlets.addServlet(holder, URLDecoder.decode(mapping, StandardCharsets.UTF_8));
        jetty.start();
    }

    private void host() {
        platform.set(Hub.builder()
                .inMemory()
                .drain(Duration.ofSeconds(1))
                .publicUrl(url)
                .agents(
                        Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text())),
                        Agent.named("slow", "Waits between two parts").handle((request, reply) -> {
                            reply.artifact("first", request.text());
                            try {
                                proceed.await();
                            } catch (InterruptedException stopped) {
                                interrupted.countDown();
                                throw stopped;
                            }
                            reply.complete("done");
                        }))
                .platform());
    }

    @AfterEach
    void stop() throws Exception {
        Platform running = platform.get();
        if (running != null) {
            running.close();
        }
        jetty.stop();
    }

    private HttpResponse<String> get(String path) throws Exception {
        try (var http = HttpClient.newHttpClient()) {
            return http.send(
                    HttpRequest.newBuilder(URI.create(url + path))
                            .header("A2A-Version", "1.0")
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/, /*, true",
        "/, /a2a/*, true",
        "/, /api/v1/a2a/*, true",
        "/shop, /*, true",
        "/shop, /a2a/*, false",
        "/, /, false",
        "/shop, /, true",
        "/, /b%C3%BCro/*, true"
    })
    @DisplayName("N7 the servlet serves at any mapping, with escapes in the paths of the mapping and of the agents")
    void agentsAreServedAtAnyMapping(String context, String mapping, boolean async) throws Exception {
        start(context, mapping, new PlatformServlet(platform::get), async);
        host();

        var card = get("/agents/echo/.well-known/agent-card.json");
        assertThat(card.statusCode()).isEqualTo(200);
        assertThat(card.body()).contains("\"" + url + "/agents/echo\"");
        try (AgentClient client = AgentClient.connect(url + "/agents/echo")) {
            Task sent = (Task) client.send("hello");
            assertThat(sent.text()).isEqualTo("hello");
            assertThat(client.task(sent.id()).text()).isEqualTo("hello");
            try (var stream = client.stream("again")) {
                TaskEvent last = stream.next();
                while (stream.hasNext()) {
                    last = stream.next();
                }
                assertThat(last.toString()).contains("COMPLETED");
            }
        }
    }

    @Test
    void streamsHoldNoThreadOfTheContainer() throws Exception {
        start("/", "/a2a/*", new PlatformServlet(platform::get), true);
        host();
        try (AgentClient client = AgentClient.connect(url + "/agents/slow");
                var streams = new Streams()) {
            for (int i = 0; i < 2 * THREADS; i++) {
                var stream = streams.add(client.stream("s" + i));
                assertThat(stream.next()).isNotNull(); // the stream is open
            }

            assertThat(get("/ready").statusCode()).isEqualTo(200);

            proceed.countDown();
            streams.all().forEach(stream -> stream.forEachRemaining(event -> {}));
        }
    }

    @Test
    void requestsBeforeThePlatformAreRefusedUntilItIsThere() throws Exception {
        start("/", "/a2a/*", new PlatformServlet(platform::get), true);

        var early = get("/ready");
        host();

        assertThat(early.statusCode()).isEqualTo(503);
        assertThat(early.headers().firstValue("Retry-After")).contains("1");
        assertThat(get("/ready").statusCode()).isEqualTo(200);
    }

    @Test
    void aPathThatOnlyTheContainerTakesForThatOfTheMappingReachesNoAgent() throws Exception {
        start("/", "/a2a/*", new PlatformServlet(platform::get), true);
        host();
        String card = "/agents/echo/.well-known/agent-card.json";

        assertThat(get(card).statusCode()).isEqualTo(200);
        assertThat(get(";x" + card).statusCode()).isEqualTo(404);
    }

    @Test
    @DisplayName("as long as callers need no credentials, clients on other machines are refused")
    void clientsOnOtherMachinesAreRefusedByAnOpenPlatform() throws Exception {
        var address = new AtomicReference<>("192.0.2.7");
        var servlet = new PlatformServlet(platform::get);
        var addressed = new HttpServlet() {
            @Override
            protected void service(HttpServletRequest request, HttpServletResponse response)
                    throws ServletException, IOException {
                servlet.service(
                        (ServletRequest) new HttpServletRequestWrapper(request) {
                            @Override
                            public String getRemoteAddr() {
                                return requireNonNull(address.get());
                            }
                        },
                        response);
            }
        };
        start("/", "/a2a/*", addressed, false);
        host();

        for (String path : List.of("/agents/echo/tasks", "/admin/keys", "/metrics")) {
            var refused = get(path);
            assertThat(refused.statusCode()).as(path).isEqualTo(403);
            assertThat(refused.body()).contains("another machine", "credentials");
        }
        for (String here : List.of("127.0.0.1", "0:0:0:0:0:0:0:1", "[::1]", "::ffff:127.0.0.1")) {
            address.set(here);
            assertThat(get("/agents/echo/tasks").statusCode()).as(here).isEqualTo(200);
        }
    }

    @Test
    void aClosedPlatformEndsItsStreamsAndRefusesCalls() throws Exception {
        start("/", "/a2a/*", new PlatformServlet(platform::get), true);
        host();
        try (AgentClient client = AgentClient.connect(url + "/agents/slow");
                var stream = client.stream("hello")) {
            assertThat(stream.next()).isNotNull();

            requireNonNull(platform.get()).close();

            interrupted.await();
            Eventually.holds("calls are refused", () -> get("/agents/echo").statusCode() == 503);
        }
    }

    /** Open streams. */
    private record Streams(List<TaskStream> all) implements AutoCloseable {
        Streams() {
            this(new ArrayList<>());
        }

        TaskStream add(TaskStream stream) {
            all.add(stream);
            return stream;
        }

        @Override
        public void close() {
            all.forEach(TaskStream::close);
        }
    }
}
