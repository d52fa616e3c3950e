/** Parts of HTTP that the other packages share: addresses, headers, events, retries. */
@NullMarked
package dev.parley.outbound.http;

import org.jspecify.annotations.NullMarked;
