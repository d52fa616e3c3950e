/** Commands about messages and tasks. */
@NullMarked
package dev.parley.cli.task;

import org.jspecify.annotations.NullMarked;
