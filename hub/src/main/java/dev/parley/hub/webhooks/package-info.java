/** Delivery of webhooks, and the secrets in files of the data directory. */
@NullMarked
package dev.parley.hub.webhooks;

import org.jspecify.annotations.NullMarked;
