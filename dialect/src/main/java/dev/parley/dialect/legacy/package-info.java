/** A2A before 1.0, and the Agentic Kernel: data, cards, operations and behaviour. */
@NullMarked
package dev.parley.dialect.legacy;

import org.jspecify.annotations.NullMarked;
