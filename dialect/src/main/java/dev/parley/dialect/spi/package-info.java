/** Interfaces for dialects and transports of other modules. */
@NullMarked
package dev.parley.dialect.spi;

import org.jspecify.annotations.NullMarked;
