package dev.parley.mesh.workflow;

import dev.parley.engine.Agent;
import dev.parley.engine.Reply;
import dev.parley.engine.Request;
import dev.parley.extension.HubAgents;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.InvalidField;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.extension.ExtensionView;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/** The agent {@code one}: each of its tasks is a run of a workflow, whose document is the first message of the task. */
final class WorkflowAgent {
    /** Runs wait most of their time, and those of other runs wait for them: so none is to wait for a slot. */
    private static final int MOST_RUNS = 50_000;

    private static final ExtensionView<AgentEndpoint> OPERATIONS =
            new ExtensionView<>(WorkflowProtocol.PROTOCOL.uri(), ExtensionView.Use::operations);

    private final HubAgents hub;
    private final ForeignAgents foreign;
    private final Votes votes;
    private final InstantSource clock;
    private final CountDownLatch started = new CountDownLatch(1);

    WorkflowAgent(HubAgents hub, ForeignAgents foreign, Votes votes, InstantSource clock) {
        this.hub = hub;
        this.foreign = foreign;
        this.votes = votes;
        this.clock = clock;
    }

    Agent agent() {
        return Agent.named(WorkflowProtocol.AGENT, "Runs workflows of agents, and votes")
                .skill("workflow", "Runs the steps of a coordination document", "coordination", "workflow")
                .skill("vote", "Counts the ballots of named voters", "vote", "consensus")
                .inputModes("application/json", "text/plain")
                .outputModes("application/json", "text/plain")
                .uses(OPERATIONS)
                .resumable(true)
                .timeLimit(Duration.ofDays(365))
                .concurrency(MOST_RUNS)
                .queueLimit(0)
                .handle(this::handle);
    }

    /** Lets runs begin: the agents of their steps are hosted. */
    void start() {
        started.countDown();
    }

    private void handle(Request request, Reply reply) throws InterruptedException {
        started.await(); // of a run that is taken up; a hub that does not start interrupts it
        WorkflowDocument document;
        Workflow workflow;
        var agents = new StepAgents(hub, foreign, request.context());
        try {
            Map<String, @Nullable Object> members = WorkflowDocument.members(first(request));
            if (Votes.isVote(members)) {
                votes.turn(request, reply, members);
                return;
            }
            // A task that has waited for its turn, or was taken up before, may exist.
            boolean begins = !request.isFollowUp()
                    && request.task()
                            .filter(task -> task.metadata().containsKey(RunTurn.PROGRESS))
                            .isEmpty();
            document = begins ? WorkflowDocument.strict(members) : WorkflowDocument.of(members);
            workflow = document.checked();
            if (begins) {
                if (WorkflowDocument.isEnvelope(members)) {
                    throw InvalidField.of(
                            "message", "an envelope (expected: a document; envelopes go to /one/workflows)");
                }
                agents.check(document.workflow().steps(), document.participants());
            }
        } catch (InvalidField | A2AException invalid) {
            reply.reject("Invalid workflow: " + invalid.getMessage());
            return;
        }
        var turn = new RunTurn(request, reply, workflow, agents, clock);
        if (request.message().metadata().get(WorkflowRun.RESUMES) instanceof String ended) {
            try {
                turn.keep(hub.within(WorkflowProtocol.AGENT)
                        .call(GetTask.of(ended), agents.toward(WorkflowProtocol.AGENT)));
            } catch (A2AException unknown) {
                reply.reject("The run " + ended + " cannot be resumed: " + unknown.getMessage());
                return;
            }
        }
        turn.go();
    }

    /** Checks a document, and that the hub has its agents. */
    void check(Map<String, @Nullable Object> document, StepAgents agents) {
        WorkflowDocument read = WorkflowDocument.strict(document);
        var unused = read.checked();
        agents.check(read.workflow().steps(), read.participants());
    }

    private static Message first(Request request) {
        return request.task()
                .map(Task::history)
                .filter(history -> !history.isEmpty())
                .map(history -> history.getFirst())
                .orElse(request.message());
    }
}
