/** Inspection of cards that need not be registered. */
@NullMarked
package dev.parley.registry.inspect;

import org.jspecify.annotations.NullMarked;
