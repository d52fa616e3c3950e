/** Tasks in memory: their events on the way to the log, their readers, and the messages that lead to them. */
@NullMarked
package dev.parley.engine.tasks;

import org.jspecify.annotations.NullMarked;
