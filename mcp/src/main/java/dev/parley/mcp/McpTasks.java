package dev.parley.mcp;

import dev.parley.protocol.CallContext;
import java.util.Map;
import java.util.function.Consumer;

/** Durable tasks of tools. Each method checks that the task is the caller's. Source: SEP-2663. Safe for any thread. */
public interface McpTasks {
    /**
     * The task with its {@code result}, {@code error} or {@code inputRequests}.
     *
     * @throws McpException if the caller has no such task
     */
    McpTask get(String taskId, CallContext caller);

    /** Answers questions of the task; others stay open. */
    void update(String taskId, Map<String, InputResponse> answers, CallContext caller);

    /** Asks the task to end; a task that has ended stays as it is. */
    void cancel(String taskId, CallContext caller);

    /** Follows the changes of a task until the result is closed. */
    AutoCloseable onChange(String taskId, CallContext caller, Consumer<McpTask> listener);
}
