/**
 * Runs agents and keeps the log of every task.
 *
 * <pre>{@code
 * Agent echo = Agent.named("echo", "Says it again")
 *         .handle((request, reply) -> reply.complete(request.text()));
 * try (Engine engine = Engine.builder(new MemoryTaskLog()).build()) {
 *     AgentEndpoint endpoint = engine.host(echo);
 *     endpoint.call(SendMessage.of(Message.user(Part.text("hello"))), CallContext.anonymous());
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.engine;

import org.jspecify.annotations.NullMarked;
