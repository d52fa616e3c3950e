/** What {@code a2a_v03.proto} is in Java: the messages of A2A 0.3, made at build time. */
@NullMarked
package dev.parley.dialect.grpc.v03;

import org.jspecify.annotations.NullMarked;
