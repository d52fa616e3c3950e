/** Copies in memory of rows that several hubs of one database change. */
@NullMarked
package dev.parley.store.shared;

import org.jspecify.annotations.NullMarked;
