/** Faults of PostgreSQL servers and networks around a hub that is a process of its own. */
@NullMarked
package dev.parley.cli.postgresql;

import org.jspecify.annotations.NullMarked;
