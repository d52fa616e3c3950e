/** Changes of a graph in memory, and the reads and writes that may collide. */
@NullMarked
package dev.parley.knowledge.changes;

import org.jspecify.annotations.NullMarked;
