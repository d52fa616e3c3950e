/** Exception, listener and rules that callers of agents see in every package. */
@NullMarked
package dev.parley.client.spi;

import org.jspecify.annotations.NullMarked;
