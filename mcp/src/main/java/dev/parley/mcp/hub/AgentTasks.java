package dev.parley.mcp.hub;

import static java.util.Objects.requireNonNullElse;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.InputRequest;
import dev.parley.mcp.InputResponse;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpTask;
import dev.parley.mcp.McpTasks;
import dev.parley.mcp.hub.PendingQuestion.Effect;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Operation.GetTask;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskStatus;
import dev.parley.protocol.TaskStatusUpdateEvent;
import dev.parley.protocol.support.Ids;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Tasks of agents as tasks of MCP, by the same ids. The agents check whose they are. */
final class AgentTasks implements McpTasks {
    private static final System.Logger LOG = System.getLogger("dev.parley.mcp");
    private static final long POLL_MILLIS = 1_000;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final OfferedAgents agents;

    AgentTasks(OfferedAgents agents) {
        this.agents = agents;
    }

    /** The agent of a task. */
    String agent(String taskId, CallContext caller) {
        return agents.agentOf(taskId, caller).orElseThrow(() -> McpException.notFound("task", taskId));
    }

    /** The task, by a call that counts. */
    Task task(String agent, String taskId, CallContext caller) {
        try {
            return agents.endpoint(agent).call(GetTask.of(taskId), caller);
        } catch (A2AException refused) {
            throw missing(refused, taskId);
        }
    }

    private static RuntimeException missing(A2AException refused, String taskId) {
        return refused.error() == A2AError.TASK_NOT_FOUND || refused.error() == A2AError.METHOD_NOT_FOUND
                ? McpException.notFound("task", taskId)
                : McpErrors.error(refused);
    }

    /** Whether the agent has declared a schema for the answer of a task. */
    boolean hasSchema(String agent, Task task, CallContext caller) {
        AgentCard card = agents.cards(caller).get(agent);
        if (card == null || task.history().isEmpty()) {
            return false;
        }
        Object skill = task.history().getFirst().metadata().get("skillId");
        return card.skills().stream()
                .filter(one -> one.id().equals(skill))
                .findFirst()
                .map(one ->
                        !new SkillTool("", agent, card, one).declaredOutput().isEmpty())
                .orElse(false);
    }

    @Override
    public McpTask get(String taskId, CallContext caller) {
        String agent = agent(taskId, caller);
        return shown(agent, task(agent, taskId, caller), caller);
    }

    private McpTask shown(String agent, Task task, CallContext caller) {
        CallResult result = status(task) == McpTask.Status.COMPLETED
                ? ToolResults.of(agent, task, hasSchema(agent, task, caller))
                : null;
        return shown(
                task,
                result,
                PendingQuestion.of(agent, task, agents)
                        .map(PendingQuestion::requests)
                        .orElse(Map.of()));
    }

    /** A task without its result and questions. */
    static McpTask begun(Task task) {
        return shown(task, null, Map.of());
    }

    private static McpTask shown(Task task, @Nullable CallResult result, Map<String, InputRequest> requests) {
        Instant changed = requireNonNullElse(task.status().timestamp(), Instant.EPOCH);
        return new McpTask(
                task.id(),
                status(task),
                ForeignText.of(ToolResults.said(task), ForeignText.DESCRIPTION),
                requireNonNullElse(Ids.madeAt(task.id()), changed).toString(),
                changed.toString(),
                POLL_MILLIS,
                null, // until the retention of the hub
                result,
                null,
                requests);
    }

    /** A failed task is the completed call of a tool that failed. */
    private static McpTask.Status status(Task task) {
        return switch (task.state()) {
            case COMPLETED, FAILED, REJECTED -> McpTask.Status.COMPLETED;
            case CANCELED -> McpTask.Status.CANCELLED;
            case INPUT_REQUIRED, AUTH_REQUIRED -> McpTask.Status.INPUT_REQUIRED;
            case SUBMITTED, WORKING, UNSPECIFIED -> McpTask.Status.WORKING;
        };
    }

    @Override
    public void update(String taskId, Map<String, InputResponse> answers, CallContext caller) {
        String agent = agent(taskId, caller);
        Task task = task(agent, taskId, caller);
        Optional<PendingQuestion> question = PendingQuestion.of(agent, task, agents);
        if (question.isEmpty()) {
            return;
        }
        Map<String, InputResponse> own = question.get().own(answers);
        if (own.isEmpty()) {
            return;
        }
        try {
            switch (question.get().effect(own)) {
                case Effect.Send(var message) -> agents.within(agent).call(Inputs.immediate(message), caller);
                case Effect.Declined() -> cancel(taskId, caller);
                case Effect.Page page -> {} // consent says nothing about the credential
                case Effect.Open open -> {}
            }
        } catch (A2AException refused) {
            throw missing(refused, taskId);
        }
    }

    @Override
    public void cancel(String taskId, CallContext caller) {
        try {
            agents.endpoint(agent(taskId, caller)).call(CancelTask.of(taskId), caller);
        } catch (A2AException refused) {
            if (refused.error() != A2AError.TASK_NOT_CANCELABLE) {
                throw missing(refused, taskId);
            }
        }
    }

    private static boolean isNews(LoggedEvent event, TaskStatus before) {
        return event.event() instanceof TaskStatusUpdateEvent
                || event.event() instanceof Task task && !task.status().equals(before);
    }

    @Override
    public AutoCloseable onChange(String taskId, CallContext caller, Consumer<McpTask> listener) {
        String agent = agent(taskId, caller);
        Task task = task(agent, taskId, caller);
        if (task.state().isTerminal()) {
            return () -> {};
        }
        try {
            Feed<LoggedEvent> feed = agents.follow(agent, taskId, caller);
            Thread.ofVirtual().name("mcp-task").start(() -> follow(feed, agent, task, caller, listener));
            return feed;
        } catch (A2AException refused) {
            if (refused.error() == A2AError.UNSUPPORTED_OPERATION) {
                return () -> {}; // it has ended in the meantime
            }
            throw missing(refused, taskId);
        }
    }

    private void follow(
            Feed<LoggedEvent> feed, String agent, Task begun, CallContext caller, Consumer<McpTask> listener) {
        Task shown = begun;
        try (feed) {
            for (List<LoggedEvent> events = feed.next(PATIENCE); events != null; events = feed.next(PATIENCE)) {
                TaskStatus before = shown.status();
                if (events.stream().anyMatch(event -> isNews(event, before))) {
                    shown = agents.within(agent).call(GetTask.of(begun.id()), caller);
                    listener.accept(shown(agent, shown, caller));
                }
            }
        } catch (A2AException gone) {
            LOG.log(Level.DEBUG, "a task is followed no more", gone);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
