/** Exceptions of a store, and the filter of its lists. */
@NullMarked
package dev.parley.store.spi;

import org.jspecify.annotations.NullMarked;
