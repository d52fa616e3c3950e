package dev.parley.engine.spi;

/** Events of one task in the log cannot be read. Other tasks are readable. */
public final class DamagedTaskException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public DamagedTaskException(String taskId, String problem) {
        super("task " + taskId + ": " + problem);
    }

    public DamagedTaskException(String taskId, String problem, RuntimeException cause) {
        super("task " + taskId + ": " + problem, cause);
    }
}
