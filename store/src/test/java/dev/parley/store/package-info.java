@NullMarked
package dev.parley.store;

import org.jspecify.annotations.NullMarked;
