package dev.parley.hub;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.engine.Agent;
import dev.parley.hub.Outsider.Shown;
import dev.parley.knowledge.api.KnowledgeOperation;
import dev.parley.knowledge.api.SharedKnowledge;
import dev.parley.protocol.Operation;
import dev.parley.trust.PolicyFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Rules of a policy match operations by the names of the specification, and metrics show the same names. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class PolicyOperationsTest {
    private static final String[] VERSION = {"A2A-Version", "1.0"};
    private static final List<String> STREAMS =
            List.of("SendStreamingMessage", "SubscribeToTask", "knowledge/subscribe");
    private static final String FREE = "free";
    private static final String OWN = "books/find";

    private static final String MESSAGE =
            "{'message':{'messageId':'NEW','role':'ROLE_USER','parts':[{'text':'wait'}]}}";
    private static final Map<String, String> PARAMS = Map.ofEntries(
            Map.entry("SendMessage", MESSAGE),
            Map.entry("SendStreamingMessage", MESSAGE),
            Map.entry("GetTask", "{'id':'TASK'}"),
            Map.entry("ListTasks", "{}"),
            Map.entry("CancelTask", "{'id':'TASK'}"),
            Map.entry("SubscribeToTask", "{'id':'TASK'}"),
            Map.entry("CreateTaskPushNotificationConfig", "{'taskId':'TASK','id':'w','url':'http://127.0.0.1:9/w'}"),
            Map.entry("GetTaskPushNotificationConfig", "{'taskId':'TASK','id':'kept'}"),
            Map.entry("ListTaskPushNotificationConfigs", "{'taskId':'TASK'}"),
            Map.entry("DeleteTaskPushNotificationConfig", "{'taskId':'TASK','id':'kept'}"),
            Map.entry("GetExtendedAgentCard", "{}"),
            Map.entry(
                    "knowledge/query", "{'query':'{ statements { nodes { predicate } } }','queryLanguage':'graphql'}"),
            Map.entry("knowledge/update", "{'mutations':[]}"),
            Map.entry("knowledge/subscribe", "{'subscriptionQuery':'subscription { knowledgeChanged { changeId } }'}"),
            Map.entry(OWN, "{}"));

    @TempDir
    private static Path directory;

    private Hub hub;
    private Outsider outsider;

    static List<String> operations() {
        return Stream.of(Operation.NAMES, KnowledgeOperation.NAMES, List.of(OWN))
                .flatMap(List::stream)
                .toList();
    }

    private static String agentWithout(String operation) {
        return "without-" + operations().indexOf(operation);
    }

    private static Agent agent(String name) {
        return Agent.named(name, "Asks back")
                .uses(SharedKnowledge.VIEW)
                .method(OWN, (params, caller) -> Map.of("books", List.of()))
                .handle((request, reply) -> reply.askForInput("What else?"));
    }

    private static PolicyFile policy(String text) throws Exception {
        Path file = Files.createTempFile(directory, "policy", ".json");
        Files.writeString(file, text.replace('\'', '"'));
        return PolicyFile.read(file);
    }

    @BeforeAll
    void start() throws Exception {
        var rules = new ArrayList<String>();
        var agents = new ArrayList<Agent>(List.of(agent(FREE)));
        for (String operation : operations()) {
            agents.add(agent(agentWithout(operation)));
            rules.add("{'effect':'deny','agents':['" + agentWithout(operation) + "'],'operations':['" + operation
                    + "']}");
        }
        hub = Hub.builder()
                .inMemory()
                .port(0)
                .webhookAllow(List.of("127.0.0.1"))
                .policy(policy("{'rules':[" + String.join(",", rules) + "]}"))
                .agents(agents.toArray(Agent[]::new))
                .start();
        outsider = new Outsider(hub.url());
    }

    @AfterAll
    void stop() {
        hub.close();
    }

    /** Begins a task of an agent, with the webhook {@code kept}, and returns the parameters of an operation about it. */
    private String about(String agent, String operation) throws Exception {
        String path = "/agents/" + agent;
        String task;
        String message = MESSAGE.replace("NEW", "begin-" + operation);
        if (operation.equals("SendMessage")) {
            try (Outsider.Frames frames = outsider.stream(path, "SendStreamingMessage", message, VERSION)) {
                task = requireNonNull(frames.next()).at("result", "task", "id").text();
            }
        } else {
            task = outsider.result(path, "SendMessage", message, VERSION)
                    .at("task", "id")
                    .text();
        }
        if (!operation.startsWith("Create")) {
            String webhook = "{'taskId':'" + task + "','id':'kept','url':'http://127.0.0.1:9/kept'}";
            outsider.result(path, "CreateTaskPushNotificationConfig", webhook, VERSION);
        }
        return requireNonNull(PARAMS.get(operation)).replace("TASK", task).replace("NEW", operation);
    }

    @ParameterizedTest
    @MethodSource("operations")
    @DisplayName("ONE27: a rule denies an operation by its name in the specification")
    void aRuleMatchesTheNameOfTheSpecification(String operation) throws Exception {
        String agent = agentWithout(operation);

        Shown answer = outsider.rpc("/agents/" + agent, operation, about(agent, operation), VERSION);

        // What a caller may not do to a task is answered as if there were none.
        assertThat(answer.toString()).containsAnyOf("The policy of this hub does not allow it", "code=-32001");
        if (operation.equals("knowledge/update")) {
            assertThat(answer.toString())
                    .as("D3")
                    .contains("-32011", "forbidden")
                    .doesNotContain("-32603");
        }
        assertThat(outsider.get("/metrics").body().lines())
                .anyMatch(line -> line.startsWith("parley_errors_total{agent=\"" + agent + "\"")
                        && line.contains("operation=\"" + operation + "\""));
    }

    @ParameterizedTest
    @MethodSource("operations")
    void anOperationThatNoRuleNamesIsAllowed(String operation) throws Exception {
        String params = about(FREE, operation);

        if (STREAMS.contains(operation)) {
            try (Outsider.Frames frames = outsider.stream("/agents/" + FREE, operation, params, VERSION)) {
                assertThat(frames.header("Content-Type")).startsWith("text/event-stream");
            }
        } else if (operation.equals("GetExtendedAgentCard")) {
            assertThat(outsider.rpc("/agents/" + FREE, operation, params, VERSION)
                            .toString())
                    .contains("This agent has no extended card");
        } else {
            outsider.result("/agents/" + FREE, operation, params, VERSION);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "CreatePushConfig, CreateTaskPushNotificationConfig",
        "SendMesage, SendMessage",
        "knowledge/querry, knowledge/query",
        "Canel*, CancelTask",
        "books/fnd, books/find"
    })
    void aPolicyWithAnUnknownOperationRefusesTheStart(String misspelt, String nearest) throws Exception {
        HubBuilder builder = Hub.builder()
                .inMemory()
                .port(0)
                .agents(agent(FREE))
                .policy(policy("{'rules':[{'effect':'deny','operations':['GetTask','" + misspelt + "']}]}"));

        assertThatThrownBy(builder::start)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + misspelt + "\": unknown operation")
                .hasMessageContaining(nearest);
    }
}
