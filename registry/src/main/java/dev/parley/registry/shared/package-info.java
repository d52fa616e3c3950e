/** Locks of the hubs that share the database of a registry. */
@NullMarked
package dev.parley.registry.shared;

import org.jspecify.annotations.NullMarked;
