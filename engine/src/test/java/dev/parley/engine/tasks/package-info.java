@NullMarked
package dev.parley.engine.tasks;

import org.jspecify.annotations.NullMarked;
