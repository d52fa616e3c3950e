/** Unchanged foreign clients against a running hub, and our client against unchanged foreign servers. */
@NullMarked
package dev.parley.interop;

import org.jspecify.annotations.NullMarked;
