@NullMarked
package dev.parley.store.spi;

import org.jspecify.annotations.NullMarked;
