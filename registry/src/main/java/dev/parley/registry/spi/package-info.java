/** Interfaces between a registry and its extensions, which have no other way to its entries. */
@NullMarked
package dev.parley.registry.spi;

import org.jspecify.annotations.NullMarked;
