/** Requests and answers of a server, as they are received and sent. */
@NullMarked
package dev.parley.dialect.wire;

import org.jspecify.annotations.NullMarked;
