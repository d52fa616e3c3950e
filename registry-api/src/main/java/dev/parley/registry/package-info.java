/** Entries of a registry, and its operations, for hubs and clients. */
@NullMarked
package dev.parley.registry;

import org.jspecify.annotations.NullMarked;
