/** The commands {@code parley one …}. */
@NullMarked
package dev.parley.mesh.client.command;

import org.jspecify.annotations.NullMarked;
