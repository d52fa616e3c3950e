/**
 * Calls agents anywhere, and delivers webhooks.
 *
 * <pre>{@code
 * try (AgentClient agent = AgentClient.connect("http://127.0.0.1:7420/agents/echo")) {
 *     SendResult result = agent.send("Hello");
 *     try (TaskStream events = agent.stream("Count to three")) {
 *         events.forEachRemaining(System.out::println);
 *     }
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.client;

import org.jspecify.annotations.NullMarked;
