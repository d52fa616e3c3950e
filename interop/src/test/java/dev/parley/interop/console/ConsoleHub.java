package dev.parley.interop.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.AgentHandler;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.hub.Hub;
import dev.parley.hub.HubBuilder;
import dev.parley.protocol.AgentCard.Skill;
import dev.parley.protocol.Artifact;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** A hub with agents that do each thing a screen shows, when the test says so. */
final class ConsoleHub implements AutoCloseable {
    private static final String PICTURE =
            "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGNkaPjPwMDAxAAGAAtQAYMyvmTvAAAAAElFTkSuQmCC";

    final Hub hub;
    /** Key of the caller; null on a hub without authentication. */
    private @Nullable String caller;

    private final HttpClient http = HttpClient.newHttpClient();

    /** Each permit lets the agent that waits with a text go one step further. */
    private final Map<String, Semaphore> steps = new ConcurrentHashMap<>();

    ConsoleHub(Agent... more) {
        this(Hub.builder().inMemory().port(0), more);
    }

    ConsoleHub(HubBuilder builder, Agent... more) {
        this.hub = builder.drain(Duration.ZERO)
                .webhookAllow(List.of("127.0.0.1"))
                .agents(
                        Agent.named("scribe", "Writes summaries of minutes")
                                .version("2.1.0")
                                .provider("Office", "https://office.example.com")
                                .skill(new Skill(
                                        "summary",
                                        "Summary",
                                        "Sums up the minutes of a meeting",
                                        List.of("minutes", "text"),
                                        List.of("Sum up the minutes of Monday", "Sum up the budget"),
                                        List.of("text/plain", "application/json"),
                                        List.of("text/markdown", "text/csv"),
                                        List.of()))
                                .skill("translate", "Translates a summary", "languages")
                                .handle(this::write),
                        agent("booking", "Books seats", "seats", this::book),
                        agent("archive", "Opens the archive", "documents", this::open),
                        agent("importer", "Imports rows", "rows", this::load),
                        agent("worker", "Counts rows, slowly", "rows", this::count))
                .agents(more)
                .start();
        this.caller = hub.bootstrapKey().orElse(null);
    }

    private static Agent agent(String name, String description, String tag, AgentHandler handler) {
        return Agent.named(name, description)
                .skill(new Skill(
                        name + "-skill",
                        description,
                        description + " of any kind",
                        List.of(tag, "office"),
                        List.of("Begin with " + tag),
                        List.of(),
                        List.of(),
                        List.of()))
                .handle(handler);
    }

    /** Streams a text in two pieces; a text with "wait" lets the test decide when the second comes. */
    private void write(Request request, Reply reply) throws InterruptedException {
        reply.progress(20, "Reads the minutes");
        reply.artifact(Artifact.named("notes", "notes.txt", Part.text("First piece. ")), false, false);
        if (request.text().contains("wait")) {
            steps(request.text()).acquire();
        }
        reply.artifact(Artifact.named("notes", "notes.txt", Part.text("Second piece.")), true, true);
        reply.artifact(Artifact.named("summary", "Summary", text("""
            ## Decisions

            1. **Budget** of `12 000` is *approved*
            2. See [the minutes](https://office.example.com/minutes)

            | month | cost |
            |---|---:|
            | May | 1,200 |
            """, "text/markdown")));
        reply.artifact(
                Artifact.named("table", "costs.csv", text("month,cost\nMay,1200\n\"June, late\",1300\n", "text/csv")));
        reply.artifact(Artifact.named("data", "votes", Part.data(Map.of("votes", Map.of("yes", 7, "no", 2)))));
        reply.file("chart.png", "image/png", Base64.getDecoder().decode(PICTURE));
        reply.complete("The summary of " + request.parts().size() + " parts is ready.");
    }

    private static Part text(String text, String mediaType) {
        return new Part.Text(text, null, mediaType, Map.of());
    }

    private void book(Request request, Reply reply) {
        if (request.task().isEmpty()) {
            reply.askForInput(Message.agent(
                    Part.text("Window or aisle?"), Part.data(Map.of("options", List.of("window", "aisle")))));
        } else {
            reply.complete("Booked: " + request.text());
        }
    }

    private void open(Request request, Reply reply) {
        if (request.task().isEmpty()) {
            reply.askForCredentials("The archive needs its password");
        } else {
            reply.complete("The archive is open");
        }
    }

    private void load(Request request, Reply reply) {
        reply.working("Reads rows.csv");
        reply.progress(30, "3 of 9 rows are written");
        reply.fail("Disk full: 3 of 9 rows written");
    }

    private void count(Request request, Reply reply) throws InterruptedException {
        reply.progress(40, "40 rows counted");
        steps(request.text()).acquire();
        reply.progress(80, "80 rows counted");
        steps(request.text()).acquire();
        reply.progress(100, "100 rows counted");
        reply.complete("The rows are counted");
    }

    /** Lets the agent that was sent a text, and waits, take its next step. */
    void step(String text) {
        steps(text).release();
    }

    private Semaphore steps(String text) {
        return steps.computeIfAbsent(text, any -> new Semaphore(0));
    }

    String url() {
        return hub.url();
    }

    // ---- What other clients do

    /** Sends a text, waits for the end of its task or its question, and returns the id of the task. */
    String send(String agent, String text) {
        return send(agent, text, false);
    }

    /** Sends a text, and returns the id of its task as soon as it has one. */
    String begin(String agent, String text) {
        return send(agent, text, true);
    }

    private String send(String agent, String text, boolean atOnce) {
        return String.valueOf(sent(agent, List.of(Map.of("text", text)), atOnce).get("id"));
    }

    /** Sends parts, and returns the task. */
    Map<?, ?> sent(String agent, List<?> parts, boolean atOnce) {
        Map<?, ?> answer = post(
                "/agents/" + agent + "/message:send",
                Map.of(
                        "message",
                        Map.of("messageId", UUID.randomUUID().toString(), "role", "ROLE_USER", "parts", parts),
                        "configuration",
                        Map.of("returnImmediately", atOnce)));
        return (Map<?, ?>) requireNonNull(answer.get("task"), answer.toString());
    }

    Map<?, ?> post(String path, Object body) {
        return call("POST", path, body);
    }

    /** Makes a key as the operator. */
    String key(String group, String principal, String... scopes) {
        return String.valueOf(
                post("/admin/keys", Map.of("group", group, "principal", principal, "scopes", List.of(scopes)))
                        .get("key"));
    }

    /** Does something as the caller of a key. */
    void as(String key, Runnable work) {
        String before = caller;
        caller = key;
        work.run();
        caller = before;
    }

    /** Calls an operation that succeeds, as the operator if callers need a key. */
    Map<?, ?> call(String method, String path, @Nullable Object body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url() + path))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(Json.write(body)))
                .header("Content-Type", "application/json")
                .header("A2A-Version", "1.0");
        if (caller != null) {
            request.header("X-API-Key", caller);
        }
        try {
            HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
            assertThat(answer.statusCode())
                    .as(method + " " + path + ": " + answer.body())
                    .isEqualTo(200);
            return answer.body().isEmpty()
                    ? new LinkedHashMap<>()
                    : Json.read(answer.body().getBytes(UTF_8), Map.class);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new UncheckedIOException(new InterruptedIOException(path));
        }
    }

    @Override
    public void close() {
        steps.values().forEach(each -> each.release(10));
        hub.close();
    }
}
