/** Answers of a server: framing, errors, and what dialects do differently. */
@NullMarked
package dev.parley.dialect.answers;

import org.jspecify.annotations.NullMarked;
