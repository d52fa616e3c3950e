package dev.parley.protocol;

/**
 * What a send is answered with: a task, or a message if no task was needed.
 *
 * <p>Source: A2A specification 1.0, section 3.1.1.
 */
public sealed interface SendResult permits Task, Message {}
