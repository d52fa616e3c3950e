/** Delivery of webhooks, their signatures, and the addresses to which they may go. */
@NullMarked
package dev.parley.client.webhooks;

import org.jspecify.annotations.NullMarked;
