package dev.parley.engine.spi;

/**
 * Priority of a task that waits for its agent. While tasks of several priorities of one group wait, each has a share of the slots by its
 * weight, so that no task waits for ever.
 */
public enum Priority {
    LOW(1),
    MEDIUM(2),
    HIGH(4),
    CRITICAL(8);

    private final int weight;

    Priority(int weight) {
        this.weight = weight;
    }

    /** Share of the slots, relative to those of other priorities. */
    public int weight() {
        return weight;
    }
}
