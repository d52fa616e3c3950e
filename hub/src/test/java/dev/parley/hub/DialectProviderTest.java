package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.spi.DialectProvider;
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The dialect of {@code docs/dialects.md}, compiled from the page into a jar of its own, beside the jars of Parley. */
@Timeout(60)
final class DialectProviderTest {
    /** Runs where the jar is on the class path, and returns what it has seen. */
    private static final String PROGRAM = """
        package example;

        import dev.parley.client.AgentClient;
        import dev.parley.engine.Agent;
        import dev.parley.hub.Hub;
        import dev.parley.protocol.AgentCard;
        import dev.parley.protocol.Message;
        import java.net.URI;
        import java.net.http.HttpClient;
        import java.net.http.HttpRequest;
        import java.net.http.HttpResponse.BodyHandlers;
        import java.util.ArrayList;
        import java.util.List;
        import java.util.Set;
        import java.util.concurrent.Callable;

        public final class Program implements Callable<List<String>> {
            @Override
            public List<String> call() throws Exception {
                var seen = new ArrayList<String>();
                Agent echo = Agent.named("echo", "Echoes")
                        .handle((request, reply) -> reply.complete(request.text() + " in " + request.context().dialect()));
                try (Hub hub = Hub.builder().inMemory().port(0).agents(echo).start()) {
                    seen.add(post(hub, "/agents/echo/plain", "hello"));
                    seen.add(send(hub, "GET", "/agents/echo/plain", ""));
                    seen.add(send(hub, "GET", "/metrics", ""));
                }
                try (Hub hub = Hub.builder().inMemory().port(0).dialects(Set.of("plain")).agents(echo).start()) {
                    AgentCard card = new AgentCard("echo", "", List.of(new Plain().at(hub.agentUrl("echo"))), null, "1",
                            null, new AgentCard.Capabilities(null, null, List.of(), null), java.util.Map.of(),
                            List.of(), List.of(), List.of(), List.of(), List.of(), null);
                    try (AgentClient client = AgentClient.builder().of(card)) {
                        seen.add(((Message) client.send("called")).text());
                    }
                }
                try (Hub hub = Hub.builder().inMemory().port(0).dialects(Set.of("1.0")).agents(echo).start()) {
                    seen.add(send(hub, "POST", "/agents/echo/plain", "hello"));
                }
                return seen;
            }

            private static String post(Hub hub, String path, String body) throws Exception {
                return send(hub, "POST", path, body);
            }

            private static String send(Hub hub, String method, String path, String body) throws Exception {
                var answer = HttpClient.newHttpClient()
                        .send(
                                HttpRequest.newBuilder(URI.create(hub.url() + path))
                                        .method(method, HttpRequest.BodyPublishers.ofString(body))
                                        .build(),
                                BodyHandlers.ofString());
                return answer.statusCode() + " " + answer.body();
            }
        }
        """;

    @TempDir
    private Path directory;

    @Test
    @DisplayName(
            "a dialect of a jar on the class path is served, counted, refused where it is not served, and called by"
                    + " the client")
    void servedAndCalled() throws Exception {
        Path jar = SampleJar.of("../docs/dialects.md", "Plain", directory)
                .and("Program", PROGRAM, "dev.parley.hub", "dev.parley.client")
                .write(DialectProvider.class);
        var path = new ArrayList<URL>(List.of(jar.toUri().toURL()));
        String classPath = requireNonNull(System.getProperty("java.class.path"));
        for (String entry : classPath.split(File.pathSeparator, -1)) {
            path.add(Path.of(entry).toUri().toURL());
        }

        List<?> seen;
        Thread here = Thread.currentThread();
        ClassLoader before = here.getContextClassLoader();
        try (var loader = new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            here.setContextClassLoader(loader);
            seen = (List<?>) ((Callable<?>)
                            loader.loadClass("example.Program").getConstructor().newInstance())
                    .call();
        } finally {
            here.setContextClassLoader(before);
        }

        assertThat(seen.get(0)).isEqualTo("200 hello in plain");
        assertThat(seen.get(1)).isEqualTo("405 METHOD_NOT_ALLOWED");
        assertThat(seen.get(2).toString()).contains("dialect=\"plain\"");
        assertThat(seen.get(3)).isEqualTo("called in plain");
        assertThat(seen.get(4).toString()).startsWith("404 ").contains("not served at this address");
    }
}
