/** Calls agents anywhere, and delivers webhooks. */
@NullMarked
package dev.parley.client;

import org.jspecify.annotations.NullMarked;
