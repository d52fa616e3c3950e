/** Documents of entries: readers, differences, and searches for addresses and secrets. */
@NullMarked
package dev.parley.registry.document;

import org.jspecify.annotations.NullMarked;
