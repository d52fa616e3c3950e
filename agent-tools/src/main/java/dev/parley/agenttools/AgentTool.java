package dev.parley.agenttools;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.parley.client.AgentClient;
import dev.parley.client.spi.ClientException;
import dev.parley.client.spi.ClientException.Problem;
import dev.parley.dialect.Json;
import dev.parley.protocol.A2AError;
import dev.parley.protocol.A2AException;
import dev.parley.protocol.AgentCard;
import dev.parley.protocol.Message;
import dev.parley.protocol.Part;
import dev.parley.protocol.SendResult;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * Tool that calls one agent. Failures are results too, so that the model can act on them; only an interruption and the end of the task on
 * whose behalf the model works are exceptions.
 */
final class AgentTool implements ModelTool {
    /** Conversation of all calls without an id. Libraries give it to services whose users have no conversations. */
    static final String NO_CONVERSATION = "default";

    private static final String MESSAGE = "message";
    private static final String TASK_ID = "taskId";

    private static final Map<String, @Nullable Object> INPUT_SCHEMA = schema("""
            {
              "type": "object",
              "properties": {
                "message": {"type": "string", "description": "Text for the agent"},
                "taskId": {
                  "type": "string",
                  "description": "Id of a task of the agent that waits for an answer; absent for a new task"
                }
              },
              "required": ["message"]
            }
            """);

    private static final System.Logger LOG = System.getLogger("dev.parley.agenttools");

    /** Longest id of a context that hubs take, and of a task that a model can repeat. */
    private static final int LONGEST_ID = 256;

    private final String name;
    private final String description;
    private final AgentClient agent;
    private final OpenTasks openTasks;
    private final Duration timeout;
    private final @Nullable HostedCall caller;

    /** @param caller call for which the tool is listed; null if there is none */
    AgentTool(String name, AgentClient agent, OpenTasks openTasks, Duration timeout, @Nullable HostedCall caller) {
        this.name = name;
        this.description = description(agent.card());
        this.agent = agent;
        this.openTasks = openTasks;
        this.timeout = timeout;
        this.caller = caller;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Map<String, @Nullable Object> inputSchema() {
        return INPUT_SCHEMA;
    }

    @SuppressWarnings("unchecked") // members of JSON have texts as names
    private static Map<String, @Nullable Object> schema(String json) {
        return Collections.unmodifiableMap(Json.read(json.getBytes(UTF_8), Map.class));
    }

    private static String description(AgentCard card) {
        var text = new StringBuilder(card.description());
        for (AgentCard.Skill skill : card.skills()) {
            text.append("\n- ").append(skill.name()).append(": ").append(skill.description());
        }
        return ToolNames.description(text.toString());
    }

    @Override
    public ToolResult call(String arguments, @Nullable Object conversation) {
        HostedCall hostedCall = caller == null ? ConversationHandler.current().orElse(null) : caller;
        Object id = conversation;
        if (id == null) {
            id = hostedCall == null ? NO_CONVERSATION : hostedCall.conversationId();
        }
        try (AgentCall call = AgentCall.begin(agent, timeout, hostedCall)) {
            return answer(call, arguments, id);
        }
    }

    private ToolResult answer(AgentCall call, String json, Object conversation) {
        try {
            Map<?, ?> arguments = ToolTexts.arguments(json);
            if (!(arguments.get(MESSAGE) instanceof String text) || text.isBlank()) {
                return ToolResult.error("message: missing (expected: a text)");
            }
            Message message = Message.user(Part.text(text));
            return arguments.get(TASK_ID) instanceof String taskId && !taskId.isBlank()
                    ? continued(call, taskId, message, conversation)
                    : result(call.send(message.in(contextId(conversation), null), null), conversation);
        } catch (A2AException refused) {
            return ToolResult.error("The agent refused the call: " + refused.getMessage());
        } catch (ClientException failed) {
            if (call.isOver()) {
                throw (CancellationException)
                        new CancellationException("the task on whose behalf the agent is called has ended")
                                .initCause(failed);
            }
            if (failed.problem() == Problem.INTERRUPTED) {
                throw failed;
            }
            LOG.log(System.Logger.Level.WARNING, "tool \"" + name + "\": no answer", failed);
            return ToolResult.error(
                    failed.problem() == Problem.TIMED_OUT
                            ? String.valueOf(failed.getMessage())
                            : "No answer of the agent: " + failed.problem());
        }
    }

    private ToolResult continued(AgentCall call, String taskId, Message message, Object conversation) {
        if (taskId.length() > LONGEST_ID) {
            return unknown(ToolTexts.cut(taskId, LONGEST_ID) + "…");
        }
        Task task;
        try {
            task = call.task(taskId);
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
            return ToolResult.error(
                    "taskId \"" + taskId + "\": the task has ended (expected: a task that waits for an answer, or"
                            + " no taskId for a new task)");
        }
        return result(call.send(message.in(task.contextId(), taskId), task.status()), conversation);
    }

    private static ToolResult unknown(String taskId) {
        return ToolResult.error("taskId \"" + taskId
                + "\": not a task of this conversation (expected: a taskId of an earlier answer, or none)");
    }

    private ToolResult result(SendResult outcome, Object conversation) {
        return switch (outcome) {
            case Message message -> ToolResult.success(ToolTexts.of(message));
            case Task task -> result(task, conversation);
        };
    }

    private ToolResult result(Task task, Object conversation) {
        String status = ToolTexts.status(task);
        String reason = status.isEmpty() ? "" : ": " + status;
        return switch (task.state()) {
            case COMPLETED -> ToolResult.success(ToolTexts.of(task));
            case INPUT_REQUIRED ->
                question(
                        task,
                        conversation,
                        "The agent asks" + reason,
                        "The task waits for the answer: call this tool again with the answer as message and");
            case AUTH_REQUIRED ->
                question(
                        task,
                        conversation,
                        "The agent needs a credential of the user" + reason,
                        "The user gives it to the agent by another way, never in a message. Then call this tool again with");
            case FAILED, REJECTED, CANCELED ->
                ToolResult.error("The task is " + task.state().word() + reason);
            case SUBMITTED, WORKING, UNSPECIFIED ->
                ToolResult.error("The agent has not ended the task, which is "
                        + task.state().word() + reason);
        };
    }

    private ToolResult question(Task task, Object conversation, String question, String instruction) {
        if (task.id().length() > LONGEST_ID) {
            return ToolResult.error(
                    question,
                    "The task cannot be continued: its id has " + task.id().length() + " characters (expected: at most "
                            + LONGEST_ID + ")");
        }
        openTasks.add(task.id(), conversation);
        return ToolResult.success(question, instruction + " taskId \"" + task.id() + "\".");
    }

    /** The id of a conversation as the id of a context; null if all calls without an id have it, or hubs do not take it. */
    private static @Nullable String contextId(Object conversation) {
        if (!(conversation instanceof CharSequence || conversation instanceof Number || conversation instanceof UUID)) {
            return null;
        }
        String id = conversation.toString();
        return id.equals(NO_CONVERSATION)
                        || id.isBlank()
                        || id.length() > LONGEST_ID
                        || id.chars().anyMatch(Character::isISOControl)
                ? null
                : id;
    }
}
