/**
 * Benchmarks: JMH benchmarks, and the servers and stores that {@code bench/measure} needs. Not
 * shipped.
 */
@NullMarked
package dev.parley.bench;

import org.jspecify.annotations.NullMarked;
