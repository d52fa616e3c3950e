/** Traces, metrics and logs of the program, sent by OTLP. */
@NullMarked
package dev.parley.cli.telemetry;

import org.jspecify.annotations.NullMarked;
