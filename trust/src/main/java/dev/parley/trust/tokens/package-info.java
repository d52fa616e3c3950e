/** Tokens, their issuers, proofs of possession, and limits on guesses. */
@NullMarked
package dev.parley.trust.tokens;

import org.jspecify.annotations.NullMarked;
