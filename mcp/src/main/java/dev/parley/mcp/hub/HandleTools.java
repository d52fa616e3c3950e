package dev.parley.mcp.hub;

import dev.parley.mcp.CallResult;
import dev.parley.mcp.McpException;
import dev.parley.mcp.McpProvider.Exchange;
import dev.parley.mcp.McpProvider.Outcome;
import dev.parley.mcp.Tool;
import dev.parley.mcp.wire.Trees;
import dev.parley.protocol.CallContext;
import dev.parley.protocol.Message;
import dev.parley.protocol.Operation.CancelTask;
import dev.parley.protocol.Part;
import dev.parley.protocol.Task;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Tools for tasks that go on after their call, for clients without the extension of tasks. */
final class HandleTools {
    static final String STATUS = "task_status";
    static final String RESULT = "task_result";
    static final String REPLY = "task_reply";
    static final String CANCEL = "task_cancel";

    private static final String ANSWER = """
            , "message": {"type": "string", "description": "The answer."},
              "data": {"type": "object", "description": "Structured answer, instead of a text."},
              "action": {"type": "string", "enum": ["decline", "cancel"],
                "description": "Instead of an answer, if the user declines the question or dismisses it."}""";

    static final List<Tool> ALL = List.of(
            tool(STATUS, "Shows the state of a task, and what its agent says about it.", true, false),
            tool(RESULT, "Waits for the result of a task. Call it again if the task is not finished.", true, false),
            tool(REPLY, "Answers the question of a task that waits for input.", false, false),
            tool(CANCEL, "Cancels a task.", false, true));

    private final OfferedAgents agents;
    private final AgentTasks tasks;
    private final Duration budget;

    HandleTools(OfferedAgents agents, AgentTasks tasks, Duration budget) {
        this.agents = agents;
        this.tasks = tasks;
        this.budget = budget;
    }

    static @Nullable Tool named(String name) {
        return ALL.stream().filter(tool -> tool.name().equals(name)).findFirst().orElse(null);
    }

    private static Tool tool(String name, String description, boolean reads, boolean destroys) {
        return new Tool(
                name,
                null,
                description,
                Trees.json("""
                        {"type": "object", "properties": {
                          "taskId": {"type": "string", "description": "Id of the task, from an earlier result."}%s},
                         "required": ["taskId"]}""".formatted(name.equals(REPLY) ? ANSWER : "")),
                null,
                Trees.json("""
                        {"readOnlyHint": %s, "destructiveHint": %s, "idempotentHint": %s, "openWorldHint": true}\
                        """.formatted(reads, destroys, !name.equals(REPLY))));
    }

    Outcome<CallResult> call(String name, Map<String, @Nullable Object> arguments, Exchange exchange)
            throws InterruptedException {
        String taskId = Trees.filled(arguments, "taskId");
        if (taskId == null) {
            return new Outcome.Complete<>(CallResult.error("taskId: missing (expected: an id of an earlier result)"));
        }
        CallContext caller = exchange.caller();
        String agent = tasks.agent(taskId, caller);
        return switch (name) {
            case STATUS ->
                new Outcome.Complete<>(ToolResults.pending(
                        tasks.task(agent, taskId, caller),
                        "Call task_result for the result of a task that has ended."));
            case RESULT -> result(agent, tasks.task(agent, taskId, caller), exchange);
            case REPLY -> reply(agent, taskId, arguments, exchange);
            case CANCEL ->
                new Outcome.Complete<>(ToolResults.pending(
                        agents.endpoint(agent).call(CancelTask.of(taskId), caller), "The task is canceled."));
            default -> throw McpException.notFound("tool", name);
        };
    }

    private Outcome<CallResult> result(String agent, Task task, Exchange exchange) throws InterruptedException {
        return conversation(agent, task, exchange).await(task, "");
    }

    private Outcome<CallResult> reply(
            String agent, String taskId, Map<String, @Nullable Object> arguments, Exchange exchange)
            throws InterruptedException {
        Object data = arguments.get("data");
        String text = Trees.filled(arguments, "message");
        String action = Trees.filled(arguments, "action");
        Task task = tasks.task(agent, taskId, exchange.caller());
        if (action != null) {
            Optional<PendingQuestion> question = PendingQuestion.of(agent, task, agents);
            return question.isEmpty()
                    ? new Outcome.Complete<>(CallResult.error("action: the task does not wait for an answer"))
                    : conversation(agent, task, exchange)
                            .answer(task, question.get(), question.get().all(action));
        }
        if (data == null && text == null) {
            return new Outcome.Complete<>(
                    CallResult.error("message: missing (expected: the answer, as message, data or action)"));
        }
        Message answer =
                Message.user(text == null ? Part.data(data) : Part.text(text)).in(null, taskId);
        return conversation(agent, task, exchange).send(answer, PendingQuestion.key(task.status()));
    }

    private Conversation conversation(String agent, Task task, Exchange exchange) {
        return new Conversation(agents, agent, tasks.hasSchema(agent, task, exchange.caller()), exchange, budget)
                .handed();
    }
}
