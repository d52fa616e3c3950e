@NullMarked
package dev.parley.dialect;

import org.jspecify.annotations.NullMarked;
