/** Pauses between the attempts of a recovery. */
@NullMarked
package dev.parley.protocol.retry;

import org.jspecify.annotations.NullMarked;
