/** Threads, timers, slots that groups share, and claims of queues that engines share. */
@NullMarked
package dev.parley.engine.scheduling;

import org.jspecify.annotations.NullMarked;
