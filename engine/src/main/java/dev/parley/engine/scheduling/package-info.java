/** Threads, timers, and slots that groups share. */
@NullMarked
package dev.parley.engine.scheduling;

import org.jspecify.annotations.NullMarked;
