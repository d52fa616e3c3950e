package dev.parley.activity;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.testkit.Eventually;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import dev.parley.trust.PolicyFile;
import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A hub whose agents and callers the tests of this package use. */
final class ActivityHub implements AutoCloseable {
    /** API keys of the callers. The group of ann, bob and hal is the same; hal has the scope hr. The group of gus is another one, and root is an operator. */
    static final String ANN = "key-of-ann-123456789";

    static final String BOB = "key-of-bob-123456789";
    static final String HAL = "key-of-hal-123456789";
    static final String GUS = "key-of-gus-123456789";
    static final String ROOT = "key-of-root-12345678";

    private static final String POLICY = """
            {"rules": [
               {"effect": "hide", "groups": ["guests"], "agents": ["ledger"]},
               {"effect": "deny", "agents": ["silent"], "operations": ["ListTasks"]}],
             "otherwise": "allow", "shared": ["board", "payroll"]}""";

    private final HttpClient http = HttpClient.newHttpClient();

    /** Opened to let tasks of the agents "slow" and "steps" end. */
    final CountDownLatch gate = new CountDownLatch(1);

    final Hub hub;
    private @Nullable String trace;

    private ActivityHub(HubBuilder builder) {
        this.hub = builder.port(0)
                .agents(
                        echo("echo"),
                        echo("board"),
                        echo("ledger"),
                        echo("silent"),
                        echo("payroll"),
                        Agent.named("broken", "Fails").handle((request, reply) -> reply.fail("Disk full")),
                        Agent.named("relay", "Has another agent echo").handle((request, reply) -> {
                            relay();
                            reply.complete("Relayed");
                        }),
                        Agent.named("ask", "Asks").handle((request, reply) -> reply.askForInput("Which one?")),
                        Agent.named("steps", "Takes many steps").resumable(true).handle((request, reply) -> {
                            for (int step = 0; step < 80; step++) {
                                if (step == 40) {
                                    gate.await();
                                }
                                reply.progress(step, "step " + step);
                            }
                            reply.complete("all done");
                        }),
                        Agent.named("slow", "Shows its progress")
                                .resumable(true)
                                .handle((request, reply) -> {
                                    reply.progress(40, "forty percent");
                                    gate.await();
                                    reply.complete("done");
                                }))
                .start();
    }

    private static Agent echo(String name) {
        return Agent.named(name, "Echoes").handle((request, reply) -> {
            reply.artifact("out", request.text());
            reply.complete("Echo of " + request.text());
        });
    }

    private void relay() {
        try (AgentClient echo = AgentClient.builder().apiKey(ANN).connect(hub.agentUrl("echo"))) {
            echo.send("Relayed");
        }
    }

    /** A hub without authentication. */
    static ActivityHub open(HubBuilder builder) {
        return new ActivityHub(builder);
    }

    /** A hub with the callers and the policy. */
    static ActivityHub guarded(HubBuilder builder, Path directory) {
        Path policy = directory.resolve("policy.json");
        try {
            Files.createDirectories(directory);
            Files.writeString(policy, POLICY);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        Callers callers = Callers.builder()
                .apiKey("ann", ANN)
                .group("ann", "sales")
                .apiKey("bob", BOB)
                .group("bob", "sales")
                .apiKey("hal", HAL)
                .group("hal", "sales")
                .scopes("hal", Set.of("hr"))
                .apiKey("gus", GUS)
                .group("gus", "guests")
                .apiKey("root", ROOT)
                .group("root", "ops")
                .scopes("root", Set.of("admin"))
                .build();
        return new ActivityHub(builder.callers(callers)
                .authentication(Authentication.of(Scheme.API_KEY))
                .authentication("payroll", Authentication.of(Scheme.API_KEY).withScopes(Set.of("hr")))
                .policy(PolicyFile.read(policy)));
    }

    /** Has the requests from now on belong to a trace. */
    ActivityHub traced(String id) {
        trace = id;
        return this;
    }

    record Answer(int status, String body) {
        Map<?, ?> json() {
            return Json.read(body.getBytes(UTF_8), Map.class);
        }
    }

    private HttpRequest.Builder request(String path, @Nullable String key) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create(hub.url() + path)).header("A2A-Version", "1.0");
        if (trace != null) {
            request.header("traceparent", "00-" + trace + "-00f067aa0ba902b7-01");
        }
        return key == null ? request : request.header("X-API-Key", key);
    }

    Answer get(String path, @Nullable String key) throws Exception {
        HttpResponse<String> answer = http.send(request(path, key).build(), BodyHandlers.ofString());
        return new Answer(answer.statusCode(), answer.body());
    }

    Map<?, ?> ok(String path, @Nullable String key) throws Exception {
        Answer answer = get(path, key);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        return answer.json();
    }

    Answer post(String path, String body, @Nullable String key) throws Exception {
        HttpResponse<String> answer = http.send(
                request(path, key)
                        .header("Content-Type", "application/json")
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
        return new Answer(answer.statusCode(), answer.body());
    }

    /** Lines of a stream. */
    Stream<String> stream(String path, @Nullable String key, @Nullable String lastEventId) throws Exception {
        HttpRequest.Builder request = request(path, key).header("Accept", "text/event-stream");
        if (lastEventId != null) {
            request.header("Last-Event-ID", lastEventId);
        }
        HttpResponse<Stream<String>> answer = http.send(request.build(), BodyHandlers.ofLines());
        assertThat(answer.statusCode()).isEqualTo(200);
        return answer.body();
    }

    /** Sends a text, and returns the id of its task. */
    String send(String agent, String text, @Nullable String key) throws Exception {
        return send(agent, text, key, false);
    }

    /** Sends a text, and returns the id of its task, at once if wanted. */
    String send(String agent, String text, @Nullable String key, boolean atOnce) throws Exception {
        Object body = Map.of(
                "message",
                Map.of(
                        "messageId",
                        UUID.randomUUID().toString(),
                        "role",
                        "ROLE_USER",
                        "parts",
                        List.of(Map.of("text", text))),
                "configuration",
                Map.of("returnImmediately", atOnce));
        Answer answer = post("/agents/" + agent + "/message:send", new String(Json.write(body), UTF_8), key);
        assertThat(answer.status()).as(answer.body()).isEqualTo(200);
        long answered = System.currentTimeMillis();
        Eventually.holds( // tasks of one millisecond are listed in the order of their ids
                "a later millisecond", () -> System.currentTimeMillis() > answered);
        return String.valueOf(((Map<?, ?>) requireNonNull(answer.json().get("task"))).get("id"));
    }

    @Override
    public void close() {
        gate.countDown();
        hub.close();
    }
}
