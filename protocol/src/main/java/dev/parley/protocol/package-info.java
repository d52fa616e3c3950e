/**
 * The A2A 1.0 model as records: tasks, messages, cards, the eleven operations and their errors.
 *
 * <p>Nothing here knows JSON, HTTP or a clock. Whatever answers operations is an {@link
 * dev.parley.protocol.AgentEndpoint}:
 *
 * <pre>{@code
 * AgentEndpoint agent = ...; // the engine, or a remote agent
 * Message hello = Message.user(Part.text("hello"));
 * switch (agent.call(SendMessage.of(hello), CallContext.anonymous())) {
 *     case Task task -> System.out.println(task.status().state());
 *     case Message answer -> System.out.println(answer.text());
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.protocol;

import org.jspecify.annotations.NullMarked;
