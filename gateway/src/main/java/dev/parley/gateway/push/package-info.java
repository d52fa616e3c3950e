/** Relay of webhooks: notifications of remote agents, delivered by the webhooks of the hub. */
@NullMarked
package dev.parley.gateway.push;

import org.jspecify.annotations.NullMarked;
