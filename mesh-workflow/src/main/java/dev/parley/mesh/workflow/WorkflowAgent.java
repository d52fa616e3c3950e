package dev.parley.mesh.workflow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.parley.dialect.Json;
import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.extension.HubAgents;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionView;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The agent {@code one}: each of its tasks is a run of a workflow, whose document is the first message of the task. */
final class WorkflowAgent {
    static final String NAME = "one";

    /** Runs wait most of their time, and those of other runs wait for them: so none is to wait for a slot. */
    private static final int MOST_RUNS = 50_000;

    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(WorkflowProtocol.PROTOCOL.uri(), ExtensionView.Use::operations);

    private final HubAgents hub;
    private final InstantSource clock;

    WorkflowAgent(HubAgents hub, InstantSource clock) {
        this.hub = hub;
        this.clock = clock;
    }

    Agent agent() {
        return Agent.named(NAME, "Runs workflows of agents")
                .skill("workflow", "Runs the steps of a coordination document", "coordination", "workflow")
                .inputModes("application/json", "text/plain")
                .outputModes("application/json", "text/plain")
                .uses(OPERATIONS)
                .resumable(true)
                .timeLimit(Duration.ofDays(365))
                .concurrency(MOST_RUNS)
                .queueLimit(0)
                .handle(this::handle);
    }

    private void handle(Request request, Reply reply) throws InterruptedException {
        WorkflowDocument document;
        Workflow workflow;
        try {
            document = document(first(request));
            workflow = document.checked();
            if (request.task().isEmpty()) {
                new StepAgents(hub, request.context()).check(document.workflow().steps());
            }
        } catch (InvalidField | A2AException invalid) {
            reply.reject("Invalid workflow: " + invalid.getMessage());
            return;
        }
        new RunTurn(request, reply, workflow, hub, clock).go();
    }

    /** Checks a document, and that the hub has its agents. */
    void check(Map<String, @Nullable Object> document, StepAgents agents) {
        WorkflowDocument read = WorkflowDocument.of(document);
        var unused = read.checked();
        agents.check(read.workflow().steps());
    }

    private static Message first(Request request) {
        return request.task()
                .map(Task::history)
                .filter(history -> !history.isEmpty())
                .map(history -> history.getFirst())
                .orElse(request.message());
    }

    /** The document of a run. */
    static WorkflowDocument document(Message message) {
        for (Part part : message.parts()) {
            if (part instanceof Part.Data data && data.data() instanceof Map<?, ?> members) {
                return WorkflowDocument.of(members(members));
            }
        }
        try {
            return WorkflowDocument.of(members(Json.read(message.text().getBytes(UTF_8), Map.class)));
        } catch (A2AException noJson) {
            throw InvalidField.of("message.parts", "no document (expected: data or JSON text of a workflow)");
        }
    }

    private static Map<String, @Nullable Object> members(Map<?, ?> json) {
        var members = new LinkedHashMap<String, @Nullable Object>();
        json.forEach((name, value) -> members.put(String.valueOf(requireNonNull(name)), value));
        return members;
    }
}
