/** Keys that sign cards and messages, trusted keys that verify them, and keys for encrypted content. */
@NullMarked
package dev.parley.trust.cards;

import org.jspecify.annotations.NullMarked;
