/** What a store implements so that the engine can keep its logs there. */
@NullMarked
package dev.parley.engine.spi;

import org.jspecify.annotations.NullMarked;
