/** Calls of an agent over JSON-RPC and REST, and dialects at addresses of their own. */
@NullMarked
package dev.parley.dialect.calls;

import org.jspecify.annotations.NullMarked;
