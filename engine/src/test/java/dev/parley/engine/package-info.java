@NullMarked
package dev.parley.engine;

import org.jspecify.annotations.NullMarked;
