/** Commands that run agents here, and create projects with agents. */
@NullMarked
package dev.parley.cli.host;

import org.jspecify.annotations.NullMarked;
