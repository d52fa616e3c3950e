/** Interfaces that a store or a webhook transport implements for the engine, stores in memory, and the comparison of names of agents. */
@NullMarked
package dev.parley.engine.spi;

import org.jspecify.annotations.NullMarked;
