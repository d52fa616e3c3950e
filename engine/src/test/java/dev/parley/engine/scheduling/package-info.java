@NullMarked
package dev.parley.engine.scheduling;

import org.jspecify.annotations.NullMarked;
