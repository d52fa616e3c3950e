package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.AgentClient;
import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.hub.Hub;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import dev.parley.trust.Authentication;
import dev.parley.trust.Authentication.Scheme;
import dev.parley.trust.Callers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Results of steps as parameters of others, and the limits of what is handed on. */
@Timeout(120)
@Tag("heavy")
final class ReferencesTest {
    private final ConcurrentLinkedQueue<Object> seen = new ConcurrentLinkedQueue<>();

    private static Agent maker() {
        return Agent.named("maker", "Makes a text, data and a file")
                .outputModes("text/plain", "application/json", "text/csv")
                .handle((request, reply) -> reply.complete(
                        Part.text("words"),
                        Part.data(Map.of("n", 7, "rows", List.of(Map.of("name", "x")), "none", Map.of())),
                        Part.file("t.csv", "text/csv", "a,b".getBytes(UTF_8))));
    }

    /** Answers its data, or its text, and the names of its files. */
    private Agent taker() {
        return Agent.named("taker", "Keeps what it gets")
                .inputModes("application/json", "text/plain", "text/csv")
                .handle((request, reply) -> {
                    Map<String, @Nullable Object> got = new LinkedHashMap<>();
                    request.parts().forEach(part -> {
                        switch (part) {
                            case Part.Data data -> got.put("data", data.data());
                            case Part.Text text -> got.put("text", text.text());
                            default -> got.put("file", part.filename());
                        }
                    });
                    seen.add(got);
                    reply.complete(Part.data(got));
                });
    }

    private static Agent doubling() {
        return Agent.named("doubling", "Says what it gets twice")
                .handle((request, reply) -> reply.complete(request.text() + request.text()));
    }

    private static Task run(Hub hub, String more, String... steps) {
        String json = "{" + more + "'workflow':{'steps':[" + String.join(",", steps) + "]}}";
        try (AgentClient one = AgentClient.connect(hub.url() + "/one")) {
            return (Task) one.send(
                    Message.user(Part.data(Json.read(json.replace('\'', '"').getBytes(UTF_8), Map.class))));
        }
    }

    private static String reason(Task run) {
        return run.status().message() == null ? "" : run.status().message().text();
    }

    private Hub hub() {
        return Hub.builder()
                .inMemory()
                .port(0)
                .agents(maker(), taker(), doubling())
                .start();
    }

    @ParameterizedTest
    @DisplayName("M14 a step with parameters gets exactly those; a reference keeps its type, and is a dependency")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "{'v':'${m.text}'}; {\"v\":\"words\"}",
                "{'v':'${m.data.n}'}; {\"v\":7}",
                "{'v':['${m.data.rows}', 1, null, true]}; {\"v\":[[{\"name\":\"x\"}],1,null,true]}",
                "{'v':'${m.data.rows[0].name}-${ m.data.n }-${m.data.none}'}; {\"v\":\"x-7-{}\"}",
                "{'v':'$${m.text} $ ${input.who} {}'}; {\"v\":\"${m.text} $ ann {}\"}",
                "{'v':'${input.deep.list.1}'}; {\"v\":2}",
                "{'${m.text}':1}; {\"${m.text}\":1}",
                "{}; {}"
            })
    void exactly(String parameters, String expected) {
        try (Hub hub = hub()) {
            Task run = run(
                    hub,
                    "'inputs':{'who':'ann','deep':{'list':[1,2]}},",
                    "{'id':'m','agent':'maker','task':'x'}",
                    "{'id':'t','agent':'taker','task':'x','depends':['m'],'parameters':" + parameters + "}");

            assertThat(run.state()).as(reason(run)).isEqualTo(TaskState.COMPLETED);
            Map<?, ?> got = (Map<?, ?>) seen.remove();
            assertThat(new String(Json.write(got.get("data")), UTF_8)).isEqualTo(expected);
            assertThat(got.containsKey("file")).isFalse();
        }
    }

    @Test
    @DisplayName("M14 files come by reference, as files and as data")
    void files() {
        try (Hub hub = hub()) {
            Task run = run(
                    hub,
                    "",
                    "{'id':'t','agent':'taker','task':'x','parameters':{'files':'${m.files}'}}",
                    "{'id':'m','agent':'maker','task':'x'}");

            assertThat(run.state()).as(reason(run)).isEqualTo(TaskState.COMPLETED);
            Map<?, ?> got = (Map<?, ?>) seen.remove();
            assertThat(got.get("file")).isEqualTo("t.csv");
            assertThat(String.valueOf(got.get("data"))).contains("filename=t.csv", "raw=YSxi");
        }
    }

    @ParameterizedTest
    @DisplayName("M14 a value that is missing fails the step, with its place")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "maker; ${s.data.q}; workflow.steps[1].parameters.deep[0].v: \"${s.data.q}\": missing",
                "maker; ${s.data.rows.3}; missing (expected: a value with \"3\")",
                "doubling; ${s.data}; the result of the step has no data",
                "doubling; say ${s.files}; the result of the step has no files"
            })
    void missing(String agent, String value, String expected) {
        try (Hub hub = hub()) {
            Task run = run(
                    hub,
                    "",
                    "{'id':'s','agent':'" + agent + "','task':'x'}",
                    "{'id':'t','agent':'taker','task':'x','parameters':{'deep':[{'v':'" + value + "'}]}}");

            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).startsWith("t: ").contains(expected);
            assertThat(seen).isEmpty();
        }
    }

    @ParameterizedTest
    @DisplayName("M14 a reference to nothing is refused before the run, with its place")
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "'v':'${q.text}'; ${STEP.text}",
                "'v':'${m}'; ${STEP.text}",
                "'v':'${m.words}'; ${STEP.text}",
                "'v':'${HOME'; \"}\"; $${",
                "'v':'${input.who}'; missing",
                "'v':'${t.text}'; no cycle",
            })
    void refused(String member, String expected) {
        try (Hub hub = hub()) {
            Task run = run(
                    hub,
                    "",
                    "{'id':'m','agent':'maker','task':'x'}",
                    "{'id':'t','agent':'taker','task':'x','parameters':{" + member + "}}");

            assertThat(run.state()).isEqualTo(TaskState.REJECTED);
            assertThat(reason(run)).contains("workflow.steps[1].", expected);
            assertThat(reason(run(hub, "", "{'id':'input','agent':'maker','task':'x'}")))
                    .contains("workflow.steps[0].id");
        }
    }

    @Test
    @DisplayName("T2 results that double from step to step end at a limit, by dependencies and by references")
    void limits() {
        try (Hub hub = hub()) {
            String[] steps = IntStream.range(0, 40)
                    .mapToObj(i -> "{'id':'s" + i + "','agent':'doubling','task':'x'"
                            + (i == 0
                                    ? ",'parameters':{'text':'0123456789'}}"
                                    : ",'depends':["
                                            + IntStream.range(0, i)
                                                    .mapToObj(j -> "'s" + j + "'")
                                                    .collect(Collectors.joining(","))
                                            + "]}"))
                    .toArray(String[]::new);
            Task run = run(hub, "", steps);
            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).contains("more than 1048576 bytes");

            String[] references = IntStream.range(0, 40)
                    .mapToObj(i -> "{'id':'s" + i + "','agent':'doubling','task':'x','parameters':{'text':'"
                            + (i == 0 ? "0123456789" : ("${s" + (i - 1) + ".text}").repeat(30)) + "'}}")
                    .toArray(String[]::new);
            run = run(hub, "", references);
            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).contains("more than 1048576 bytes");

            String[] fan = IntStream.range(0, 40)
                    .mapToObj(i -> i == 0
                            ? "{'id':'s','agent':'doubling','task':'x','parameters':{'text':'" + "x".repeat(300_000)
                                    + "'}}"
                            : "{'id':'f" + i + "','agent':'taker','task':'x','depends':['s']}")
                    .toArray(String[]::new);
            run = run(hub, "", fan);
            assertThat(run.state()).isEqualTo(TaskState.FAILED);
            assertThat(reason(run)).contains("steps of the run got 16777216 bytes");
        }
    }

    @Test
    @DisplayName("M1 a step needs the scopes of its skill only, also for the answer to a question")
    void scopes() {
        AgentCard.Skill ask = skill("ask").withScopes("a");
        AgentCard.Skill secret = skill("secret").withScopes("b");
        Agent guarded = Agent.named("guarded", "Has skills with scopes")
                .skill(ask)
                .skill(secret)
                .handle((request, reply) -> {
                    if (request.isFollowUp()) {
                        reply.complete("told " + request.text());
                    } else {
                        reply.askForInput("Which?");
                    }
                });
        Callers callers = Callers.builder()
                .apiKey("ann", "key-of-ann-12345")
                .scopes("ann", List.of("a"))
                .build();
        try (Hub hub = Hub.builder()
                        .inMemory()
                        .port(0)
                        .callers(callers)
                        .authentication(Authentication.of(Scheme.API_KEY))
                        .agents(guarded)
                        .start();
                AgentClient one =
                        AgentClient.builder().apiKey("key-of-ann-12345").connect(hub.url() + "/one")) {
            Task asks = (Task) one.send(document("ask"));
            assertThat(asks.state()).as(reason(asks)).isEqualTo(TaskState.INPUT_REQUIRED);
            Task told = (Task) one.send(Message.user(Part.text("red")).in(asks.contextId(), asks.id()));
            assertThat(told.state()).as(reason(told)).isEqualTo(TaskState.COMPLETED);

            Task refused = (Task) one.send(document("secret"));
            assertThat(reason(refused)).contains("scopes", "b");
        }
    }

    private static Message document(String task) {
        return Message.user(Part.data(
                Map.of("workflow", Map.of("steps", List.of(Map.of("agent", "guarded", "task", task))))));
    }

    private static AgentCard.Skill skill(String id) {
        return new AgentCard.Skill(id, id, "", List.of(), List.of(), List.of(), List.of(), List.of());
    }
}
