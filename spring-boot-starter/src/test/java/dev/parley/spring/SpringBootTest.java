package dev.parley.spring;

import static dev.parley.spring.Applications.get;
import static dev.parley.spring.Applications.run;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.HelloApplication;
import com.sun.net.httpserver.HttpServer;
import dev.parley.client.AgentClient;
import dev.parley.engine.Agent;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskEvent;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

/** Applications of Spring Boot with agents, called by Parley's own client. */
@Timeout(90)
final class SpringBootTest {
    private static final String KEY = "alices-key-of-32-characters-00001";

    @TempDir
    Path directory;

    /** Two agents, one of which works until the application stops. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class TwoAgents {
        final CountDownLatch interrupted = new CountDownLatch(1);

        @Bean
        Agent echo() {
            return Agent.named("echo", "Says it again").handle((request, reply) -> reply.complete(request.text()));
        }

        @Bean
        Agent endless() {
            return Agent.named("endless", "Works until it is stopped").handle((request, reply) -> {
                reply.artifact("first", request.text());
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException stopped) {
                    interrupted.countDown();
                    throw stopped;
                }
            });
        }
    }

    /** One agent, for callers with a key. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class WithCallers {
        @Bean
        Agent whoami() {
            return Agent.named("whoami", "Names its caller")
                    .handle((request, reply) -> reply.complete(request.context().caller()));
        }

        @Bean
        HubCustomizer callers() {
            return hub -> hub.callers(Callers.builder().apiKey("alice", KEY).build())
                    .authentication(Authentication.of(Scheme.API_KEY));
        }
    }

    /** Calls agents of other applications. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Caller {}

    @Test
    void theSampleIsThatOfTheDocumentAndItsAgentAnswersAtThePortOfTheApplication() throws Exception {
        String sample = Files.readString(Path.of("src/test/java/com/example/HelloApplication.java"));
        assertThat(sample.lines().count()).isLessThanOrEqualTo(20);
        String test = Files.readString(Path.of("src/test/java/com/example/HelloApplicationTest.java"));
        assertThat(Files.readString(Path.of("../docs/spring.md")))
                .contains("```java\n" + sample + "```", "```java\n" + test + "```");

        try (var application = run(HelloApplication.class, "--parley.in-memory=true")) {
            String agent = "http://localhost:" + application.getEnvironment().getProperty("local.server.port")
                    + "/a2a/agents/hello";
            assertThat(get(agent + "/.well-known/agent-card.json").body()).contains("\"" + agent + "\"");
            try (AgentClient client = AgentClient.connect(agent);
                    var stream = client.stream("Bob")) {
                assertThat(((Task) client.send("Ada")).text()).isEqualTo("Hello, Ada");
                TaskEvent last = stream.next();
                while (stream.hasNext()) {
                    last = stream.next();
                }
                assertThat(last.toString()).contains("COMPLETED");
            }
        }
    }

    @Test
    void severalAgentsKeepTheirTasksShowTheirHealthAndStopWithTheApplication() throws Exception {
        String[] properties = {
            "--parley.data=" + directory,
            "--parley.path=/agents-of/shop",
            "--server.servlet.context-path=/shop",
            "--management.endpoint.health.show-details=always",
            "--management.endpoints.web.exposure.include=health,prometheus"
        };
        String id;
        try (var application = run(TwoAgents.class, properties)) {
            HostedHub hub = application.getBean(HostedHub.class);
            String root = "http://localhost:" + application.getEnvironment().getProperty("local.server.port") + "/shop";
            assertThat(hub.url()).isEqualTo(root + "/agents-of/shop");
            try (AgentClient echo = AgentClient.connect(hub.agentUrl("echo"))) {
                id = ((Task) echo.send("kept")).id();
            }
            assertThat(get(root + "/actuator/health").body())
                    .contains("\"parley\":{")
                    .contains(hub.url());
            assertThat(get(root + "/actuator/prometheus").body())
                    .contains("parley_requests_total{")
                    .contains("jvm_memory_used_bytes{");
            try (AgentClient endless = AgentClient.connect(hub.agentUrl("endless"));
                    var stream = endless.stream("go")) {
                assertThat(stream.next()).isNotNull();

                application.close();

                assertThat(hub.isRunning()).isFalse();
                assertThat(hub.unready()).isPresent();
            }
        }
        try (var again = run(TwoAgents.class, properties)) {
            String url = again.getBean(HostedHub.class).agentUrl("echo");
            try (var caller = run(
                    Caller.class,
                    "--spring.main.web-application-type=none",
                    "--parley.enabled=false",
                    "--parley.clients.echo.url=" + url)) {
                AgentClient echo = caller.getBean("echo", AgentClient.class);

                assertThat(echo.task(id).text()).isEqualTo("kept");
            }
        }
    }

    @Test
    void aClientRepeatsALostMessageToAnAgentThatDeduplicates() throws Exception {
        var messages = new CopyOnWriteArrayList<String>();
        HttpServer agent = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String url = "http://127.0.0.1:" + agent.getAddress().getPort();
        String card = """
                {"name": "orders", "description": "Takes orders", "version": "1", "capabilities": {}, "skills": [],
                "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "supportedInterfaces":
                [{"url": "%s/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}""".formatted(url);
        agent.createContext("/", exchange -> {
            if (exchange.getRequestMethod().equals("POST")) {
                messages.add(new String(exchange.getRequestBody().readAllBytes(), UTF_8));
                if (messages.size() == 1) {
                    exchange.close(); // without an answer
                    return;
                }
            }
            String answer = messages.isEmpty()
                    ? card
                    : """
                    {"jsonrpc": "2.0", "id": %s, "result": {"task": {"id": "t1", "contextId": "c1", "status":
                    {"state": "TASK_STATE_COMPLETED"}}}}""".formatted(messages.getLast().replaceAll("(?s).*\"id\": ?(\\d+).*", "$1"));
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length());
            exchange.getResponseBody().write(answer.getBytes(UTF_8));
            exchange.close();
        });
        agent.start();
        try (var caller = run(
                Caller.class,
                "--spring.main.web-application-type=none",
                "--parley.enabled=false",
                "--parley.clients.orders.url=" + url,
                "--parley.clients.orders.deduplicates=true")) {
            var task = (Task) caller.getBean("orders", AgentClient.class).send("one of these");

            assertThat(task.state()).isEqualTo(TaskState.COMPLETED);
            assertThat(messages).hasSize(2);
        } finally {
            agent.stop(0);
        }
    }

    @Test
    void anApplicationWithoutServletsServesAgentsAtThePortOfTheHub() {
        try (var application = run(
                        WithCallers.class,
                        "--spring.main.web-application-type=none",
                        "--parley.port=0",
                        "--parley.in-memory=true");
                AgentClient client = AgentClient.builder()
                        .apiKey(KEY)
                        .connect(application.getBean(HostedHub.class).agentUrl("whoami"))) {

            assertThat(((Task) client.send("who?")).text()).isEqualTo("alice");
        }
    }

    @Test
    void propertiesAreReadInAllSpellingsAndABadOneIsRefusedByItsName() {
        var environment = new StandardEnvironment();
        environment
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "parley.maxBody", "2KB",
                                "parley.webhook-allow[0]", "one.example",
                                "parley.webhook-allow[1]", "two.example",
                                "parley.drain", "soon")));
        var settings = new PropertySettings(environment);

        assertThat(ConfigurationMetadata.settings()).contains("max-body", "webhook-allow", "drain");
        assertThat(ConfigurationMetadata.read(settings, "max-body")).isEqualTo(2048L);
        assertThat(ConfigurationMetadata.read(settings, "webhook-allow"))
                .isEqualTo(List.of("one.example", "two.example"));
        assertThatThrownBy(() -> ConfigurationMetadata.read(settings, "drain"))
                .hasMessage("parley.drain: soon (expected: a duration such as 500ms, 2s, 1m30s, 1h or 30d)");
    }

    @Test
    void theMetadataOfThePropertiesIsMadeFromTheSettings() throws Exception {
        Path file = Path.of("src/main/resources/META-INF/spring-configuration-metadata.json");
        String made = ConfigurationMetadata.json();
        if (Boolean.getBoolean("parley.docs.update")) {
            Files.writeString(file, made, UTF_8);
        }

        assertThat(Files.readString(file))
                .as("update with -Dparley.docs.update=true")
                .isEqualTo(made);
    }
}
