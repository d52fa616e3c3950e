/** Moves the data of a hub from SQLite to PostgreSQL. */
@NullMarked
package dev.parley.store.move;

import org.jspecify.annotations.NullMarked;
