/** Handlers of the operations, in a hub. */
@NullMarked
package dev.parley.activity.hub;

import org.jspecify.annotations.NullMarked;
