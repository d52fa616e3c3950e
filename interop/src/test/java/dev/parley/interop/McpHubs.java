package dev.parley.interop;

import dev.parley.agents.DemoAgents;
import dev.parley.cli.Main;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.trust.Authentication;
import dev.parley.trust.Callers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The hubs that clients of MCP call: one without authentication, and one that requires a bearer token and answers calls of
 * long tasks after a second.
 */
final class McpHubs implements AutoCloseable {
    private static final String TOKEN = "token-of-a-test-that-is-long-enough";

    private final Map<String, CountDownLatch> interrupted = new ConcurrentHashMap<>();
    private final Hub open;
    private final Hub secured;

    McpHubs() {
        this.open = hub().agents(
                        booking(),
                        failing(),
                        files(),
                        Agent.named("waiter", "Waits")
                                .skill("wait", "Waits until it is interrupted")
                                .skill("confirm", "Tells whether a wait was interrupted")
                                .handle(waiter()),
                        Agent.named("opener", "Opens agents")
                                .skill("open", "Hosts an agent")
                                .handle((request, reply) -> {
                                    open().host(Agent.named(request.text(), "Works")
                                            .skill("work", "Works")
                                            .handle((inner, answer) -> answer.complete("worked")));
                                    reply.complete("open");
                                }))
                .start();
        this.secured = hub().set("mcp-wait", "1s")
                .authentication(Authentication.named(List.of("bearer")))
                .callers(Callers.builder().bearer("client", TOKEN).build())
                .start();
    }

    private Hub open() {
        return open;
    }

    private static HubBuilder hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .drain(Duration.ZERO)
                .agents(DemoAgents.all().toArray(Agent[]::new));
    }

    /** Arguments of a client: the URL of the first hub, that of the second, its token, and a command that serves the first one over stdio. */
    List<String> arguments() {
        return List.of(
                open.url(),
                secured.url(),
                TOKEN,
                new String(Json.write(program("mcp", "serve", "-a", open.url())), StandardCharsets.UTF_8));
    }

    /** Command that starts the command line as a process of its own. */
    static List<String> program(String... arguments) {
        return Stream.concat(
                        Stream.of(
                                Path.of(System.getProperty("java.home"), "bin", "java")
                                        .toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Main.class.getName()),
                        Stream.of(arguments))
                .toList();
    }

    /** Asks by a form. */
    private static Agent booking() {
        Map<String, Object> input = Map.of("type", "object", "properties", Map.of("guests", Map.of("type", "integer")));
        Map<String, Object> form = Map.of(
                "type",
                "object",
                "properties",
                Map.of(
                        "table", Map.of("type", "string", "enum", List.of("window", "corner")),
                        "quiet", Map.of("type", "boolean")),
                "required",
                List.of("table"));
        return Agent.named("booking", "Books tables")
                .inputModes("application/json", "text/plain")
                .skill(new Skill(
                        "order",
                        "Order a table",
                        "Orders a table",
                        List.of("test"),
                        List.of(),
                        List.of(),
                        List.of(),
                        List.of(),
                        Map.of("urn:parley:mcp:tool:v1", Map.of("inputSchema", input))))
                .handle((request, reply) -> {
                    Object data = request.message().parts().getFirst() instanceof Part.Data part ? part.data() : null;
                    if (request.task().isEmpty()) {
                        reply.askForInput(Message.agent(Part.text("Which table?"), Part.data(form)));
                    } else if (data instanceof Map<?, ?> answer) {
                        Part first = request.history().getFirst().parts().getFirst();
                        Object guests = first instanceof Part.Data part && part.data() instanceof Map<?, ?> order
                                ? order.get("guests")
                                : null;
                        reply.complete("%s for %s%s"
                                .formatted(
                                        answer.get("table"),
                                        guests,
                                        Boolean.TRUE.equals(answer.get("quiet")) ? ", quiet" : ""));
                    } else {
                        reply.reject("no table: " + request.text());
                    }
                });
    }

    private static Agent failing() {
        return Agent.named("failing", "Fails").skill("fail", "Fails").handle((request, reply) -> reply.fail("no luck"));
    }

    private static Agent files() {
        return Agent.named("files", "Makes files")
                .skill("make", "Makes a picture and a large file")
                .handle((request, reply) -> {
                    reply.artifact(Artifact.of(
                            "picture", Part.file("a.png", "image/png", new byte[] {(byte) 0x89, 'P', 'N', 'G'})));
                    reply.artifact(Artifact.named(
                            "large", "Large file", Part.file("b.bin", "application/x", new byte[100_000])));
                    reply.complete();
                });
    }

    private AgentHandler waiter() {
        return (request, reply) -> {
            CountDownLatch latch = interrupted.computeIfAbsent(request.text(), text -> new CountDownLatch(1));
            if ("confirm".equals(request.message().metadata().get("skillId"))) {
                reply.complete(latch.await(20, TimeUnit.SECONDS) ? "interrupted" : "not interrupted");
                return;
            }
            reply.progress(1, "begun");
            try {
                new CountDownLatch(1).await(60, TimeUnit.SECONDS);
            } catch (InterruptedException stopped) {
                latch.countDown();
                throw stopped;
            }
            reply.complete("waited");
        };
    }

    @Override
    public void close() {
        open.close();
        secured.close();
    }
}
