/** The store of statements, and its implementation in tables of SQLite and PostgreSQL. */
@NullMarked
package dev.parley.knowledge.store;

import org.jspecify.annotations.NullMarked;
