/** Search for blocking calls under locks in the class files of the product. */
@NullMarked
package dev.parley.cli.locks;

import org.jspecify.annotations.NullMarked;
