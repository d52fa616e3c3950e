/** The mesh in a hub: messages, their tasks and callbacks. */
@NullMarked
package dev.parley.mesh.hub;

import org.jspecify.annotations.NullMarked;
