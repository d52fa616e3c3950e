/** Connections to agents: cards, credentials, and errors. */
@NullMarked
package dev.parley.cli.connection;

import org.jspecify.annotations.NullMarked;
