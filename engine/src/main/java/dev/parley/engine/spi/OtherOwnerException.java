package dev.parley.engine.spi;

/** Reason for which a log refuses events of a task: another engine runs the task, or has written to it. The task is to be read again. */
public final class OtherOwnerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OtherOwnerException(String taskId) {
        super("task " + taskId + ": another engine runs it, or has written to it");
    }
}
