/** Cards of remote agents: fetched, verified, compared and rewritten to the addresses of the hub. */
@NullMarked
package dev.parley.gateway.card;

import org.jspecify.annotations.NullMarked;
