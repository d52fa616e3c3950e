/** The gateway of a hub: its settings, its operations of the administration and its routes. */
@NullMarked
package dev.parley.gateway.hub;

import org.jspecify.annotations.NullMarked;
