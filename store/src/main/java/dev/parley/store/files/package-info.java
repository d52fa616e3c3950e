/** Files of a data directory: the lock of their hub, and a watch for files that others remove, replace or overwrite. */
@NullMarked
package dev.parley.store.files;

import org.jspecify.annotations.NullMarked;
