/** The record of a registry: entries, their versions, and the log of their changes. */
@NullMarked
package dev.parley.registry.store;

import org.jspecify.annotations.NullMarked;
