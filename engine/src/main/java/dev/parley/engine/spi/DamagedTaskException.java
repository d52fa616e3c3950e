package dev.parley.engine.spi;

/** The log holds a task whose events cannot be read. Other tasks can. */
public final class DamagedTaskException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public DamagedTaskException(String taskId, String problem) {
        super("task " + taskId + ": " + problem);
    }

    public DamagedTaskException(String taskId, String problem, RuntimeException cause) {
        super("task " + taskId + ": " + problem, cause);
    }
}
