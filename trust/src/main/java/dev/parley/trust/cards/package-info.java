/** Keys that sign cards, and keys that are trusted to. */
@NullMarked
package dev.parley.trust.cards;

import org.jspecify.annotations.NullMarked;
