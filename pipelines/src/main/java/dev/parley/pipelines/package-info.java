/** Pipelines of agents that do useful work without a model. */
@NullMarked
package dev.parley.pipelines;

import org.jspecify.annotations.NullMarked;
