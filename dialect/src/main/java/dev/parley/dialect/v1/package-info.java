/** Data and cards of A2A 1.0 as JSON. */
@NullMarked
package dev.parley.dialect.v1;

import org.jspecify.annotations.NullMarked;
