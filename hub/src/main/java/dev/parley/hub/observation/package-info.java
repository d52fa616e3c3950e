/** Metrics, traces, audit rows and log fields of calls and runs. */
@NullMarked
package dev.parley.hub.observation;

import org.jspecify.annotations.NullMarked;
