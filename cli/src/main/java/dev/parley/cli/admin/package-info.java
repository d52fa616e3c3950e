/** Commands for operators of a hub. */
@NullMarked
package dev.parley.cli.admin;

import org.jspecify.annotations.NullMarked;
