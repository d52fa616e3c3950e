/** Agents as a server serves them: cards, signatures, operations of extensions. */
@NullMarked
package dev.parley.dialect.served;

import org.jspecify.annotations.NullMarked;
