/** Commands of the program {@code parley}. */
@NullMarked
package dev.parley.activity.command;

import org.jspecify.annotations.NullMarked;
