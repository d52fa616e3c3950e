@NullMarked
package dev.parley.trust;

import org.jspecify.annotations.NullMarked;
