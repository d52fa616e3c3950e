@NullMarked
package dev.parley.server;

import org.jspecify.annotations.NullMarked;
