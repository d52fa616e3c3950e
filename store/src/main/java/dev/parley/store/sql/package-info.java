/** Statements and texts in the form that a database needs. */
@NullMarked
package dev.parley.store.sql;

import org.jspecify.annotations.NullMarked;
