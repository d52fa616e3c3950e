/** Encryption at rest, and its keys. */
@NullMarked
package dev.parley.store.encryption;

import org.jspecify.annotations.NullMarked;
