package dev.parley.protocol;

/**
 * Result of a send: a task, or a message if no task was needed.
 *
 * <p>Source: A2A specification 1.0, section 3.1.1.
 */
public sealed interface SendResult permits Task, Message {}
