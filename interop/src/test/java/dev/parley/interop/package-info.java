/** Unchanged foreign clients against a running hub. */
@NullMarked
package dev.parley.interop;

import org.jspecify.annotations.NullMarked;
