/** Commands of the knowledge graph. */
@NullMarked
package dev.parley.knowledge.command;

import org.jspecify.annotations.NullMarked;
