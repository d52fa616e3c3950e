/** Statements as readers find them, the patterns and rules that select them, and records of a graph. */
@NullMarked
package dev.parley.knowledge.model;

import org.jspecify.annotations.NullMarked;
