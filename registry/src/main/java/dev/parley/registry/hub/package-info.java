/** The registry of a hub: its agent {@code registry}, composed of the record of entries and of what reads and writes it. */
@NullMarked
package dev.parley.registry.hub;

import org.jspecify.annotations.NullMarked;
