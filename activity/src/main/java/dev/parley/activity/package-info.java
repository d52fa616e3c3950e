/**
 * Operations on what happens at a hub, over all its agents: the tasks that a caller may see, how many there are, the history of one, and
 * a feed of changes.
 *
 * <pre>{@code
 * try (AgentClient hub = AgentClient.connect("http://127.0.0.1:7420/activity")) {
 *     hub.call(FindTasks.of("echo"), CallContext.anonymous()).tasks().forEach(task -> System.out.println(task.title()));
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.activity;

import org.jspecify.annotations.NullMarked;
