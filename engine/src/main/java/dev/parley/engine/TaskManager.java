package dev.parley.engine;

import dev.parley.protocol.Artifact;
import dev.parley.protocol.Feed;
import dev.parley.protocol.LoggedEvent;
import dev.parley.protocol.Message;
import dev.parley.protocol.Task;
import dev.parley.protocol.TaskState;
import org.jspecify.annotations.Nullable;

/**
 * Tasks of one agent, with the six operations of the Agentic Kernel's task manager: to run tasks, and to report work that is
 * done elsewhere.
 *
 * <p>Ids are names chosen by the caller, or by the server if the caller gave none. Returned states are on disk. Safe for
 * any thread.
 *
 * <p>Every method throws {@link dev.parley.protocol.A2AException}: TASK_NOT_FOUND if there is no such task, and
 * UNSUPPORTED_OPERATION or TASK_NOT_CANCELABLE if it has ended.
 */
public interface TaskManager {
    /**
     * Sends a message and waits until the task has ended or waits for more. An unknown {@code id} begins a task of that
     * name, and so does the name of an ended task.
     *
     * @param id null for a task without a name
     * @param sessionId the conversation that a new task belongs to; null for a new one
     */
    Task processTask(@Nullable String id, @Nullable String sessionId, Message message);

    /** Reads a task. {@code historyLength}: at most so many of the newest messages, null for all. */
    Task getTask(String id, @Nullable Integer historyLength);

    /** Ends a task. */
    Task cancelTask(String id);

    /** Watches a task that has not ended. */
    Feed<LoggedEvent> subscribeToTask(String id);

    /** Moves a task; without a message it keeps the one it has. */
    Task updateTaskStatus(String id, TaskState state, @Nullable Message message);

    /** Adds an artifact, or ({@code append}) parts to one that is there. */
    Task addTaskArtifact(String id, Artifact artifact, boolean append);
}
