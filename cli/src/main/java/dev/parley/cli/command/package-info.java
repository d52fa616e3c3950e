/** Commands, their parameters, and the settings that they read. */
@NullMarked
package dev.parley.cli.command;

import org.jspecify.annotations.NullMarked;
