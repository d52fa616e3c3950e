/** Load generator: {@code parley bench}. */
@NullMarked
package dev.parley.load;

import org.jspecify.annotations.NullMarked;
