/** What {@code a2a_v1.proto} is in Java: the messages of A2A 1.0, made at build time. */
@NullMarked
package dev.parley.dialect.grpc.v1;

import org.jspecify.annotations.NullMarked;
