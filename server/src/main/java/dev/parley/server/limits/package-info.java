/** Limits of what the clients of a server may take, shared out to their groups. */
@NullMarked
package dev.parley.server.limits;

import org.jspecify.annotations.NullMarked;
