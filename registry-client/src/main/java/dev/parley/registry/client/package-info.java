/** Client of a registry. */
@NullMarked
package dev.parley.registry.client;

import org.jspecify.annotations.NullMarked;
