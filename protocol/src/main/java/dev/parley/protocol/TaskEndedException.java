package dev.parley.protocol;

/** Something was to happen to a task that is already in a terminal state; nothing has changed. */
public final class TaskEndedException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    private final String taskId;
    private final TaskState state;

    public TaskEndedException(String taskId, TaskState state) {
        super("task " + taskId + " has ended (" + state + ")");
        this.taskId = taskId;
        this.state = state;
    }

    public String taskId() {
        return taskId;
    }

    public TaskState state() {
        return state;
    }
}
