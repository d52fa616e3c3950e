/** Database of all tables, SQLite or PostgreSQL: one writer with group commit, readers, migrations. */
@NullMarked
package dev.parley.store.database;

import org.jspecify.annotations.NullMarked;
