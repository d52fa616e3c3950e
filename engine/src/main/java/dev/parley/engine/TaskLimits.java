package dev.parley.engine;

/**
 * Limits of the length of conversations and tasks.
 *
 * @param turns messages of a caller to one agent within one context; one more is refused
 * @param events of one task: pieces of artifacts, changes of state, messages
 * @param bytes of one task, about: what was said and produced, and what it takes to keep that in memory. A message that goes
 *     over it is refused, and an agent that goes over it, or over {@code events}, fails its task
 */
public record TaskLimits(int turns, int events, long bytes) {
    /** 1,000 turns, 100,000 events, 64 MiB. */
    public static final TaskLimits DEFAULTS = new TaskLimits(1_000, 100_000, 64L << 20);

    private static final long MOST_BYTES = 1L << 30;

    public TaskLimits {
        if (turns < 1) {
            throw new IllegalArgumentException("turns: " + turns + " (expected: at least 1)");
        }
        if (events < 1) {
            throw new IllegalArgumentException("events: " + events + " (expected: at least 1)");
        }
        if (bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: 1 to " + MOST_BYTES + ")");
        }
    }
}
