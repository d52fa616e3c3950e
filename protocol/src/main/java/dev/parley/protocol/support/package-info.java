/** Parts that several modules share: fair pools and queues, ids, hashes, encryption, files of their owner, back-off. */
@NullMarked
package dev.parley.protocol.support;

import org.jspecify.annotations.NullMarked;
