@NullMarked
package dev.parley.hub;

import org.jspecify.annotations.NullMarked;
