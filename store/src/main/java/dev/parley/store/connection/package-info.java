/** Connections to databases: their addresses, the servers that they lead to, and what their failures mean. */
@NullMarked
package dev.parley.store.connection;

import org.jspecify.annotations.NullMarked;
