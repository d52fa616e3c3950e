/** Rows as they are read again. */
@NullMarked
package dev.parley.store.rows;

import org.jspecify.annotations.NullMarked;
