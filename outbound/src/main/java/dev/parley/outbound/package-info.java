/** Requests to addresses that callers choose, and forms of OAuth 2.0. */
@NullMarked
package dev.parley.outbound;

import org.jspecify.annotations.NullMarked;
