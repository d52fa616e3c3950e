/** Limits of the resources of clients, shared out to their groups. */
@NullMarked
package dev.parley.server.limits;

import org.jspecify.annotations.NullMarked;
