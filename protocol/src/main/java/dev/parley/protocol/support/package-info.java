/** Parts that several modules share: fair pools and queues, ids, hashes, small maps. */
@NullMarked
package dev.parley.protocol.support;

import org.jspecify.annotations.NullMarked;
