/** Commands about cards, the keys that sign them, and keys for agents. */
@NullMarked
package dev.parley.cli.cards;

import org.jspecify.annotations.NullMarked;
