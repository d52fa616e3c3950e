/** Requests and answers of OAuth: parameters, refusals, and the page of consent. */
@NullMarked
package dev.parley.trust.oauth;

import org.jspecify.annotations.NullMarked;
