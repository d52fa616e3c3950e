/** The mesh in a hub: envelopes of all agents, their tasks and callbacks. */
@NullMarked
package dev.parley.mesh.hub;

import org.jspecify.annotations.NullMarked;
