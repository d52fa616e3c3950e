package dev.parley.langchain4j;

import dev.langchain4j.agent.tool.ToolExecutionRequest;
import dev.langchain4j.invocation.InvocationContext;
import dev.langchain4j.service.memory.ChatMemoryService;
import dev.langchain4j.service.tool.ToolExecutionResult;
import dev.langchain4j.service.tool.ToolExecutor;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Tool that calls one agent. Failures are results too, so that the model can act on them; only an interruption and the end of the task on
 * whose behalf the model works are exceptions.
 */
final class AgentTool implements ToolExecutor {
    static final String MESSAGE = "message";
    static final String TASK_ID = "taskId";

    private static final System.Logger LOG = System.getLogger("dev.parley.langchain4j");

    /** Longest id of a context that hubs take. */
    private static final int LONGEST_ID = 256;

    private final AgentCall agent;
    private final OpenTasks openTasks;

    AgentTool(AgentCall agent, OpenTasks openTasks) {
        this.agent = agent;
        this.openTasks = openTasks;
    }

    @Override
    public String execute(ToolExecutionRequest request, Object memoryId) {
        return result(request, memoryId).resultText();
    }

    @Override
    public ToolExecutionResult executeWithContext(ToolExecutionRequest request, InvocationContext context) {
        return result(request, context.chatMemoryId());
    }

    private ToolExecutionResult result(ToolExecutionRequest request, @Nullable Object memoryId) {
        Object conversation = memoryId == null ? ChatMemoryService.DEFAULT : memoryId;
        try {
            Map<?, ?> arguments = ToolTexts.arguments(request);
            if (!(arguments.get(MESSAGE) instanceof String text) || text.isBlank()) {
                return ToolTexts.error("message: missing (expected: a text)");
            }
            Message message = Message.user(Part.text(text));
            return arguments.get(TASK_ID) instanceof String taskId && !taskId.isBlank()
                    ? continued(taskId, message, conversation)
                    : told(agent.send(message.in(contextId(conversation), null), null), conversation);
        } catch (A2AException refused) {
            return ToolTexts.error("The agent refused the call: " + refused.getMessage());
        } catch (ClientException failed) {
            if (failed.problem() == Problem.INTERRUPTED) {
                throw failed;
            }
            LOG.log(System.Logger.Level.WARNING, "tool \"" + request.name() + "\": no answer", failed);
            return ToolTexts.error(
                    failed.problem() == Problem.TIMED_OUT
                            ? String.valueOf(failed.getMessage())
                            : "No answer of the agent: " + failed.problem());
        }
    }

    private ToolExecutionResult continued(String taskId, Message message, Object conversation) {
        Task task;
        try {
            task = agent.task(taskId);
        } catch (A2AException refused) {
            if (refused.error() != A2AError.TASK_NOT_FOUND) {
                throw refused;
            }
            return unknown(taskId);
        }
        if (!openTasks.contains(taskId, conversation) && !task.contextId().equals(contextId(conversation))) {
            return unknown(taskId);
        }
        if (task.state().isTerminal()) {
            return ToolTexts.error(
                    "taskId \"" + taskId + "\": the task has ended (expected: a task that waits for an answer, or"
                            + " no taskId for a new task)");
        }
        return told(agent.send(message.in(task.contextId(), taskId), task.status()), conversation);
    }

    private static ToolExecutionResult unknown(String taskId) {
        return ToolTexts.error("taskId \"" + taskId
                + "\": not a task of this conversation (expected: a taskId of an earlier answer, or none)");
    }

    private ToolExecutionResult told(SendResult result, Object conversation) {
        if (!(result instanceof Task task)) {
            return ToolTexts.success(ToolTexts.of((Message) result));
        }
        String said = ToolTexts.status(task);
        String reason = said.isEmpty() ? "" : ": " + said;
        return switch (task.state()) {
            case COMPLETED -> ToolTexts.success(ToolTexts.of(task));
            case INPUT_REQUIRED -> {
                openTasks.add(task.id(), conversation);
                yield ToolTexts.success(
                        "The agent asks" + reason + "\nThe task waits for the answer: call this tool again with"
                                + " the answer as message and taskId \"" + task.id() + "\".");
            }
            case AUTH_REQUIRED -> {
                openTasks.add(task.id(), conversation);
                yield ToolTexts.success("The agent needs a credential of the user" + reason
                        + "\nThe user gives it to the agent by another way, never in a message. Then call this tool"
                        + " again with taskId \"" + task.id() + "\".");
            }
            case FAILED, REJECTED, CANCELED ->
                ToolTexts.error("The task is " + task.state().word() + reason);
            case SUBMITTED, WORKING, UNSPECIFIED ->
                ToolTexts.error("The agent has not ended the task, which is "
                        + task.state().word() + reason);
        };
    }

    /** The memory id as the id of a context; null if it is the same for all conversations of a service, or not an id. */
    private static @Nullable String contextId(Object memoryId) {
        if (!(memoryId instanceof CharSequence || memoryId instanceof Number || memoryId instanceof UUID)) {
            return null;
        }
        String id = memoryId.toString();
        return id.equals(ChatMemoryService.DEFAULT)
                        || id.isBlank()
                        || id.length() > LONGEST_ID
                        || id.chars().anyMatch(Character::isISOControl)
                ? null
                : id;
    }
}
