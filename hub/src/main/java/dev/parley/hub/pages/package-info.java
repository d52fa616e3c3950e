/** Pages of a hub without agents of their own. */
@NullMarked
package dev.parley.hub.pages;

import org.jspecify.annotations.NullMarked;
