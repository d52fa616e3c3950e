/** One attempt of a call: the agent's card and places, credentials, and the exchange by HTTP. */
@NullMarked
package dev.parley.client.wire;

import org.jspecify.annotations.NullMarked;
