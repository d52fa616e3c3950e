/** Extensions of a hub: their operations, timers, and calls of agents. */
@NullMarked
package dev.parley.hub.extensions;

import org.jspecify.annotations.NullMarked;
