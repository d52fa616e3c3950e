/** Interfaces that a store or a webhook transport implements for the engine, and stores in memory. */
@NullMarked
package dev.parley.engine.spi;

import org.jspecify.annotations.NullMarked;
