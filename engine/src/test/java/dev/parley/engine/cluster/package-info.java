/** Simulation of several engines that share a database. */
@NullMarked
package dev.parley.engine.cluster;

import org.jspecify.annotations.NullMarked;
