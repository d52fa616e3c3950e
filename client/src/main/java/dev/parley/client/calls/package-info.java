/** Calls and streams of one agent over the places of its card, with attempts and resumption. */
@NullMarked
package dev.parley.client.calls;

import org.jspecify.annotations.NullMarked;
