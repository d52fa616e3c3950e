/** The commands {@code parley gateway}. */
@NullMarked
package dev.parley.gateway.command;

import org.jspecify.annotations.NullMarked;
