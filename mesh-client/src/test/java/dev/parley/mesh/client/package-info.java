@NullMarked
package dev.parley.mesh.client;

import org.jspecify.annotations.NullMarked;
