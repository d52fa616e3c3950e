/** Interfaces of a store of statements, for implementations that keep a knowledge graph elsewhere. */
@NullMarked
package dev.parley.knowledge.spi;

import org.jspecify.annotations.NullMarked;
