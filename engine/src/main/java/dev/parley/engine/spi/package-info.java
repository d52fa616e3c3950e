/** Interfaces that a store implements for the engine. */
@NullMarked
package dev.parley.engine.spi;

import org.jspecify.annotations.NullMarked;
