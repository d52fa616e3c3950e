/** Output of the program: results, errors, logs, and everything else outside the process. */
@NullMarked
package dev.parley.cli.output;

import org.jspecify.annotations.NullMarked;
