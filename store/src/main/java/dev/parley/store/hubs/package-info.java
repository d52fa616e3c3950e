/** Hubs that have a database open. */
@NullMarked
package dev.parley.store.hubs;

import org.jspecify.annotations.NullMarked;
