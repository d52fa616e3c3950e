/** Rules for the classes, sources and modules of the whole product. */
@NullMarked
package dev.parley.guards;

import org.jspecify.annotations.NullMarked;
