/** Messages of the ONE mesh, and an agent's part in it. */
@NullMarked
package dev.parley.mesh;

import org.jspecify.annotations.NullMarked;
