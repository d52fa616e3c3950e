/** Operations for operators, and their handlers. */
@NullMarked
package dev.parley.hub.admin;

import org.jspecify.annotations.NullMarked;
