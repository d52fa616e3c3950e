/** Request targets, gRPC messages, server-sent events and CORS fields as bytes. */
@NullMarked
package dev.parley.server.wire;

import org.jspecify.annotations.NullMarked;
