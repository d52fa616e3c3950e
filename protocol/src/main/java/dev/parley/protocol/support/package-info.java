/** Parts that several modules share: fair pools and queues, ids, hashes, encryption, files of their owner, page tokens. */
@NullMarked
package dev.parley.protocol.support;

import org.jspecify.annotations.NullMarked;
