/** Memories of conversations with agents, in the database. */
@NullMarked
package dev.parley.store.memories;

import org.jspecify.annotations.NullMarked;
