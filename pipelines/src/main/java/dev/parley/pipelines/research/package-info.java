/** Agents that fetch, read and compare sources. */
@NullMarked
package dev.parley.pipelines.research;

import org.jspecify.annotations.NullMarked;
