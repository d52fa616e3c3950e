/** Records beside the statements: changes, reviews, answers and calls. */
@NullMarked
package dev.parley.knowledge.journal;

import org.jspecify.annotations.NullMarked;
