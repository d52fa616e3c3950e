/** Model of meanings for the search of a registry, which runs in the process. */
@NullMarked
package dev.parley.registry.embeddings;

import org.jspecify.annotations.NullMarked;
