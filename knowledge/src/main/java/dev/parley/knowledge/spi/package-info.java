/** What a store of statements has to do. Implement it to keep a knowledge graph somewhere else. */
@NullMarked
package dev.parley.knowledge.spi;

import org.jspecify.annotations.NullMarked;
