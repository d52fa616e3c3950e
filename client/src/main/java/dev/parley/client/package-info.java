@NullMarked
package dev.parley.client;

import org.jspecify.annotations.NullMarked;
