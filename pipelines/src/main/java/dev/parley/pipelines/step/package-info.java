/** Input and output of agents of pipelines. */
@NullMarked
package dev.parley.pipelines.step;

import org.jspecify.annotations.NullMarked;
