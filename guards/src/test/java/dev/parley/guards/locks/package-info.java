/** Search for blocking calls under locks in the class files of the product. */
@NullMarked
package dev.parley.guards.locks;

import org.jspecify.annotations.NullMarked;
