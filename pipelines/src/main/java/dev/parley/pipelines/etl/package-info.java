/** Agents that read, check, clean and load tables. */
@NullMarked
package dev.parley.pipelines.etl;

import org.jspecify.annotations.NullMarked;
