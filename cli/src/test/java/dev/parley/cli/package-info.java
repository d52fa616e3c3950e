@NullMarked
package dev.parley.cli;

import org.jspecify.annotations.NullMarked;
