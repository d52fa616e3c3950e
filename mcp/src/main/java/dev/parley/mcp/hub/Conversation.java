package dev.parley.mcp.hub;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.hub.PendingQuestion.Effect;
import dev.parley.mcp.wire.Meta;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentEndpoint;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskArtifactUpdateEvent;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One call of a tool: a message to an agent, and the wait for its outcome. If the client leaves before it has a handle, the task is
 * canceled. For one thread, except for the cancellation.
 */
final class Conversation {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");

    private final OfferedAgents agents;
    private final String agent;
    private final boolean hasSchema;
    private final Exchange exchange;
    private final CallContext caller;
    private final Instant deadline;
    private final AtomicReference<@Nullable String> taskId = new AtomicReference<>();
    private final AtomicReference<@Nullable Feed<?>> reading = new AtomicReference<>();
    private volatile boolean isHanded;
    private double progress;

    /** @param hasSchema whether the agent has declared a schema for its answer */
    Conversation(OfferedAgents agents, String agent, boolean hasSchema, Exchange exchange, Duration budget) {
        this.agents = agents;
        this.agent = agent;
        this.hasSchema = hasSchema;
        this.exchange = exchange;
        this.caller = exchange.caller();
        this.deadline = Instant.now().plus(budget);
        exchange.onCancel(this::leave);
    }

    /** This for a client that has the handle already, and may leave without an end of the task. */
    Conversation handed() {
        isHanded = true;
        return this;
    }

    /**
     * Sends a message and waits for its outcome.
     *
     * @param question key of the question that it answers; empty for none
     */
    Outcome<CallResult> send(Message message, String question) throws InterruptedException {
        return switch (begin(message)) {
            case Message answer -> new Outcome.Complete<>(ToolResults.of(answer, hasSchema));
            case Task task -> await(task, question);
        };
    }

    /** Answers the question of a task, and waits for the outcome. */
    Outcome<CallResult> answer(Task task, PendingQuestion question, Map<String, InputResponse> answers)
            throws InterruptedException {
        return switch (question.effect(answers)) {
            case Effect.Send(var message) -> send(message, question.key());
            case Effect.Page() -> await(task, question.key()); // until the page has taken the credential
            case Effect.Open(var reason) -> open(task, reason);
            case Effect.Declined() -> {
                try {
                    yield new Outcome.Complete<>(ToolResults.of(
                            agent, agents.within(agent).call(CancelTask.of(task.id()), caller), hasSchema));
                } catch (A2AException refused) {
                    if (refused.error() != A2AError.TASK_NOT_CANCELABLE) {
                        throw refused;
                    }
                    yield open(task, "The question was declined.");
                }
            }
        };
    }

    private static Outcome<CallResult> open(Task task, String reason) {
        return new Outcome.Complete<>(ToolResults.pending(
                task, reason + " The question is open. Call task_reply with the taskId and the answer."));
    }

    /** Sends the message, on a thread of its own: a client that leaves in the meantime must not leave a task without an id. */
    private SendResult begin(Message message) {
        var result = new CompletableFuture<SendResult>();
        AgentEndpoint endpoint = agents.endpoint(agent);
        Thread.ofVirtual().name("mcp-send").start(() -> {
            try {
                result.complete(endpoint.call(Inputs.immediate(message), caller));
            } catch (RuntimeException | Error refused) {
                result.completeExceptionally(refused);
            }
        });
        try {
            return result.join();
        } catch (CompletionException refused) {
            throw refused.getCause() instanceof RuntimeException cause ? cause : refused;
        }
    }

    /** Waits for the outcome of a task. */
    Outcome<CallResult> await(Task begun, String question) throws InterruptedException {
        taskId.set(begun.id());
        if (exchange.isCanceled()) {
            leave();
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("the client has left");
        }
        Task task = begun;
        if (!isSettled(task.status(), question) && Instant.now().isBefore(deadline)) {
            try {
                follow(begun.id(), question);
            } catch (A2AException refused) {
                // It has ended in the meantime: the task shows its state.
                if (refused.error() != A2AError.UNSUPPORTED_OPERATION) {
                    throw refused;
                }
            }
            task = agents.within(agent).call(GetTask.of(begun.id()), caller);
        }
        isHanded = true;
        return outcome(task, question);
    }

    private static boolean isSettled(TaskStatus status, String question) {
        return status.state().isTerminal()
                || status.state().isInterrupted()
                        && !PendingQuestion.key(status).equals(question);
    }

    private void follow(String id, String question) throws InterruptedException {
        try (Feed<LoggedEvent> feed = agents.follow(agent, id, caller)) {
            reading.set(feed);
            if (exchange.isCanceled()) {
                return;
            }
            for (Duration left = left(); left.isPositive(); left = left()) {
                List<LoggedEvent> next = feed.next(left);
                if (next == null || next.stream().anyMatch(event -> isLast(event, question))) {
                    return;
                }
            }
        } finally {
            reading.set(null);
        }
    }

    private Duration left() {
        return Duration.between(Instant.now(), deadline);
    }

    private boolean isLast(LoggedEvent event, String question) {
        return switch (event.event()) {
            case Task task -> {
                Message said = task.status().message();
                if (said != null && task.state() == TaskState.WORKING) {
                    report(null, said.text()); // an update from before the subscription
                }
                yield isSettled(task.status(), question);
            }
            case TaskStatusUpdateEvent update -> {
                Message said = update.status().message();
                report(
                        update.metadata().get("progress"),
                        said == null ? update.status().state().word() : said.text());
                yield isSettled(update.status(), question);
            }
            case TaskArtifactUpdateEvent update -> {
                String name = update.artifact().name();
                report(null, "artifact " + (name == null ? update.artifact().artifactId() : name));
                yield false;
            }
            case Message message -> false;
        };
    }

    /** Reports per cent of the agent, or a small step where it gives none. */
    private void report(@Nullable Object percent, String message) {
        progress = percent instanceof Number number && number.doubleValue() > progress
                ? number.doubleValue()
                : progress + 0.001;
        exchange.progress(progress, 100.0, ForeignText.of(message, ForeignText.DESCRIPTION));
    }

    private Outcome<CallResult> outcome(Task task, String question) {
        if (task.state().isTerminal()) {
            return new Outcome.Complete<>(ToolResults.of(agent, task, hasSchema));
        }
        boolean follows = Trees.map(exchange.clientCapabilities(), "extensions").containsKey(Meta.TASKS);
        Optional<PendingQuestion> open = PendingQuestion.of(agent, task, agents);
        if (open.isPresent() && !open.get().key().equals(question)) {
            PendingQuestion asked = open.get();
            if (asked.suits(exchange.clientCapabilities())) {
                return new Outcome.Questions<>(
                        asked.requests(), new QuestionState(agent, task.id(), asked.key()).text());
            }
            return new Outcome.Complete<>(ToolResults.pending(
                    task,
                    asked.page()
                            .map(page -> "The task waits for a credential."
                                    + (page.isEmpty() ? "" : " The credential is handed over at " + page + ".")
                                    + " Call task_result afterwards.")
                            .orElse("Call task_reply with the taskId and the answer, or with the action decline.")));
        }
        return follows
                ? new Outcome.Begun<>(AgentTasks.begun(task))
                : new Outcome.Complete<>(ToolResults.pending(
                        task, "The task is not finished. Call task_result with the taskId to wait for its result."));
    }

    /** Cancels the task if the client has no handle for it. */
    private void leave() {
        String id = taskId.get();
        Feed<?> feed = reading.get();
        if (isHanded || id == null) {
            return;
        }
        isHanded = true;
        if (feed != null) {
            feed.close();
        }
        Thread.ofVirtual().name("mcp-cancel").start(() -> {
            try {
                agents.within(agent).call(CancelTask.of(id), caller);
            } catch (A2AException ended) {
                LOG.log(Level.DEBUG, "a task was not canceled when its client left", ended);
            }
        });
    }
}
