package dev.parley.engine.spi;

/** Point at which a log makes sure that a message leads to one task. */
public enum Once {
    /**
     * The first write of the task. One engine writes to the log and knows which messages it works at, so that an agent works once at a
     * message, too.
     */
    INDEX,
    /** Before the agent starts, by a {@linkplain TaskLog#claim claim}: several engines write to the log. */
    CLAIM
}
