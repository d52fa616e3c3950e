/**
 * Tools for tests of A2A software: contract tests for stores, a settable clock, scripted agents, and callers and receivers around a hub.
 *
 * <pre>{@code
 * final class MyTaskLogTest extends TaskLogContract {
 *     protected TaskLog open(InstantSource clock) {
 *         return new MyTaskLog(clock);
 *     }
 * }
 * }</pre>
 */
@NullMarked
package dev.parley.testkit;

import org.jspecify.annotations.NullMarked;
