/** The knowledge graph as an extension of a hub. */
@NullMarked
package dev.parley.knowledge.hub;

import org.jspecify.annotations.NullMarked;
